package jsonrpc

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/gorilla/rpc/v2"

	"snowglobe/handlers/fault"
	"snowglobe/handlers/openrpc"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
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

// NoArgs is for methods that take nothing.
type NoArgs struct{}

// NewServices makes the handler of services that share a path, by the codec of avalanchego (utils/json.NewCodec): errors
// are JSON-RPC errors with status 200, and a null id asks for no answer. A method that the client may not call by the rule is
// refused in the same way.
func NewServices(maxBody int64, rule *permit.Rule, all ...Service) (*Services, error) {
	server := rpc.NewServer()
	h := &Services{server: server, maxBody: maxBody, capabilities: &Capabilities{HTTP: []string{http.MethodPost}}}
	for _, contentType := range contentTypes {
		server.RegisterCodec(newCodec(), contentType)
	}
	server.RegisterBeforeFunc(nameService)
	server.RegisterValidateRequestFunc(func(i *rpc.RequestInfo, _ any) error {
		return rule.Check(i.Request, permit.Of(methodName(i)))
	})
	for _, s := range all {
		if err := server.RegisterService(s.Methods, s.Name); err != nil {
			return nil, fmt.Errorf("service %s: %w", s.Name, err)
		}
		h.capabilities.RPC = append(h.capabilities.RPC, h.methods(s)...)
	}
	h.capabilities.Methods = func() (described []openrpc.Method) {
		for _, s := range all {
			described = append(described, openrpc.Named(s.Name, s.Methods)...)
		}
		return described
	}
	return h, nil
}

// Services is the handler of services that share a path.
type Services struct {
	server       *rpc.Server
	maxBody      int64
	capabilities *Capabilities
}

// Capabilities are those of all the services.
func (s *Services) Capabilities() *Capabilities { return s.capabilities }

// methods are those of a service that the server took: with a request, arguments and an answer.
func (s *Services) methods(service Service) []string {
	var names []string
	methods := reflect.TypeOf(service.Methods)
	for i := range methods.NumMethod() {
		name := service.Name + "." + methods.Method(i).Name
		if s.server.HasMethod(name) {
			names = append(names, service.Name+"."+LowerFirst(strings.TrimPrefix(name, service.Name+".")))
		}
	}
	return names
}

func (s *Services) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := ReadBody(w, r, s.maxBody)
	if !ok {
		return
	}
	if failed := rest.FailingCalls(r.Context())[0]; failed != nil && failed.Mining == "" {
		fail(w, body, failed)
		return
	}
	if problem := checkTexts(body); problem != "" {
		http.Error(w, problem, http.StatusRequestEntityTooLarge)
		return
	}
	request := *r
	request.Body = io.NopCloser(bytes.NewReader(body))
	s.server.ServeHTTP(w, &request)
}

// fail answers a call with the error, or the result, of a fault.
func fail(w http.ResponseWriter, body []byte, a *fault.Action) {
	var call struct{ ID any }
	_ = stdjson.Unmarshal(body, &call) // what cannot be read has no id
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	answer, err := stdjson.Marshal(answerOf(a, call.ID))
	if err == nil {
		_, _ = w.Write(append(answer, '\n')) // a client that has left needs no answer
	}
}

func answerOf(a *fault.Action, id any) map[string]any {
	if a.RPCError != nil {
		return map[string]any{"jsonrpc": "2.0", "error": a.RPCError, "id": id}
	}
	return map[string]any{"jsonrpc": "2.0", "result": a.RPCResult, "id": id}
}

// ReadBody reads a request whole. When it is too large, or cannot be read, it has answered that.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		http.Error(w, fmt.Sprintf("request body too large: the limit is %d bytes", limit), http.StatusRequestEntityTooLarge)
		return nil, false
	}
	if err != nil {
		http.Error(w, "the request body could not be read", http.StatusBadRequest)
		return nil, false
	}
	rest.KeepRequest(r.Context(), body)
	if problem := CheckValues(body); problem != "" {
		http.Error(w, problem, http.StatusRequestEntityTooLarge)
		return nil, false
	}
	return body, true
}
