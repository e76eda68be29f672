package rest

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/big"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/journal"
	"snowglobe/handlers/rest/schema"
	"snowglobe/handlers/textlog"
)

// Request is a handler's view of a request: parameters that are parsed and valid, the body, the page and the dialect.
type Request struct {
	HTTP *http.Request

	server   *Server
	op       *operation
	values   []any
	given    []bool
	body     any
	raw      []byte // the body as it came
	dialect  schema.Dialect
	base     string
	prefixed bool

	position []byte
	resumed  bool
	failed   error
}

// Fail makes the response an error, no matter what the handler returns. It is for functions deep inside a response that cannot return an error.
func (r *Request) Fail(err error) {
	if r.failed == nil {
		r.failed = err
	}
}

// answer runs a handler.
func (r *Request) answer(handle func(*Request) (any, error)) (any, error) {
	answer, err := handle(r)
	if err == nil {
		err = r.failed
	}
	return answer, err
}

// With turns a handler for something that requests name into one that finds it first.
func With[T any](find func(*Request) (T, error), handle func(*Request, T) (any, error)) func(*Request) (any, error) {
	return func(r *Request) (any, error) {
		found, err := find(r)
		if err != nil {
			return nil, err
		}
		return handle(r, found)
	}
}

// Context ends when the client leaves.
func (r *Request) Context() context.Context { return r.HTTP.Context() }

// Dialect returns the dialect of the response.
func (r *Request) Dialect() schema.Dialect { return r.dialect }

func (r *Request) value(name string) any {
	for i, p := range r.op.params {
		if p.Name == name {
			return r.values[i]
		}
	}
	return nil
}

// Given reports whether the client sent the parameter; a default does not count.
func (r *Request) Given(name string) bool {
	for i, p := range r.op.params {
		if p.Name == name {
			return r.given[i]
		}
	}
	return false
}

// Value returns the parameter's value as its kind's type, or the zero value if it was not given and has no default.
func Value[T any](r *Request, name string) T {
	v, _ := r.value(name).(T)
	return v
}

// List returns the values of a list parameter, nil if it was not given.
func List[T any](r *Request, name string) []T {
	return typed[T](r.value(name))
}

func typed[T any](value any) []T {
	items, _ := value.([]any)
	list := make([]T, 0, len(items))
	for _, item := range items {
		if v, ok := item.(T); ok {
			list = append(list, v)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

// Body returns the decoded JSON body; T is the type that the operation declares.
func Body[T any](r *Request) *T {
	b, ok := r.body.(*T)
	if !ok {
		return new(T)
	}
	return b
}

// Int returns an integer, a timestamp or a page size.
func (r *Request) Int(name string) int64 { return Value[int64](r, name) }

// Text returns a text, an enum value, a network, a currency or a UUID.
func (r *Request) Text(name string) string { return Value[string](r, name) }

// Bool returns a boolean.
func (r *Request) Bool(name string) bool { return Value[bool](r, name) }

// Amount returns an integer of up to 256 bits, nil if absent.
func (r *Request) Amount(name string) *big.Int { return Value[*big.Int](r, name) }

// Number returns an exact decimal number, nil if absent.
func (r *Request) Number(name string) *big.Rat { return Value[*big.Rat](r, name) }

// Address returns an EVM address.
func (r *Request) Address(name string) common.Address { return Value[common.Address](r, name) }

// Hash returns a 32-byte hash.
func (r *Request) Hash(name string) common.Hash { return Value[common.Hash](r, name) }

// Chain returns an EVM chain's id.
func (r *Request) Chain(name string) schema.ChainID { return Value[schema.ChainID](r, name) }

// Block returns an EVM block's number or hash.
func (r *Request) Block(name string) schema.BlockID { return Value[schema.BlockID](r, name) }

// requestContext carries one request through the server, with the state of its response. It is the handlers' response writer.
type requestContext struct {
	responseWriter
	server   *Server
	request  *http.Request
	id       string
	dialect  schema.Dialect
	prefixed bool // whether it came under /upstream
	op       *operation
	mount    *mount
	large    LargeAnswer
	start    time.Time
	took     time.Duration
	fault    string // applied to the request
	end      func() // ends the response in place of its last byte, nil for none
}

func (s *Server) newRequestContext(w http.ResponseWriter, r *http.Request) *requestContext {
	c := &requestContext{responseWriter: responseWriter{ResponseWriter: w}, server: s, start: s.opts.Now()}
	c.Log = s.opts.Log
	c.id = s.requestID(r)
	core, throughCore := cutCore(r)
	c.request, c.prefixed = cutPrefix(core)
	c.dialect = s.opts.Dialect.choose(r, c.prefixed || throughCore)
	c.Recorded = !IsInside(r.Context()) && (s.opts.Journal.On() || c.logs())
	w.Header()["X-Request-Id"] = []string{c.id}
	return c
}

// allowOrigins lets pages of any origin read the answer.
func (c *requestContext) allowOrigins() {
	h := c.Header()
	h["Access-Control-Allow-Origin"] = anyOrigin
	h["Access-Control-Expose-Headers"] = exposed
}

// pathAsSent writes a path as this client does: with its prefix.
func (c *requestContext) pathAsSent(path string) string {
	if c.prefixed {
		path = upstreamPrefix + path
	}
	return MountPath(c.request) + path
}

// requestID returns the client's own id if it is safe to log, otherwise the next of a count.
func (s *Server) requestID(r *http.Request) string {
	if id := r.Header.Get("X-Request-Id"); id != "" && len(id) <= 128 && strings.Trim(id, idLetters) == "" {
		return id
	}
	return "req-" + strconv.FormatUint(s.requests.Add(1), 10)
}

const idLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:"

// finish responds for a handler that panicked and writes the access log.
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
	if c.status == 0 && c.end == nil {
		c.status = http.StatusOK // of a handler that wrote nothing
	}
	if !IsInside(c.request.Context()) {
		c.note()
	}
	if c.end != nil {
		c.end()
		return
	}
	_ = c.release() // the client may be gone
}

// shownByPage reports whether a page of this server shows the response as a picture, so no client of the world asked for it.
func shownByPage(r *http.Request) bool {
	return r.Header.Get("Sec-Fetch-Dest") == "image" && r.Header.Get("Sec-Fetch-Site") == "same-origin"
}

// note reports the response to the log, the journal and the counters.
func (c *requestContext) note() {
	c.took = c.server.opts.Now().Sub(c.start)
	recorded := c.server.opts.Journal.On() && c.Recorded && !(c.op != nil && c.op.Unrecorded) && !shownByPage(c.request)
	if logged := c.logs(); logged || recorded {
		e := c.exchange()
		e.AnswerHeader, e.Request, e.Calls, e.Answer, e.Took = c.Header(), c.body, c.Calls, c.answer, c.took
		if logged {
			c.writeAccessLog(e)
		}
		if recorded {
			c.server.opts.Journal.Add(e)
		}
	}
	if observe := c.server.opts.Observe; observe != nil {
		observe(c.operation(), cmp.Or(c.status, http.StatusOK), c.took)
	}
	c.use(c.operation(), c.took)
}

// logs reports whether the request is logged.
func (c *requestContext) logs() bool { return c.Log.Enabled(c.request.Context(), slog.LevelInfo) }

// writeAccessLog writes one line about the request, without its secrets.
func (c *requestContext) writeAccessLog(e *journal.Exchange) {
	j := c.server.opts.Journal
	path, _, _ := strings.Cut(e.Target, "?")
	method := e.Method
	if e.WebSocket {
		method = "WS"
	}
	attrs := append(make([]slog.Attr, 0, 14), slog.String("id", c.id), slog.String(textlog.Method, method), slog.String(textlog.Path, path))
	add := func(name, value string) {
		if value != "" {
			attrs = append(attrs, slog.String(name, value))
		}
	}
	add(textlog.Query, j.Query(e))
	if e.World != "" {
		attrs = append(attrs, slog.String(textlog.World, e.World))
	}
	attrs = append(attrs, slog.String(textlog.Interface, e.Interface), slog.String(textlog.Operation, e.Operation), slog.String("dialect", string(c.dialect)),
		slog.Int(textlog.Status, e.Status), slog.Int64("bytes", e.Answer.Size), slog.Float64(textlog.Took, float64(e.Took.Microseconds())/1000))
	members, cause := j.Outcome(e)
	if members != nil {
		attrs = append(attrs, slog.Any(textlog.Calls, members))
	}
	add(textlog.Cause, cause)
	add(textlog.Fault, e.Fault)
	line := slog.NewRecord(c.server.opts.Now(), slog.LevelInfo, textlog.Request, 0) // the logger would look up its caller
	line.AddAttrs(attrs...)
	_ = c.Log.Handler().Handle(c.request.Context(), line) // there is nowhere to report that the log fails
}

func (c *requestContext) operation() string {
	if c.op != nil {
		return c.op.ID
	}
	return c.Operation
}

// Write sends a part of the response. A large response has to wait until there is room for it, and must be read in time.
func (c *requestContext) Write(b []byte) (int, error) {
	large, err := c.large.Send(c.request.Context(), len(b))
	if err != nil {
		if errors.Is(err, errTooManyLarge) && c.status == 0 {
			RefuseLarge(&c.responseWriter, err)
		}
		return 0, err
	}
	if large {
		_ = http.NewResponseController(c.ResponseWriter).SetWriteDeadline(time.Now().Add(largeTimeout)) // test writers have no deadlines
	}
	return c.responseWriter.Write(b)
}

type contextKey struct{}

type insideKey struct{}

// Inside marks a request that the server sends to itself for a page. It counts against no rate limit and is neither logged nor observed,
// because the request for the page is.
func Inside(ctx context.Context) context.Context { return context.WithValue(ctx, insideKey{}, true) }

// IsInside reports whether Inside marked a request.
func IsInside(ctx context.Context) bool { return ctx.Value(insideKey{}) != nil }

// RequestDialect returns the dialect of a request to a mounted handler.
func RequestDialect(ctx context.Context) schema.Dialect {
	if c, ok := ctx.Value(contextKey{}).(*requestContext); ok {
		return c.dialect
	}
	return schema.Spec
}
