package node

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/gorilla/rpc/v2"

	"snowglobe/handlers"
)

// nameService names a request by the method of a service that answers it, as a client writes it.
func nameService(i *rpc.RequestInfo) {
	service, method, _ := strings.Cut(i.Method, ".")
	called(i.Request.Context(), service+"."+lowerFirst(method))
}

// called names a request, and notes it for who wants to see every call.
func called(ctx context.Context, operation string) {
	handlers.Named(ctx, operation)
	handlers.LoggerOf(ctx).Debug("API called", "method", operation)
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// operation names a request to an EVM chain: its method, or batch. What the chain does not know has one name.
func (e *endpoint) operation(body []byte) string {
	if body = bytes.TrimLeft(body, " \t\r\n"); len(body) > 0 && body[0] == '[' {
		return "batch"
	}
	var call struct{ Method string }
	if json.Unmarshal(body, &call) != nil || !e.methods[call.Method] {
		return "unknown method"
	}
	return call.Method
}
