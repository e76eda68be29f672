package jsonrpc

import (
	"context"
	"strings"

	"github.com/gorilla/rpc/v2"

	"snowglobe/handlers/rest"
)

// nameService names a request by the method of a service that answers it, as a client writes it.
func nameService(i *rpc.RequestInfo) { NameRequest(i.Request.Context(), methodName(i)) }

// methodName is the method that a request calls, as a client writes it.
func methodName(i *rpc.RequestInfo) string {
	service, method, _ := strings.Cut(i.Method, ".")
	return service + "." + LowerFirst(method)
}

// NameRequest names a request by the method that is called, and logs the call for who wants to see every one.
func NameRequest(ctx context.Context, method string) {
	rest.NameOperation(ctx, method)
	rest.Logger(ctx).Debug("API called", "method", method)
}

// LowerFirst is a method's name as clients write it.
func LowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
