package jsonrpc

import (
	"bytes"
	stdjson "encoding/json"
	"net/http"

	"github.com/ava-labs/avalanchego/utils/json"
	"github.com/gorilla/rpc/v2"
)

// Encoded is an answer of a method that may be encoded already, as JSON on one line; nil when it is not.
type Encoded interface{ EncodedJSON() []byte }

// Encode writes an answer as the codec does, for [Encoded].
func Encode(answer any) ([]byte, error) { return stdjson.Marshal(answer) }

// codec is avalanchego's, for answers that may be encoded already: encoding/json would read through them once more.
type codec struct{ rpc.Codec }

func newCodec() rpc.Codec { return codec{json.NewCodec()} }

// NewRequest reads a request.
func (c codec) NewRequest(r *http.Request) rpc.CodecRequest { return call{c.Codec.NewRequest(r)} }

type call struct{ rpc.CodecRequest }

// WriteResponse answers with what is encoded already, within what the codec writes around a short answer: the id is known to the codec alone.
func (c call) WriteResponse(w http.ResponseWriter, reply any) {
	var result []byte
	if e, ok := reply.(Encoded); ok {
		result = e.EncodedJSON()
	}
	if result == nil {
		c.CodecRequest.WriteResponse(w, reply)
		return
	}
	around := envelope{ResponseWriter: w}
	c.CodecRequest.WriteResponse(&around, 0)
	if before, after, answered := bytes.Cut(around.body, []byte(`"result":0`)); answered {
		for _, part := range [][]byte{before, []byte(`"result":`), result, after} {
			_, _ = w.Write(part) // a client that has left needs no answer
		}
	}
}

// envelope takes an answer down instead of sending it.
type envelope struct {
	http.ResponseWriter
	body []byte
}

func (e *envelope) Write(b []byte) (int, error) {
	e.body = append(e.body, b...)
	return len(b), nil
}
