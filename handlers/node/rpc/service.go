package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	gorilla "github.com/gorilla/rpc/v2"
	"github.com/gorilla/rpc/v2/json2"

	"snowglobe/handlers/openrpc"
)

// Service is a set of methods under a name, such as info. A method takes the request, a pointer to its arguments and a pointer to its
// reply; clients call it by its name with a lower-case first letter.
type Service struct {
	Name    string
	Methods any
}

// Encoded is a reply that may already be encoded as JSON on one line; nil if it is not.
type Encoded interface{ EncodedJSON() []byte }

// NewServices makes a server of services that share a path. gorilla's server finds and calls their methods: errors are JSON-RPC errors with
// status 200, and a null id asks for no answer.
func NewServices(o Options, all ...Service) (*Server, error) {
	registered, methods := gorilla.NewServer(), map[string]*method{}
	registered.RegisterCodec(codec{}, contentType)
	for _, s := range all {
		if err := registered.RegisterService(s.Methods, s.Name); err != nil {
			return nil, fmt.Errorf("service %s: %w", s.Name, err)
		}
		t := reflect.TypeOf(s.Methods)
		for i := range t.NumMethod() {
			if name := t.Method(i).Name; registered.HasMethod(s.Name + "." + name) {
				name = s.Name + "." + lowerFirst(name)
				methods[name] = &method{name: name}
			}
		}
	}
	return newServer(o, &named{registered, methods, o.Serves}, methods, func() (described []openrpc.Method) {
		for _, s := range all {
			described = append(described, openrpc.Named(s.Name, s.Methods)...)
		}
		return described
	}), nil
}

// named serves avalanchego's services: methods with one argument.
type named struct {
	registered *gorilla.Server
	methods    map[string]*method
	serves     func(method string) bool
}

func (*named) manners() manners {
	return manners{mediaType: []string{contentType + "; charset=utf-8"}, counted: true}
}

func (*named) read(body []byte) *Request { return readNamed(body) }

// served is a call passed to gorilla's server, with its outcome.
type served struct {
	*Call
	reply  any
	failed error
}

type servedKey struct{}

// run lets gorilla's server call the method.
func (n *named) run(x *exchange, ctx context.Context, c *Call) (any, error) {
	if c.withheld {
		return nil, n.missing(c.Method)
	}
	s := &served{Call: c}
	n.registered.ServeHTTP(s, x.from.WithContext(context.WithValue(ctx, servedKey{}, s)))
	if s.failed != nil {
		return nil, s.failed
	}
	if e, ok := s.reply.(Encoded); ok {
		if encoded := e.EncodedJSON(); encoded != nil {
			return Bytes(encoded), nil
		}
	}
	return s.reply, nil
}

// missing returns gorilla's error for a method that a service does not have, or whose service is not there.
func (n *named) missing(name string) error {
	service, method, _ := strings.Cut(name, ".")
	what := "service"
	for other := range n.methods {
		if strings.HasPrefix(other, service+".") && n.serves(other) {
			what = "method"
		}
	}
	return fmt.Errorf("rpc: can't find %s %q", what, service+"."+upperFirst(method))
}

// Header returns headers that are never sent, because every answer already has the ones that gorilla's server sets.
func (s *served) Header() http.Header         { return http.Header{} }
func (s *served) Write(b []byte) (int, error) { return len(b), nil }
func (s *served) WriteHeader(int)             {}

// codec passes gorilla's server a call that was read before.
type codec struct{}

func (codec) NewRequest(r *http.Request) gorilla.CodecRequest {
	return r.Context().Value(servedKey{}).(*served)
}

var (
	errUpperCase = errors.New("method must start with a non-uppercase letter")
	errArgument  = errors.New("couldn't unmarshal an argument. Ensure arguments are valid and properly formatted. See documentation for example calls")
)

// Method returns the method's Go name, as avalanchego's codec derives it (utils/json/codec.go).
func (s *served) Method() (string, error) {
	service, name, found := strings.Cut(s.Call.Method, ".")
	first, _ := utf8.DecodeRuneInString(name)
	switch {
	case !found || first == utf8.RuneError:
		return s.Call.Method, nil
	case unicode.IsUpper(first):
		return s.Call.Method, errUpperCase
	}
	return service + "." + upperFirst(name), nil
}

func upperFirst(name string) string {
	first, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + name[size:]
}

// ReadRequest reads the argument, which may be the only element of a list.
func (s *served) ReadRequest(args any) error {
	if s.Params == nil || json.Unmarshal(s.Params, args) == nil || json.Unmarshal(s.Params, &[1]any{args}) == nil {
		return nil
	}
	return errArgument
}

// WriteResponse receives the method's reply.
func (s *served) WriteResponse(_ http.ResponseWriter, reply any) { s.reply = reply }

// WriteError receives the reason for a missing reply.
func (s *served) WriteError(_ http.ResponseWriter, _ int, err error) { s.failed = err }

// describe converts an error as json2 does, with one code for all of a method's errors.
func (*named) describe(err error) *Error {
	switch e := err.(type) {
	case *Error:
		return e
	case *json2.Error:
		return &Error{Code: int(e.Code), Message: e.Message, Data: e.Data}
	}
	return &Error{Code: codeDefault, Message: err.Error()}
}

func (*named) encode(e *Error) []byte {
	return encode(&json2.Error{Code: json2.ErrorCode(e.Code), Message: e.Message, Data: e.Data})
}

func (*named) open(b []byte, _ json.RawMessage) []byte { return append(b, `{"jsonrpc":"2.0",`...) }

func (*named) shut(b []byte, id json.RawMessage) []byte {
	written, err := json.Marshal(id) // on one line
	if err != nil {
		written = null
	}
	return append(append(append(b, `,"id":`...), written...), '}')
}
