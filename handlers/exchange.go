package handlers

import (
	"bufio"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// exchange is one request on its way through the server, with what is known about its answer so far.
type exchange struct {
	http.ResponseWriter
	server   *Server
	request  *http.Request
	id       string
	dialect  Dialect
	prefixed bool // whether it came under /upstream
	op       *operation
	mounted  string
	logger   *slog.Logger // notes the request
	start    time.Time
	status   int
	bytes    int64
}

func (s *Server) exchange(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{ResponseWriter: w, server: s, start: s.opts.Now(), logger: s.opts.Log}
	x.id = s.requestID(r)
	x.request, x.prefixed = cutPrefix(r)
	x.dialect = s.opts.Dialect.choose(r, x.prefixed)
	w.Header()["X-Request-Id"] = []string{x.id}
	return x
}

// share lets pages of any origin read the answer.
func (x *exchange) share() {
	h := x.Header()
	h["Access-Control-Allow-Origin"] = anyOrigin
	h["Access-Control-Expose-Headers"] = exposed
}

// straighten takes doubled slashes and slashes at the end out of a path, so that it means the same operation without a
// redirect.
func straighten(r *http.Request) *http.Request {
	path := segmented(r.URL)
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	return withPath(r, path)
}

// segmented is a path in which a slash that the client escaped stays escaped: it is part of a segment, not its end.
func segmented(u *url.URL) string {
	if u.RawPath == "" {
		return u.Path
	}
	segments := strings.Split(u.RawPath, "/")
	for i, escaped := range segments {
		text, err := url.PathUnescape(escaped)
		if err != nil {
			return u.Path
		}
		segments[i] = strings.ReplaceAll(text, "/", "%2F")
	}
	return strings.Join(segments, "/")
}

// cutPrefix takes the upstream dialect's prefix off a path and says whether it was there.
func cutPrefix(r *http.Request) (*http.Request, bool) {
	path := "/" + strings.TrimLeft(r.URL.Path, "/")
	rest, ok := strings.CutPrefix(path, upstreamPrefix)
	if !ok || rest != "" && rest[0] != '/' {
		return r, false
	}
	cut := withPath(r, rest)
	if raw, ok := strings.CutPrefix("/"+strings.TrimLeft(r.URL.RawPath, "/"), upstreamPrefix); ok {
		cut.URL.RawPath = raw
	}
	return cut, true
}

// asked is a path as this client writes it: under the prefix that it came with.
func (x *exchange) asked(path string) string {
	if x.prefixed {
		return upstreamPrefix + path
	}
	return path
}

func withPath(r *http.Request, path string) *http.Request {
	if path == "" || path[0] != '/' {
		path = "/" + path
	}
	if path == r.URL.Path {
		return r
	}
	c, u := *r, *r.URL
	u.Path, u.RawPath = path, ""
	c.URL = &u
	return &c
}

// requestID is the client's own if it is fit to be logged, else the next of a count.
func (s *Server) requestID(r *http.Request) string {
	if id := r.Header.Get("X-Request-Id"); id != "" && len(id) <= 128 && strings.Trim(id, idLetters) == "" {
		return id
	}
	return "req-" + strconv.FormatUint(s.requests.Add(1), 10)
}

const idLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:"

// finish answers for a handler that panicked and writes the access log.
func (x *exchange) finish() {
	if p := recover(); p != nil {
		if p == http.ErrAbortHandler {
			panic(p)
		}
		x.server.opts.Log.Error("handler panicked", "id", x.id, "operation", x.operation(), "panic", p, "stack", string(debug.Stack()))
		if x.status == 0 {
			x.fail(x.failure(), false)
		}
	}
	x.log()
	x.observe()
}

// log writes one line about the request. The query is left out, as it may hold a key.
func (x *exchange) log() {
	log, ctx := x.logger, x.request.Context()
	if !log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	log.LogAttrs(ctx, slog.LevelInfo, "request",
		slog.String("id", x.id),
		slog.String("method", x.request.Method),
		slog.String("path", x.request.URL.Path),
		slog.String("operation", x.operation()),
		slog.String("dialect", string(x.dialect)),
		slog.Int("status", x.status),
		slog.Int64("bytes", x.bytes),
		slog.Float64("took_ms", float64(x.server.opts.Now().Sub(x.start).Microseconds())/1000))
}

func (x *exchange) operation() string {
	if x.op != nil {
		return x.op.ID
	}
	return x.mounted
}

// WriteHeader notes the status for the access log.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 {
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write counts the bytes for the access log.
func (x *exchange) Write(b []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	n, err := x.ResponseWriter.Write(b)
	x.bytes += int64(n)
	return n, err
}

// Hijack lets a mounted handler speak WebSocket.
func (x *exchange) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if x.status == 0 {
		x.status = http.StatusSwitchingProtocols
	}
	return http.NewResponseController(x.ResponseWriter).Hijack()
}

// Flush lets a mounted handler stream.
func (x *exchange) Flush() {
	if f, ok := x.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// Unwrap is for http.ResponseController.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

type contextKey struct{}

func (x *exchange) context(r *http.Request) context.Context {
	return context.WithValue(r.Context(), contextKey{}, x)
}

// DialectOf is the dialect for a request that reached a mounted handler.
func DialectOf(ctx context.Context) Dialect {
	if x, ok := ctx.Value(contextKey{}).(*exchange); ok {
		return x.dialect
	}
	return Spec
}
