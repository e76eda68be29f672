package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"snowglobe/handlers/fault"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/rest/pagetoken"
	"snowglobe/handlers/rest/schema"
)

// Located is a mounted handler that can name the network and the chain of a request.
type Located interface {
	Locate(r *http.Request) (located *http.Request, network, chain string)
}

// Caller is a mounted handler whose requests contain calls.
type Caller interface {
	// Read returns the calls in a request's body, and a request that carries them.
	Read(r *http.Request, body []byte) (*http.Request, []fault.Call)
}

// faultBody bounds the part of a body that is searched for calls and addresses. It is more than any mounted handler reads.
const faultBody = 8 << 20

// mayFail reports whether faults may apply to a request. They never apply to preflights or to requests of the simulator's own pages.
func (s *Server) mayFail(r *http.Request) bool {
	return !IsInside(r.Context()) && (s.opts.Faults.Any() || r.Header[fault.Header] != nil) && r.Method != http.MethodOptions
}

// faultOfOperation collects what rules look at in a request for an operation, or for an unknown path.
func (c *requestContext) faultOfOperation(hr *http.Request) *fault.Request {
	f := c.faultRequest(hr)
	f.Paged = c.op != nil && c.op.pager
	for name, value := range mux.Vars(hr) {
		f.name(c.server, name, value)
	}
	if hr.URL.RawQuery != "" {
		for name, values := range hr.URL.Query() {
			for value := range strings.SplitSeq(strings.Join(values, ","), ",") {
				f.name(c.server, name, value)
			}
		}
	}
	return f.Request
}

// faultOfMount collects what rules look at in a request for a mounted handler. It reads the body and returns the request to serve.
func (c *requestContext) faultOfMount(r *http.Request) (*fault.Request, *http.Request) {
	f := c.faultRequest(r)
	if l, ok := c.mount.handler.(Located); ok {
		var chain string
		r, f.Network, chain = l.Locate(r)
		f.chain(c.server, chain)
		f.Operation = c.operation()
	}
	if r.Body == nil || upgrades(r) {
		return f.Request, r
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, faultBody))
	rest := io.Reader(r.Body)
	if err != nil {
		rest = failedReader{err}
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), rest), r.Body}
	f.Text += string(body)
	c.KeepBody(body)
	if caller, ok := c.mount.handler.(Caller); ok && err == nil && len(body) < faultBody {
		r, f.Calls = caller.Read(r, body)
	}
	return f.Request, r
}

// failedReader fails as the client's body did.
type failedReader struct{ err error }

func (f failedReader) Read([]byte) (int, error) { return 0, f.err }

func upgrades(r *http.Request) bool { return r.Header.Get("Upgrade") != "" }

// faulted collects what rules look at.
type faulted struct{ *fault.Request }

func (c *requestContext) faultRequest(r *http.Request) faulted {
	return faulted{&fault.Request{
		Interface: c.interfaceName(), Operation: c.operation(), Method: r.Method, Path: r.URL.Path, Host: journal.HostName(r.Host),
		Keys: keysOf(r), Header: r.Header, Text: r.URL.Path + "?" + r.URL.RawQuery,
	}}
}

// name records a parameter that may name a network or a chain.
func (f faulted) name(s *Server, name, value string) {
	if network, ok := schema.NetworkName(value); ok && name == "network" {
		f.Network = network
	} else if strings.Contains(strings.ToLower(name), "chain") {
		f.chain(s, value)
	}
}

func (f faulted) chain(s *Server, name string) {
	if s.opts.ChainNames == nil || name == "" {
		return
	}
	network, names := s.opts.ChainNames(f.Network, name)
	f.Chains = append(f.Chains, names...)
	if f.Network == "" {
		f.Network = network
	}
}

// indexed returns the handler that serves a request from its chain's lagging index, nil if the index doesn't lag.
func (c *requestContext) indexed(r *Request) (handle func(*Request) (any, error), done func(), err error) {
	if c.server.opts.Behind == nil || !c.server.opts.Behind() || c.op.in == Sim || c.op.Method != http.MethodGet || c.op.Live {
		return nil, nil, nil
	}
	f := c.faultOfOperation(r.HTTP)
	of, done, err := c.server.opts.Indexed(r.Context(), r.HTTP.URL.Path, f.Network, f.Chains)
	if of == nil || err != nil {
		return nil, nil, err
	}
	op := of.routes.byID[c.op.ID]
	if op == nil { // it concerns the server, not indexed data
		done()
		return nil, nil, nil
	}
	return op.Handle, done, nil
}

// withFault applies the rules to a request and serves it.
func (c *requestContext) withFault(f *fault.Request, r *http.Request, serve func(*http.Request)) {
	r = r.WithContext(c.server.opts.Faults.Scheduled(r.Context()))
	plan, err := c.server.plan(f, r)
	if err != nil {
		c.fail(BadRequest(err.Error()), c.op != nil && c.op.in.ArrayErrors)
		return
	}
	if plan == nil {
		serve(r)
		return
	}
	c.fault, r = plan.Text, r.WithContext(fault.WithPlan(r.Context(), plan))
	if !fault.Wait(r.Context(), c.ResponseWriter, plan.Delay) {
		return
	}
	switch a := plan.Whole; {
	case plan.After != nil:
		c.serveAltered(&fault.Action{}, r, func(r *http.Request) {
			serve(r)
			plan.After(r.Context())
		})
	case a == nil || a.Stale || a.Alters() && upgrades(r):
		serve(r)
	case a.ShortPage:
		serve(c.shortPage(r))
	case a.PageToken == "expired":
		c.expire(r, serve)
	case a.Alters():
		c.serveAltered(a, r, serve)
	case a.Status != 0:
		c.failWith(a, r)
	default:
		c.end = func() { fault.Reset(c.ResponseWriter) }
	}
}

func (s *Server) plan(f *fault.Request, r *http.Request) (*fault.Plan, error) {
	if text := r.Header.Get(fault.Header); text != "" {
		a, err := fault.ParseHeader(text)
		if err != nil {
			return nil, err
		}
		return s.opts.Faults.Once(a, f), nil
	}
	return s.opts.Faults.Decide(f), nil
}

// serveAltered lets the handler respond and alters the response. The journal gets what the client gets.
func (c *requestContext) serveAltered(a *fault.Action, r *http.Request, serve func(*http.Request)) {
	w := &fault.Writer{ResponseWriter: c.ResponseWriter}
	c.ResponseWriter = w
	defer func() { c.ResponseWriter = w.ResponseWriter }()
	serve(fault.Plain(r))
	_ = c.release() // w takes everything
	c.ResponseWriter = w.ResponseWriter
	c.end = w.Send(r.Context(), &c.responseWriter, a, r.URL.Query().Get("pageToken"), c.keep)
}

// shortPage returns the request with half of its page size, if its operation has pages.
func (c *requestContext) shortPage(r *http.Request) *http.Request {
	if c.op == nil || !c.op.pager {
		return r
	}
	query := r.URL.Query()
	size, err := strconv.Atoi(query.Get("pageSize"))
	for _, p := range c.op.params {
		if err != nil && p.Kind == schema.KindPageSize {
			size, err = strconv.Atoi(p.Default)
		}
	}
	query.Set("pageSize", strconv.Itoa(max(size/2, 1)))
	short := *r
	at := *r.URL
	at.RawQuery = query.Encode()
	short.URL = &at
	return &short
}

// expire refuses a request's page token as too old.
func (c *requestContext) expire(r *http.Request, serve func(*http.Request)) {
	token := r.URL.Query().Get("pageToken")
	if token == "" {
		serve(r)
		return
	}
	c.allowOrigins()
	c.fail(BadRequest(fmt.Sprintf("pageToken %q %s", schema.Shorten(token), pagetoken.ErrExpired)), c.op != nil && c.op.in.ArrayErrors)
}

// failWith responds with a status and the body that the interface has for it.
func (c *requestContext) failWith(a *fault.Action, r *http.Request) {
	c.allowOrigins()
	if a.Status == http.StatusBadGateway && a.Message == "" {
		c.Header()["Content-Type"] = []string{"text/html"}
		writeBody(&c.responseWriter, r, a.Status, []byte(fault.GatewayBody))
		return
	}
	e := c.errorWith(a, r)
	if c.interfaceName() == Etherscan {
		c.failAsEtherscan(e, a, r)
		return
	}
	if c.interfaceName() != nodeInterface {
		c.fail(e, c.op != nil && c.op.in.ArrayErrors)
		return
	}
	maps.Copy(c.Header(), e.header)
	http.Error(c, strings.Join(e.Problems, "; "), a.Status)
}

// failAsEtherscan sends an error in Etherscan's envelope, a used-up limit in its words.
func (c *requestContext) failAsEtherscan(e *Error, a *fault.Action, r *http.Request) {
	maps.Copy(c.Header(), e.header)
	text := strings.Join(e.Problems, "; ")
	if a.Status == http.StatusTooManyRequests && a.Message == "" {
		text = "Max rate limit reached, please use API Key for higher rate limit"
	}
	quoted, _ := json.Marshal(text) // strings always encode
	c.Header()["Content-Type"] = jsonType
	writeBody(&c.responseWriter, r, a.Status, []byte(`{"status":"0","message":"NOTOK","result":`+string(quoted)+`}`))
}

// unlimited is the limit in the headers of a 429 from a server without one.
const unlimited = 60

func (c *requestContext) errorWith(a *fault.Action, r *http.Request) *Error {
	e := sentence(a.Status, http.StatusText(a.Status))
	switch a.Status {
	case http.StatusUnauthorized:
		e = Unauthorized("the API key is not known")
	case http.StatusForbidden:
		e = Forbidden("the API key is not for this")
	case http.StatusNotFound:
		if c.interfaceName() != nodeInterface {
			e = cannot(r.Method, c.pathAsSent(r.URL.Path))
		}
	case http.StatusInternalServerError:
		e.Problems = []string{"Internal server error"}
	case http.StatusTooManyRequests:
		limit, seconds := unlimited, int64(max(a.RetryAfter, 1))
		if c.server.opts.RateLimit > 0 {
			limit = c.server.opts.RateLimit
		}
		e = TooMany(fmt.Sprintf("the limit of %d requests per minute is used up", limit), seconds)
		e.header["Ratelimit-Policy"] = []string{strconv.Itoa(limit) + ";w=60"}
		e.header["Ratelimit-Limit"], e.header["Ratelimit-Remaining"] = []string{strconv.Itoa(limit)}, []string{"0"}
		e.header["Ratelimit-Reset"] = []string{strconv.FormatInt(seconds, 10)}
		if a.RetryAfter < 0 {
			delete(e.header, "Retry-After")
		}
	default:
		if a.RetryAfter > 0 {
			e.header = http.Header{"Retry-After": {strconv.Itoa(a.RetryAfter)}}
		}
	}
	if a.Message != "" {
		e.Problems = []string{a.Message}
	}
	return e
}

// MessageFault returns the fault for a message on a connection, nil for none. The context is that of the request that opened the connection.
func MessageFault(ctx context.Context, message []byte, calls func() []fault.Call) *fault.Plan {
	c, f := opened(ctx)
	if f == nil {
		return nil
	}
	f.Text, f.Calls = f.Text+string(message), calls()
	return c.server.opts.Faults.Decide(f)
}

// EventFault returns the fault for a notification on a connection, nil for none, and how long it waits. The context is that of the request that opened
// the connection.
func EventFault(ctx context.Context, e *fault.Event) (*fault.Action, time.Duration) {
	c, f := opened(ctx)
	if f == nil {
		return nil, 0
	}
	f.Text += e.Text
	return c.server.opts.Faults.DecideEvent(e, f)
}

// opened returns what rules see of the request that opened a connection, nil if none can apply to it.
func opened(ctx context.Context) (*requestContext, *fault.Request) {
	c, ok := ctx.Value(contextKey{}).(*requestContext)
	if !ok || !c.server.opts.Faults.Any() || c.mount == nil {
		return nil, nil
	}
	f, _ := c.faultOfMount(c.request)
	return c, f
}

// WrongPath explains why no request can have a path of the Data or Metrics API, "" if one can.
func (s *Server) WrongPath(path string) string {
	if !strings.HasPrefix(path, "/v1/") && !strings.HasPrefix(path, "/v2/") || strings.HasPrefix(path, "/v1/ext/") || strings.Contains(path, "*") {
		return ""
	}
	for _, e := range s.routes.sorted() {
		if _, fits := e.template.match(path); fits {
			return ""
		}
	}
	problem := fmt.Sprintf("no operation has the path %q", schema.Shorten(path))
	if near := s.routes.suggest(http.MethodGet, path, func(near string) string { return near }); near != "" {
		problem += ": did you mean " + near + "?"
	}
	return problem
}

// FaultNames returns the names that rules may use: operations of the Data and Metrics API and actions of Etherscan's, and JSON-RPC methods.
func (s *Server) FaultNames() (operations, methods []string) {
	for _, e := range s.Endpoints() {
		for _, name := range e.Operations {
			op := s.routes.byID[name]
			switch {
			case e.Interface == Etherscan, e.Interface == Sourcify:
				operations = append(operations, name)
			case op == nil:
				methods = append(methods, name)
			case op.in != Sim:
				operations = append(operations, name)
			}
		}
	}
	slices.Sort(methods)
	return operations, slices.Compact(methods)
}
