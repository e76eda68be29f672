package rest

import (
	"net/http"
	"net/url"
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

// checkOrigin keeps pages of other origins from changing the world through a browser that has them open.
func (c *requestContext) checkOrigin(r *http.Request) error {
	if !c.op.SameOrigin {
		return nil
	}
	c.Header().Del("Access-Control-Allow-Origin")
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host != r.Host {
		return Forbidden("a browser page of another origin may not do this")
	}
	return nil
}
