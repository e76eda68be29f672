package rest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"snowglobe/handlers/fault"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/textlog"
)

// NewLogger writes a log as text for people (package textlog) or as JSON, one line an event; a quiet one holds failures only.
func NewLogger(w io.Writer, format string, quiet bool) (*slog.Logger, error) {
	level := slog.LevelInfo
	if quiet {
		level = slog.LevelError
	}
	switch format {
	case "text":
		return slog.New(textlog.New(w, level, textlog.Color(w))), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})), nil
	}
	return nil, fmt.Errorf("log format %q is not one of text, json", format)
}

// NameOperation tells which operation a mounted handler took a request for: the access log and the counters then know it by that
// name. Names must come from a list, never from the client.
func NameOperation(ctx context.Context, operation string) {
	if c, ok := ctx.Value(contextKey{}).(*requestContext); ok {
		c.mounted = operation
	}
}

// SetLogger has a request noted by a logger other than the server's.
func SetLogger(ctx context.Context, log *slog.Logger) {
	if c, ok := ctx.Value(contextKey{}).(*requestContext); ok {
		c.logger = log
	}
}

// Logger is the logger that notes a request.
func Logger(ctx context.Context) *slog.Logger {
	if c, ok := ctx.Value(contextKey{}).(*requestContext); ok {
		return c.logger
	}
	return slog.New(slog.DiscardHandler)
}

// observe counts an answered request. A handler that wrote nothing has answered 200.
func (c *requestContext) observe() {
	if c.server.opts.Observe == nil {
		return
	}
	if c.status == 0 {
		c.status = http.StatusOK
	}
	c.server.opts.Observe(c.operation(), c.status, c.took)
}

// Use is a request as it is counted for the figures of usage.
type Use struct {
	Interface string // data, metrics or node
	Operation string // or the method of JSON-RPC
	Template  string // the path of an operation, empty for the node
	Path      string
	Status    int
	Took      time.Duration
	Key       string // names the API key without telling it, empty for none
	Bypass    bool   // the key came as rltoken
	Client    string // address and port
	Host      string
	UserAgent string
}

// use counts a request of the interfaces that the live services have.
func (c *requestContext) use(operation string, took time.Duration) {
	o := &c.server.opts
	in := c.interfaceName()
	if o.Usage == nil || in != Data.Name && in != Metrics.Name && in != nodeInterface {
		return
	}
	u := &Use{Interface: in, Operation: operation, Path: c.request.URL.Path, Status: c.status, Took: took, Client: c.request.RemoteAddr,
		Host: c.request.Host, UserAgent: c.request.UserAgent()}
	if c.op != nil {
		u.Template = c.op.Path
	}
	if keys := keysOf(c.request); len(keys) > 0 {
		sum := sha256.Sum256([]byte(keys[0]))
		u.Key, u.Bypass = "key-"+hex.EncodeToString(sum[:6]), keys[0] == queryToken(c.request)
	}
	o.Usage(u)
}

// exchange is what there is to tell about a request, save its body and the answer. Messages of a WebSocket tell it side by side.
func (c *requestContext) exchange() *journal.Exchange {
	o := &c.server.opts
	e := &journal.Exchange{
		Time: c.start, World: o.World, Client: c.request.RemoteAddr, Interface: c.interfaceName(), Operation: c.operation(),
		RequestID: c.id, Fault: c.fault, Status: c.status, Method: c.request.Method, Target: c.request.RequestURI, Host: c.request.Host,
		URL: c.request.URL, RequestHeader: c.request.Header,
	}
	if c.op != nil {
		e.Template = c.op.Path
	}
	return e
}

// interfaceName is that of the operation, or of what is mounted; the documentation is the simulator's.
func (c *requestContext) interfaceName() string {
	switch {
	case c.op != nil:
		return c.op.in.Name
	case c.mount != nil:
		return c.mount.interfaceName()
	case c.mounted != "":
		return Sim.Name
	}
	return ""
}

// interfaceName is that of the interface which has the mount's prefix.
func (m *mount) interfaceName() string {
	switch {
	case strings.HasPrefix(m.prefix, "/v"):
		return Data.Name
	case strings.HasSuffix(m.prefix, "/ext"):
		return nodeInterface
	}
	return Sim.Name
}

// nodeInterface is what the interface of the node is called, which has no operations.
const nodeInterface = "node"

// KeepRequest takes down the body of a request that a mounted handler has read, for the journal. It must not change afterwards.
func KeepRequest(ctx context.Context, body []byte) {
	if c, ok := ctx.Value(contextKey{}).(*requestContext); ok && c.keeps {
		c.received = journal.Keep(body)
	}
}

// Recorded says whether a request is taken down, for the journal or the log.
func Recorded(ctx context.Context) bool {
	c, ok := ctx.Value(contextKey{}).(*requestContext)
	return ok && c.keeps
}

// RecordCalls takes down the calls that a request makes.
func RecordCalls(ctx context.Context, calls []journal.CallRecord) {
	if c, ok := ctx.Value(contextKey{}).(*requestContext); ok {
		c.calls = calls
	}
}

// RecordMessage tells of a message over WebSocket and its answer in the log and in the journal: ctx is that of the request which opened the
// connection.
func RecordMessage(ctx context.Context, operation string, message []byte, calls []journal.CallRecord, answer journal.Body, since time.Time, p *fault.Plan) {
	c, ok := ctx.Value(contextKey{}).(*requestContext)
	if ok {
		c.use(operation, time.Since(since))
	}
	if !ok || !c.keeps {
		return
	}
	e := c.exchange()
	e.Time, e.Took, e.Operation, e.WebSocket, e.Status = since, time.Since(since), operation, true, http.StatusOK
	e.Request, e.Calls, e.Answer, e.Fault = journal.Keep(message), calls, answer, ""
	if p != nil {
		e.Fault = p.Text
	}
	if c.logs() {
		c.writeAccessLog(e)
	}
	if c.server.opts.Journal.On() {
		c.server.opts.Journal.Add(e)
	}
}
