package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"snowglobe/fixtures/spelling"
	"snowglobe/handlers/fault"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/openrpc"
	"snowglobe/handlers/permit"
	"snowglobe/sim/store"
)

// Options configures a server.
type Options struct {
	MaxBody int64        // largest request in bytes
	Permit  *permit.Rule // decides who may call which methods; nil for the rule of a server on loopback

	// Discover makes the OpenRPC document of the methods served at a request's path; nil for none.
	Discover func(r *http.Request, methods []openrpc.Method) any

	// Batch limits the calls of a batch together; nil for no limits.
	Batch func(ctx context.Context) (context.Context, context.CancelFunc)

	// Enter admits a WebSocket message until leave is called; nil admits all.
	Enter func(ctx context.Context) (within context.Context, leave func(), err error)

	Memory *Memory // remembers results for repeated calls; nil for none

	// Record is called before a method that may change the world. The method runs in the returned context, and done gets the result. Record may be nil.
	Record func(ctx context.Context, method string, params []byte) (within context.Context, done func(result any, failed bool))

	// Serves reports whether to answer a method now; nil answers all. A call of another one gets the answer for a method that does not exist.
	Serves func(method string) bool
}

// Server runs JSON-RPC calls: an EVM chain's as go-ethereum's server does, or those of the node's services as avalanchego's does.
type Server struct {
	Options
	protocol
	manners
	capabilities *Capabilities
	subscribing  *Capabilities // over WebSocket
	methods      map[string]*method
	names        []string

	open     context.Context // ends with Close
	close    context.CancelFunc
	patience time.Duration // with a client that does not read a WebSocket message
}

// manners describes the style of HTTP answers.
type manners struct {
	mediaType []string
	bare      bool // whether answers to requests that do not run lack a newline
	counted   bool // whether a request's texts are counted
}

// protocol holds the differences between the two kinds of servers.
type protocol interface {
	manners() manners
	// read reads a request's body.
	read(body []byte) *Request
	// accepts answers an HTTP request that contains no calls, and returns false for it.
	accepts(w http.ResponseWriter, r *http.Request, body []byte) bool
	// run runs a call's method.
	run(x *exchange, ctx context.Context, c *Call) (any, error)
	// describe converts an error to its form for clients; encode writes it.
	describe(err error) *Error
	encode(e *Error) []byte
	// open and shut write the parts of an answer around its result or error.
	open(b []byte, id json.RawMessage) []byte
	shut(b []byte, id json.RawMessage) []byte
}

// discover is OpenRPC's service discovery method (https://spec.open-rpc.org/#service-discovery-method). avalanchego does not have it, so it
// is not among the methods listed.
const discover = "rpc.discover"

func newServer(o Options, p protocol, methods map[string]*method, described func() []openrpc.Method) *Server {
	s := &Server{Options: o, protocol: p, manners: p.manners(), methods: methods, patience: messageTimeout}
	s.open, s.close = context.WithCancel(context.Background())
	s.names = slices.Sorted(maps.Keys(methods))
	s.capabilities = &Capabilities{HTTP: []string{http.MethodPost}, RPC: s.names, Methods: described, Serves: o.Serves}
	for name, m := range methods {
		m.class = permit.Of(name)
		m.remembered = o.Memory != nil && o.Memory.Methods[name]
	}
	if o.Discover != nil {
		s.methods[discover] = &method{name: discover}
	}
	return s
}

// New makes a server of namespaces.
func New(o Options, all ...Namespace) *Server {
	p := newPositional(all, o.Serves)
	described := func() (described []openrpc.Method) {
		for _, n := range all {
			described = append(described, openrpc.Positional(n.Name, n.Methods)...)
		}
		return described
	}
	s := newServer(o, p, p.methods, described)
	s.subscribing = &Capabilities{HTTP: []string{http.MethodGet}, RPC: s.names, Methods: described, Serves: o.Serves}
	s.capabilities.RPC = slices.DeleteFunc(slices.Clone(s.names), func(name string) bool { return s.methods[name].signature == nil })
	return s
}

// Capabilities returns the server's methods over HTTP.
func (s *Server) Capabilities() *Capabilities { return s.capabilities }

// Close closes every WebSocket connection with its subscriptions.
func (s *Server) Close() { s.close() }

// Repeated returns the number of calls answered with remembered results.
func (s *Server) Repeated() uint64 { return s.Memory.given() }

// name returns the label of a request in logs and metrics: its method, or batch. All unknown methods share one label.
func (s *Server) name(r *Request) string {
	switch {
	case r.batch:
		return "batch"
	case len(r.Calls) == 1 && r.Calls[0].method != nil:
		return r.Calls[0].method.name
	}
	return "unknown method"
}

// parse reads a body and looks up its methods.
func (s *Server) parse(body []byte) *Request {
	r := s.read(body)
	for i := range r.Calls {
		c := &r.Calls[i]
		c.method = s.methods[c.Method]
		if c.method != nil && s.Serves != nil && !s.Serves(c.Method) {
			c.method, c.withheld = nil, true
		}
	}
	return r
}

// exchange is a request being answered.
type exchange struct {
	*Request
	from     *http.Request // whose client is judged: over WebSocket, the request that opened the connection
	faults   map[int]*fault.Action
	conn     *connection          // nil over HTTP
	begin    []func()             // subscriptions to start once the answer is sent
	records  []journal.CallRecord // nil if they are not recorded
	response int                  // bytes of results and errors so far

	judged bool
	denied error
}

// answer runs a request. A request that wants no answer gets none.
func (s *Server) answer(ctx context.Context, x *exchange) *output {
	o := &output{}
	if x.problem != nil {
		if s.expects(x) {
			s.refuse(o, x)
		}
		return o
	}
	if x.batch {
		var end, cancel context.CancelFunc
		ctx, cancel = s.limit(ctx, x)
		defer cancel()
		if s.Batch != nil {
			ctx, end = s.Batch(ctx)
			defer end()
		}
	}
	separator := byte('[')
	for i := range x.Calls {
		if x.batch && ctx.Err() == context.Canceled {
			break // the client has left
		}
		c := &x.Calls[i]
		result, failure := s.result(ctx, x, i)
		if failure == errTimeout || failure == errTooLarge {
			o.bare = true
		}
		if failure != nil && x.records != nil {
			x.records[i].Error = s.recorded(failure, c)
		}
		if c.kind == notification || c.kind == ignored {
			continue
		}
		if x.batch {
			o.text = append(o.text, separator)
			separator = ','
		}
		x.response += s.write(o, c.ID, &result, failure)
	}
	if separator == ',' {
		o.text = append(o.text, ']')
	}
	return o
}

// expects reports whether the client gets an error about its request: a service needs an id to answer.
func (s *Server) expects(x *exchange) bool {
	return len(x.Calls) == 0 || x.Calls[0].kind == call || x.problem.Code == codeParse || x.batch
}

// refuse answers a request as a whole.
func (s *Server) refuse(o *output, x *exchange) {
	if o.bare = true; x.listed {
		o.text = append(o.text, '[')
	}
	s.write(o, x.id, &Result{}, x.problem)
	if x.listed {
		o.text = append(o.text, ']')
	}
}

// write appends a call's answer and returns the length of its result or error.
func (s *Server) write(o *output, id json.RawMessage, r *Result, failure *Error) int {
	name, body := `"result":`, *r
	if failure != nil {
		name, body = `"error":`, Bytes(s.encode(failure))
	}
	if o.text == nil {
		o.text = make([]byte, 0, min(body.size, small)+len(id)+around)
	}
	o.text = append(s.protocol.open(o.text, id), name...)
	o.add(&body)
	o.text = s.shut(o.text, id)
	return body.size
}

// limit derives a request's timeout from the HTTP server's write timeout, as go-ethereum does.
func (s *Server) limit(ctx context.Context, x *exchange) (context.Context, context.CancelFunc) {
	if server, ok := ctx.Value(http.ServerContextKey).(*http.Server); ok && server.WriteTimeout > 0 && x.conn == nil {
		return context.WithTimeout(ctx, max(server.WriteTimeout-beforeTimeout, 0))
	}
	return ctx, func() {}
}

// beforeTimeout is the time between the client's timeout error and the HTTP server's own timeout.
const beforeTimeout = 100 * time.Millisecond

// result runs the call at a position.
func (s *Server) result(ctx context.Context, x *exchange, place int) (Result, *Error) {
	c := &x.Calls[place]
	switch {
	case x.response > batchBytes && x.batch:
		return Result{}, errTooLarge
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Result{}, errTimeout
	case c.kind == ignored:
		return Result{}, nil
	case c.kind == invalid:
		return Result{}, errInvalid
	}
	if err := s.permits(x, c); err != nil {
		return Result{}, s.describe(err)
	}
	if a := x.faults[place]; a != nil {
		if a.RPCError != nil {
			return Result{}, &Error{Code: int(a.RPCError.Code), Message: a.RPCError.Message, Data: a.RPCError.Data}
		}
		if !a.RPCResult.IsZero() {
			return Bytes(a.RPCResult.JSON), nil
		}
		ctx = fault.WithAction(ctx, a)
	}
	known, key, remembers := s.Memory.recall(ctx, c)
	if known != nil && x.faults[place] == nil {
		return Bytes(known), nil
	}
	if !x.batch {
		var cancel context.CancelFunc
		ctx, cancel = s.limit(ctx, x)
		defer cancel()
	}
	if x.records != nil && executes[c.Method] {
		ctx = context.WithValue(ctx, noteKey{}, &x.records[place])
	}
	r, failure := s.carryOut(ctx, x, c)
	if a := x.faults[place]; a != nil && a.MissingLogs > 0 && failure == nil {
		return withoutLogs(ctx, &r, a.MissingLogs)
	}
	if remembers && failure == nil {
		s.Memory.keep(ctx, &key, &r)
	}
	return r, failure
}

// withoutLogs leaves the newest logs out of a result.
func withoutLogs(ctx context.Context, r *Result, n int) (Result, *Error) {
	var all bytes.Buffer
	if err := r.writeTo(ctx, &all); err != nil {
		return Result{}, errInternal
	}
	return Bytes(fault.WithoutLogs(all.Bytes(), n)), nil
}

// executes lists the methods that may add to the record of their call with Note.
var executes = map[string]bool{"eth_call": true, "eth_estimateGas": true}

type noteKey struct{}

// Note adds to the journal's record of the call that is running, if it is recorded.
func Note(ctx context.Context, add func(*journal.CallRecord)) {
	if r, ok := ctx.Value(noteKey{}).(*journal.CallRecord); ok {
		add(r)
	}
}

// carryOut runs a call's method.
func (s *Server) carryOut(ctx context.Context, x *exchange, c *Call) (Result, *Error) {
	var result any
	var err error
	if c.method != nil && c.Method == discover {
		result = s.Discover(x.from, s.capabilities.Methods())
	} else if c.method != nil && c.method.class != permit.Read && s.Record != nil {
		within, done := s.Record(ctx, c.Method, c.Params)
		result, err = s.run(x, within, c)
		done(result, err != nil)
	} else {
		result, err = s.run(x, ctx, c)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return Result{}, errTimeout
	}
	if err != nil {
		return Result{}, s.errorOf(err)
	}
	r, err := resultOf(result)
	switch {
	case store.Internal(err):
		return Result{}, errInternal
	case err != nil:
		return Result{}, &Error{Code: codeInternal, Message: err.Error()}
	}
	return r, nil
}

// errorOf returns an error for the client. Only the log has the details of an internal failure.
func (s *Server) errorOf(err error) *Error {
	if store.Internal(err) {
		return errInternal
	}
	return s.describe(err).withAdvice(err)
}

// permits rejects a call that its client may not make.
func (s *Server) permits(x *exchange, c *Call) error {
	if c.withheld || c.method != nil && c.method.class != permit.Control || c.method == nil && permit.Of(c.Method) != permit.Control {
		return nil
	}
	if !x.judged {
		x.judged, x.denied = true, s.Permit.Check(x.from, permit.Control) // the most that a method can require
	}
	return x.denied
}

// recorded returns an error for the log and the journal. For a misspelt method it suggests a name, which the client never sees: its error is
// worded as a node words it.
func (s *Server) recorded(e *Error, c *Call) *journal.CallError {
	callError := e.recorded()
	if c.withheld {
		callError.Message += ": a node of the network does not serve it now, and --strict does as the node"
	} else if c.method == nil && c.Method != "" && len(c.Method) <= longestName {
		if near := spelling.Nearest(c.Method, s.names); near != "" {
			callError.Message += ": did you mean " + near + "?"
		}
	}
	return callError
}
