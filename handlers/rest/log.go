package rest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"snowglobe/handlers/fault"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/textlog"
)

// NewLogger writes a log as text for people (package textlog) or as JSON, one line per event; a quiet logger writes only failures.
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

// MountedRequest is what a mounted handler tells about its request, for the access log, the journal and the counters.
type MountedRequest struct {
	Operation string               // from a list, never from the client
	Log       *slog.Logger         // logs the request
	Recorded  bool                 // whether the body and the calls are recorded
	Calls     []journal.CallRecord // with their outcomes
	body      journal.Body
}

// KeepBody records the request's body, which must not change afterwards.
func (m *MountedRequest) KeepBody(body []byte) { m.body = journal.Keep(body) }

// Mounted returns the part of a request that its mounted handler may change; outside a server, one that nobody reads.
func Mounted(ctx context.Context) *MountedRequest {
	if c, ok := ctx.Value(contextKey{}).(*requestContext); ok {
		return &c.MountedRequest
	}
	return &MountedRequest{Log: slog.New(slog.DiscardHandler)}
}

// Use is a request as the usage figures count it.
type Use struct {
	Interface string // data, metrics or node
	Operation string // or the JSON-RPC method
	Template  string // the path of an operation, empty for the node
	Path      string
	Status    int
	Took      time.Duration
	Key       string // identifies the API key without revealing it, empty for none
	Bypass    bool   // the key came as rltoken
	Client    string // address and port
	Host      string
	UserAgent string
}

// use counts requests to the interfaces that the live services have.
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

// exchange describes a request without its body and response. The messages of a WebSocket share it concurrently.
func (c *requestContext) exchange() *journal.Exchange {
	o := &c.server.opts
	e := &journal.Exchange{
		Time: c.start, World: o.World, Client: c.request.RemoteAddr, Interface: c.interfaceName(), Operation: c.operation(),
		RequestID: c.id, Fault: c.fault, Status: c.status, Method: c.request.Method, Target: c.request.RequestURI, Host: c.request.Host,
		URL: c.request.URL, RequestHeader: c.request.Header, Scheme: permit.TrustedHost(c.request),
	}
	if c.op != nil {
		e.Template = c.op.Path
	}
	return e
}

// interfaceName returns the interface of the operation or mount; the documentation belongs to the simulator's.
func (c *requestContext) interfaceName() string {
	switch {
	case c.op != nil:
		return c.op.in.Name
	case c.mount != nil:
		return c.mount.in
	case c.Operation != "":
		return Sim.Name
	}
	return ""
}

// nodeInterface is the name of the node's interface, which has no operations.
const nodeInterface = "node"

// RecordMessage records a WebSocket message and its answer in the log and in the journal; ctx belongs to the request that opened the
// connection.
func RecordMessage(ctx context.Context, operation string, message []byte, calls []journal.CallRecord, answer journal.Body, since time.Time, p *fault.Plan) {
	c, ok := ctx.Value(contextKey{}).(*requestContext)
	if ok {
		c.use(operation, time.Since(since))
	}
	if !ok || !c.Recorded {
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
