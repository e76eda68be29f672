package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"snowglobe/handlers/permit"
)

// Namespace is a set of methods with a common prefix, such as eth_. A method optionally takes a context, then positional parameters;
// callers may omit trailing pointers. It returns a result, an error, or both. A method that returns a [Subscription] can only be subscribed
// to.
type Namespace struct {
	Name    string
	Methods any

	Beyond  bool             // whether its subscriptions are beyond a node's: a server that does not answer all methods lacks them
	Refused map[string]error // names of methods that other nodes have and that cannot work here, each with the error for its callers
}

// Object is a parameter that clients may give in place of the list of parameters, if it is the only one.
type Object interface{ ByName() }

// method is a method of a server.
type method struct {
	name       string
	class      permit.Class
	remembered bool // whether results may be repeated

	*signature // nil for a service's method and for the server's own methods
	receiver   reflect.Value
}

// signature describes a method of a Go type.
type signature struct {
	name       string
	function   reflect.Value
	params     []reflect.Type
	object     bool // the only parameter is an Object
	context    bool
	fails      int // index of the error among the results, -1 for none
	subscribes bool
}

var signatures sync.Map // []*signature by type: all chains have the same

// signaturesOf returns the callable methods of a type.
func signaturesOf(t reflect.Type) (all []*signature) {
	if known, ok := signatures.Load(t); ok {
		return known.([]*signature)
	}
	for m := range t.Methods() {
		if s := signatureOf(m); s != nil {
			all = append(all, s)
		}
	}
	signatures.Store(t, all)
	return all
}

func signatureOf(m reflect.Method) *signature {
	t := m.Type
	s := &signature{name: lowerFirst(m.Name), function: m.Func, fails: -1}
	for i := 1; i < t.NumIn(); i++ {
		if i == 1 && t.In(i) == reflect.TypeFor[context.Context]() {
			s.context = true
			continue
		}
		s.params = append(s.params, t.In(i))
	}
	s.object = len(s.params) == 1 && s.params[0].Implements(reflect.TypeFor[Object]())
	isError := func(i int) bool { return t.Out(i).Implements(reflect.TypeFor[error]()) }
	switch n := t.NumOut(); {
	case n > 2, n == 2 && (isError(0) || !isError(1)):
		return nil
	case n > 0 && isError(n-1):
		s.fails = n - 1
	}
	if s.subscribes = s.context && t.NumOut() == 2 && t.Out(0) == reflect.TypeFor[*Subscription](); s.subscribes {
		s.params = slices.Insert(s.params, 0, reflect.TypeFor[string]()) // its name
	}
	return s
}

func lowerFirst(name string) string {
	r, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToLower(r)) + name[size:]
}

// arguments reads positional parameters as go-ethereum's server does, with its errors (rpc/json.go).
func (s *signature) arguments(params json.RawMessage, given ...reflect.Value) ([]reflect.Value, error) {
	args, first := given, len(given)
	if text := skipSpace(params); s.object && len(text) > 0 && text[0] == '{' {
		params = slices.Concat([]byte("["), text, []byte("]"))
	}
	switch text := skipSpace(params); {
	case len(text) == 0 || string(text) == "null":
	case text[0] != '[':
		return nil, errors.New("non-array args")
	default:
		for item := range elements(text) {
			i := len(args) - first
			if i >= len(s.params) {
				return nil, fmt.Errorf("too many arguments, want at most %d", len(s.params))
			}
			if s.params[i].Kind() != reflect.Pointer && string(item) == "null" {
				return nil, fmt.Errorf("missing value for required argument %d", i)
			}
			value := reflect.New(s.params[i])
			if err := readArgument(item, value.Interface()); err != nil {
				return nil, fmt.Errorf("invalid argument %d: %v", i, err)
			}
			args = append(args, value.Elem())
		}
	}
	for i := len(args) - first; i < len(s.params); i++ {
		if s.params[i].Kind() != reflect.Pointer {
			return nil, fmt.Errorf("missing value for required argument %d", i)
		}
		args = append(args, reflect.Zero(s.params[i]))
	}
	return args, nil
}

func readArgument(item json.RawMessage, into any) error {
	if u, ok := into.(json.Unmarshaler); ok && string(item) != "null" {
		return u.UnmarshalJSON(item) // encoding/json would validate it first
	}
	return json.Unmarshal(item, into)
}

// errCrashed is the client's error for a method that panicked.
var errCrashed = &Error{Code: codeInternal, Message: "method handler crashed"}

// call calls a method of a namespace.
func (m *method) call(ctx context.Context, params json.RawMessage) (result any, err error) {
	args := append(make([]reflect.Value, 0, 2+len(m.params)), m.receiver)
	if m.context {
		args = append(args, reflect.ValueOf(ctx))
	}
	if args, err = m.arguments(params, args...); err != nil {
		return nil, &Error{Code: codeParams, Message: err.Error()}
	}
	if m.subscribes {
		args = slices.Delete(args, 2, 3) // after the receiver and the context
	}
	defer func() {
		if p := recover(); p != nil {
			slog.Error("method panicked", "method", m.name, "panic", p, "stack", string(debug.Stack()))
			result, err = nil, errCrashed
		}
	}()
	results := m.function.Call(args)
	if len(results) == 0 {
		return nil, nil
	}
	if m.fails >= 0 && !results[m.fails].IsNil() {
		return nil, results[m.fails].Interface().(error)
	}
	return results[0].Interface(), nil
}

// Limits on names, as in go-ethereum.
const longestName = 2048

// positional serves an EVM chain: methods with positional parameters, in namespaces, and subscriptions.
type positional struct {
	methods       map[string]*method // by name
	subscriptions map[string]*method // by namespace and name, such as eth_newHeads
	refused       map[string]error   // by name
	namespaces    map[string]string  // with their versions
	serves        func(method string) bool
}

func newPositional(all []Namespace, serves func(method string) bool) *positional {
	p := &positional{methods: map[string]*method{}, subscriptions: map[string]*method{}, refused: map[string]error{}, namespaces: map[string]string{"rpc": "1.0"}, serves: serves}
	for _, n := range append(all, Namespace{Name: "rpc", Methods: modules{p}}) {
		p.namespaces[n.Name] = "1.0"
		for name, reason := range n.Refused {
			p.refused[n.Name+"_"+name] = reason
		}
		receiver := reflect.ValueOf(n.Methods)
		for _, s := range signaturesOf(receiver.Type()) {
			m := &method{name: n.Name + "_" + s.name, signature: s, receiver: receiver}
			if !s.subscribes {
				p.methods[m.name] = m
				continue
			}
			if !n.Beyond || serves == nil {
				p.subscriptions[m.name] = m
			}
			for _, name := range []string{n.Name + "_subscribe", n.Name + "_unsubscribe"} {
				p.methods[name] = &method{name: name}
			}
		}
	}
	return p
}

// modules implements the rpc namespace of go-ethereum's server.
type modules struct{ *positional }

// Modules returns the namespaces with their versions.
func (m modules) Modules() map[string]string {
	if m.serves == nil {
		return m.namespaces
	}
	served := map[string]string{}
	for method := range m.methods {
		if namespace, _, _ := strings.Cut(method, "_"); m.serves(method) {
			served[namespace] = m.namespaces[namespace]
		}
	}
	return served
}

var plainJSON = manners{mediaType: []string{contentType}, bare: true}

func (*positional) manners() manners { return plainJSON }

func (p *positional) read(body []byte) *Request { return readPositional(body) }

// run calls a method, or starts or ends a subscription.
func (p *positional) run(x *exchange, ctx context.Context, c *Call) (any, error) {
	switch {
	case len(c.Method) > longestName:
		return nil, &Error{Code: codeInvalid, Message: fmt.Sprintf("method name too long: %d > %d", len(c.Method), longestName)}
	case strings.HasSuffix(c.Method, "_subscribe"):
		return p.subscribe(x, ctx, c)
	case strings.HasSuffix(c.Method, "_unsubscribe"):
		return p.unsubscribe(x, c)
	case p.refused[c.Method] != nil && (p.serves == nil || p.serves(c.Method)):
		return nil, p.refused[c.Method]
	case c.method == nil:
		return nil, &Error{Code: codeMethod, Message: fmt.Sprintf("the method %s does not exist/is not available", c.Method)}
	}
	return c.method.call(ctx, c.Params)
}

// describe converts an error to its form for clients.
func (p *positional) describe(err error) *Error {
	if e, ok := err.(*Error); ok {
		return e
	}
	e := &Error{Code: codeDefault, Message: err.Error()}
	if coded, ok := err.(interface{ ErrorCode() int }); ok {
		e.Code = coded.ErrorCode()
	}
	if with, ok := err.(interface{ ErrorData() any }); ok {
		e.Data = with.ErrorData()
	}
	return e
}

func (p *positional) encode(e *Error) []byte { return encode(e) }

func (p *positional) open(b []byte, id json.RawMessage) []byte {
	if id == nil {
		id = null
	}
	return append(append(append(b, `{"jsonrpc":"2.0","id":`...), id...), ',')
}

func (p *positional) shut(b []byte, _ json.RawMessage) []byte { return append(b, '}') }
