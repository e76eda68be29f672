package rpc

import (
	"net/http"

	"snowglobe/handlers/openrpc"
)

// Capabilities are the HTTP methods by which a handler is called, and the methods of JSON-RPC that it has.
type Capabilities struct {
	HTTP, RPC []string
	Methods   func() []openrpc.Method // what there is to tell about those of JSON-RPC; nil for none
}

// Capable is a handler that says what it can do. One that does not answers to GET.
type Capable interface{ Capabilities() *Capabilities }

// CapabilitiesOf are what a handler says of itself.
func CapabilitiesOf(h http.Handler) *Capabilities {
	if c, ok := h.(Capable); ok {
		return c.Capabilities()
	}
	return &Capabilities{HTTP: []string{http.MethodGet}}
}
