package node

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"github.com/ava-labs/avalanchego/utils/json"
	"github.com/gorilla/rpc/v2"
)

// Service is a set of methods under a name, such as info. A method takes the request, a pointer to its arguments and a
// pointer to its answer, and is called by its name with a lower-case first letter.
type Service struct {
	Name    string
	Methods any
}

// contentTypes are what requests may come as. There must be two: with one, gorilla's server would take it for whatever
// comes without a type.
var contentTypes = []string{"application/json", "application/json;charset=UTF-8"}

// newServices makes the handler of services that share a path, which speak as the node's own do: errors are JSON-RPC
// errors with status 200, and a null id asks for no answer.
func newServices(maxBody int64, all ...Service) (*serviceHandler, error) {
	server := rpc.NewServer()
	h := &serviceHandler{server: server, maxBody: maxBody, offer: &offer{verbs: []string{http.MethodPost}}}
	for _, contentType := range contentTypes {
		server.RegisterCodec(json.NewCodec(), contentType)
	}
	server.RegisterBeforeFunc(nameService)
	for _, s := range all {
		if err := server.RegisterService(s.Methods, s.Name); err != nil {
			return nil, fmt.Errorf("service %s: %w", s.Name, err)
		}
		h.offer.operations = append(h.offer.operations, h.operations(s)...)
	}
	return h, nil
}

// serviceHandler is the handler of services that share a path.
type serviceHandler struct {
	server  *rpc.Server
	maxBody int64
	offer   *offer
}

func (s *serviceHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := readBody(w, r, s.maxBody)
	if !ok {
		return
	}
	if longText(body) {
		http.Error(w, fmt.Sprintf("a text in the request is longer than %d bytes and not hexadecimal", longestText), http.StatusRequestEntityTooLarge)
		return
	}
	request := *r
	request.Body = io.NopCloser(bytes.NewReader(body))
	s.server.ServeHTTP(w, &request)
}

// longestText bounds what may be read as an id or an address: cb58 costs the square of the length.
const longestText = 4096

// longText reports whether a JSON document holds a text that is too long for anything but bytes in hexadecimal.
func longText(body []byte) bool {
	for {
		begin := bytes.IndexByte(body, '"')
		if begin < 0 {
			return false
		}
		body = body[begin+1:]
		end := bytes.IndexByte(body, '"')
		if end < 0 {
			end = len(body)
		}
		if end > longestText && !bytes.HasPrefix(body, []byte("0x")) {
			return true
		}
		body = body[min(end+1, len(body)):]
	}
}
