package rest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"snowglobe/handlers/fault"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/rest/schema"
)

// requestContext is one request on its way through the server, with what is known about its answer so far. It is the
// response writer that handlers get.
type requestContext struct {
	responseWriter
	server   *Server
	request  *http.Request
	id       string
	dialect  schema.Dialect
	prefixed bool // whether it came under /upstream
	op       *operation
	mounted  string
	mount    *mount
	logger   *slog.Logger // notes the request
	large    LargeAnswer
	start    time.Time
	took     time.Duration
	received journal.Body // the request's body
	fault    string       // which was applied to the request

	failing map[int]*fault.RPCError // calls of JSON-RPC that must fail, by their place
}

func (s *Server) newRequestContext(w http.ResponseWriter, r *http.Request) *requestContext {
	c := &requestContext{responseWriter: responseWriter{ResponseWriter: w}, server: s, start: s.opts.Now(), logger: s.opts.Log}
	c.id = s.requestID(r)
	c.keeps = s.opts.Journal.On() && !IsInside(r.Context())
	c.request, c.prefixed = cutPrefix(r)
	c.dialect = s.opts.Dialect.choose(r, c.prefixed)
	w.Header()["X-Request-Id"] = []string{c.id}
	return c
}

// allowOrigins lets pages of any origin read the answer.
func (c *requestContext) allowOrigins() {
	h := c.Header()
	h["Access-Control-Allow-Origin"] = anyOrigin
	h["Access-Control-Expose-Headers"] = exposed
}

// pathAsSent is a path as this client writes it: under the prefix that it came with.
func (c *requestContext) pathAsSent(path string) string {
	if c.prefixed {
		return upstreamPrefix + path
	}
	return path
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
func (c *requestContext) finish() {
	if p := recover(); p != nil {
		if p == http.ErrAbortHandler {
			c.note()
			panic(p)
		}
		c.server.opts.Log.Error("handler panicked", "id", c.id, "operation", c.operation(), "panic", p, "stack", string(debug.Stack()))
		if c.status == 0 {
			c.fail(c.failure(), false)
		}
	}
	if !IsInside(c.request.Context()) {
		c.note()
	}
}

// note tells of the answer where it is told: the log, the journal, the counters.
func (c *requestContext) note() {
	c.took = c.server.opts.Now().Sub(c.start)
	c.writeAccessLog()
	c.record()
	c.observe()
}

// writeAccessLog writes one line about the request. The query is left out, as it may hold a key.
func (c *requestContext) writeAccessLog() {
	log, ctx := c.logger, c.request.Context()
	if !log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	log.LogAttrs(ctx, slog.LevelInfo, "request",
		slog.String("id", c.id),
		slog.String("method", c.request.Method),
		slog.String("path", c.request.URL.Path),
		slog.String("operation", c.operation()),
		slog.String("dialect", string(c.dialect)),
		slog.Int("status", c.status),
		slog.Int64("bytes", c.bytes),
		slog.Float64("took_ms", float64(c.took.Microseconds())/1000))
}

func (c *requestContext) operation() string {
	if c.op != nil {
		return c.op.ID
	}
	return c.mounted
}

// Write sends a part of the answer. A large one has to wait until there is room for it, and to be taken in time.
func (c *requestContext) Write(b []byte) (int, error) {
	large, err := c.large.Send(c.request.Context(), len(b))
	if err != nil {
		if errors.Is(err, errTooManyLarge) && c.status == 0 {
			http.Error(&c.responseWriter, err.Error()+"; ask again", http.StatusServiceUnavailable)
		}
		return 0, err
	}
	if large {
		_ = http.NewResponseController(c.ResponseWriter).SetWriteDeadline(time.Now().Add(largeTimeout)) // tests have writers without deadlines
	}
	return c.responseWriter.Write(b)
}

type contextKey struct{}

type insideKey struct{}

// Inside marks a request that the server makes of itself, for a page: it needs no API key, counts against no rate limit, and is
// neither logged nor observed, since the request for the page is.
func Inside(ctx context.Context) context.Context { return context.WithValue(ctx, insideKey{}, true) }

// IsInside says whether a request carries the mark of Inside.
func IsInside(ctx context.Context) bool { return ctx.Value(insideKey{}) != nil }

func (c *requestContext) context(r *http.Request) context.Context {
	return context.WithValue(r.Context(), contextKey{}, c)
}

// RequestDialect is the dialect for a request that reached a mounted handler.
func RequestDialect(ctx context.Context) schema.Dialect {
	if c, ok := ctx.Value(contextKey{}).(*requestContext); ok {
		return c.dialect
	}
	return schema.Spec
}
