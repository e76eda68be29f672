package eth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/handlers/fault"
	"snowglobe/handlers/permit"
)

// A call that its client may not make is put to this method, which refuses it: so the refusal has the shape and the place
// among the answers that go-ethereum's server gives to any call, in a batch and over WebSocket too. Its namespace is one that
// every server of go-ethereum's has.
const (
	refusalService = "rpc"
	refusalMethod  = refusalService + "_refuse"
	failureMethod  = refusalService + "_fail"
	answerMethod   = refusalService + "_answer"
	sendMethod     = refusalService + "_sendLate"
)

type refusals struct {
	api  *api
	open context.Context // ends with the endpoint
}

// Refuse answers with the refusal that it is given.
func (refusals) Refuse(text string) error { return refusal(text) }

// Fail answers with the error that it is given: that of a fault.
func (refusals) Fail(code int, text string, data *json.RawMessage) error {
	return &failure{code, text, data}
}

// Answer answers with the result that it is given: that of a fault.
func (refusals) Answer(result *json.RawMessage) json.RawMessage {
	if result == nil {
		return json.RawMessage("null")
	}
	return *result
}

// SendLate takes a signed transaction that has to wait in the pool, in milliseconds; for ever when that is less than 0.
func (r refusals) SendLate(ctx context.Context, raw hexutil.Bytes, wait int64) (common.Hash, error) {
	tx := new(types.Transaction)
	if err := tx.UnmarshalBinary(raw); err != nil {
		return common.Hash{}, err
	}
	var until time.Time
	if wait >= 0 {
		until = time.Now().Add(time.Duration(wait) * time.Millisecond)
	}
	held := r.api.miner.Pool.Hold(tx.Hash(), until)
	hash, err := r.api.submit(ctx, tx)
	if err != nil {
		return hash, errors.Join(err, r.api.miner.Release(ctx, tx.Hash(), held))
	}
	if wait >= 0 {
		go func() {
			select {
			case <-time.After(time.Duration(wait) * time.Millisecond):
				_ = r.api.miner.Release(r.open, tx.Hash(), held) // one that cannot be mined stays in the pool, where clients find it
			case <-r.open.Done():
			}
		}()
	}
	return hash, nil
}

// failure is the error that a fault is.
type failure struct {
	code int
	text string
	data *json.RawMessage
}

func (e *failure) Error() string { return e.text }

// ErrorCode is the rule's.
func (e *failure) ErrorCode() int { return e.code }

// ErrorData is the rule's, nil for none.
func (e *failure) ErrorData() any {
	if e.data == nil {
		return nil
	}
	return e.data
}

type refusal string

func (e refusal) Error() string { return string(e) }

// ErrorCode is that of every refusal.
func (e refusal) ErrorCode() int { return (*permit.Refusal)(nil).ErrorCode() }

// message is a call of JSON-RPC, with what decides how go-ethereum's server takes it.
type message struct {
	Version json.RawMessage `json:"jsonrpc,omitempty"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
}

// admit puts a refusal in the place of each call in a request that its client may not make. The client is judged by the HTTP
// request, over WebSocket the one that opened the connection.
func (e *Endpoint) admit(r *http.Request, body []byte) []byte {
	refused := e.permit.Check(r, permit.Control)
	if refused == nil { // the most that a method can ask for
		return body
	}
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	if len(trimmed) == 0 || trimmed[0] != '[' {
		return admitted(body, refused)
	}
	var batch []json.RawMessage
	if json.Unmarshal(body, &batch) != nil {
		return body // go-ethereum's server cannot read it either
	}
	for i, call := range batch {
		batch[i] = admitted(call, refused)
	}
	return encode(batch)
}

// failing puts a call that fails in the place of each that must, by their places in a request.
func failing(body []byte, errors map[int]*fault.Action) []byte {
	if len(errors) == 0 {
		return body
	}
	if !isBatch(body) {
		return failed(body, errors[0])
	}
	var batch []json.RawMessage
	if json.Unmarshal(body, &batch) != nil {
		return body
	}
	for i, e := range errors {
		if i < len(batch) {
			batch[i] = failed(batch[i], e)
		}
	}
	return encode(batch)
}

func failed(call json.RawMessage, a *fault.Action) json.RawMessage {
	var m message
	if a == nil || json.Unmarshal(call, &m) != nil {
		return call
	}
	switch {
	case a.RPCError != nil:
		m.Method, m.Params = failureMethod, encode([]any{a.RPCError.Code, a.RPCError.Message, a.RPCError.Data})
	case !a.RPCResult.IsZero():
		m.Method, m.Params = answerMethod, encode([]any{a.RPCResult})
	case m.Method == "eth_sendRawTransaction":
		var params []json.RawMessage
		if json.Unmarshal(m.Params, &params) != nil || len(params) == 0 {
			return call
		}
		m.Method, m.Params = sendMethod, encode([]any{params[0], a.Wait()})
	}
	return encode(m)
}

// admitted is a call as it was understood here, so that go-ethereum's server cannot take it for another: it reads names in other
// letters, and names that come twice, in its own way. What is no object calls nothing.
func admitted(call json.RawMessage, refused error) json.RawMessage {
	var m message
	var wrongType *json.UnmarshalTypeError
	if err := json.Unmarshal(call, &m); err != nil && !errors.As(err, &wrongType) {
		return call
	}
	if trimmed := bytes.TrimLeft(call, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return call
	}
	if permit.Of(m.Method) == permit.Control {
		m.Method, m.Params = refusalMethod, encode([]string{refused.Error()})
	}
	return encode(m)
}

// encode writes what was read from JSON, with the client's own texts as they came.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // a buffer takes everything
	return b.Bytes()
}
