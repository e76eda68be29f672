package rpc

import (
	"net/http"
	"slices"

	"snowglobe/handlers/openrpc"
)

// Capabilities lists the HTTP methods and the JSON-RPC methods of a handler.
type Capabilities struct {
	HTTP, RPC []string
	Methods   func() []openrpc.Method  // describes the JSON-RPC methods; nil for none
	Serves    func(method string) bool // whether a method is answered now; nil if all are
}

// Served returns the JSON-RPC methods that are answered now.
func (c *Capabilities) Served() []string {
	if c.Serves == nil {
		return append([]string{}, c.RPC...)
	}
	served := []string{}
	for _, name := range c.RPC {
		if c.Serves(name) {
			served = append(served, name)
		}
	}
	return served
}

// Described describes the JSON-RPC methods that are answered now.
func (c *Capabilities) Described() []openrpc.Method {
	return slices.DeleteFunc(c.Methods(), func(m openrpc.Method) bool { return c.Serves != nil && !c.Serves(m.Name) })
}

// Capable is a handler that reports its capabilities. A handler without the method answers to GET.
type Capable interface{ Capabilities() *Capabilities }

// CapabilitiesOf returns a handler's capabilities.
func CapabilitiesOf(h http.Handler) *Capabilities {
	if c, ok := h.(Capable); ok {
		return c.Capabilities()
	}
	return &Capabilities{HTTP: []string{http.MethodGet}}
}
