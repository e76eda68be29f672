package rpc

import (
	"net/http"

	"snowglobe/handlers/openrpc"
)

// Capabilities lists the HTTP methods and the JSON-RPC methods of a handler.
type Capabilities struct {
	HTTP, RPC []string
	Methods   func() []openrpc.Method // describes the JSON-RPC methods; nil for none
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
