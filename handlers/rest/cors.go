package rest

import (
	"net/http"

	"snowglobe/handlers/permit"
)

var (
	anyOrigin = []string{"*"}
	exposed   = []string{"ratelimit-policy, ratelimit-limit, ratelimit-remaining, ratelimit-reset, retry-after, etag, x-request-id, content-disposition, content-range, accept-ranges"}
)

// isPreflight recognises the question that a browser asks before a request that is not simple.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
}

// preflight is by hand, as rs/cors names the requested method only. It allows the methods of the path, and whatever headers the page asks for.
func (w *responseWriter) preflight(r *http.Request, methods string) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", methods)
	if headers := r.Header.Get("Access-Control-Request-Headers"); headers != "" {
		h.Set("Access-Control-Allow-Headers", headers)
	}
	h.Set("Access-Control-Max-Age", "7200")
	h.Set("Vary", "Access-Control-Request-Method, Access-Control-Request-Headers")
	w.WriteHeader(http.StatusNoContent)
}

// checkClass keeps those from changing the world who may not. A page may do so only with a body that is declared as JSON, which
// makes its browser ask first.
func (c *requestContext) checkClass(r *http.Request) error {
	rule := c.server.opts.Permit
	if rule.CheckPage(r, c.op.Class) != nil {
		c.Header().Del("Access-Control-Allow-Origin")
	}
	if err := rule.Check(r, c.op.Class); err != nil {
		return Forbidden(err.Error())
	}
	if c.op.Class != permit.Read && c.op.Body != nil && permit.FromPage(r) && r.Header.Get("Content-Type") == "" {
		return unsupportedMedia("")
	}
	return nil
}

// allowed reports whether the page that a request comes from may call an operation.
func (c *requestContext) allowed(r *http.Request, op *operation) bool {
	return c.server.opts.Permit.CheckPage(r, op.Class) == nil
}
