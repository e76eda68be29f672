package openrpc

import (
	_ "embed"
	"encoding/json"
	"path"
	"reflect"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Method is a JSON-RPC method.
type Method struct {
	Name   string
	ByName bool // parameters are members of one object, as in avalanchego; otherwise a list
	in     []reflect.Type
	out    reflect.Type
	object reflect.Type
	goName string
}

// source is a method's description in the source.
type source struct {
	Params []string `json:"params,omitempty"`
	Doc    string   `json:"doc,omitempty"`
}

//go:embed names.json
var namesText []byte

// names holds these by package, type and method. A test checks the embedded file.
var names = sync.OnceValue(func() map[string]source {
	all := map[string]source{}
	_ = json.Unmarshal(namesText, &all)
	return all
})

var failure = reflect.TypeFor[error]()

// subscription is the return type of methods that can only be subscribed to.
const subscription = "*rpc.Subscription"

// Positional returns an object's methods in go-ethereum's form: a context and parameters; a result and an error. It leaves out
// subscriptions.
func Positional(prefix string, object any) []Method {
	t := reflect.TypeOf(object)
	var all []Method
	for m := range t.Methods() {
		method := Method{Name: prefix + "_" + lowerFirst(m.Name), object: t, goName: m.Name}
		for j := 1; j < m.Type.NumIn(); j++ {
			if in := m.Type.In(j); j > 1 || in.String() != "context.Context" {
				method.in = append(method.in, in)
			}
		}
		if m.Type.NumOut() > 0 && m.Type.Out(0) != failure {
			method.out = m.Type.Out(0)
		}
		if method.out == nil || method.out.String() != subscription {
			all = append(all, method)
		}
	}
	return all
}

// Named returns a service's methods in avalanchego's form: a request, arguments, a reply.
func Named(service string, object any) []Method {
	t := reflect.TypeOf(object)
	var all []Method
	for m := range t.Methods() {
		if m.Type.NumIn() != 4 {
			continue
		}
		all = append(all, Method{Name: service + "." + lowerFirst(m.Name), ByName: true, in: []reflect.Type{m.Type.In(2).Elem()}, out: m.Type.In(3).Elem(),
			object: t, goName: m.Name})
	}
	return all
}

func lowerFirst(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[size:]
}

// sourceOf finds a method's source, also in embedded types.
func sourceOf(t reflect.Type, method string) source {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s, found := names()[path.Base(t.PkgPath())+"."+t.Name()+"."+method]; found {
		return s
	}
	if t.Kind() == reflect.Struct {
		for f := range t.Fields() {
			if f.Anonymous {
				if s := sourceOf(f.Type, method); s.Doc != "" || s.Params != nil {
					return s
				}
			}
		}
	}
	return source{}
}
