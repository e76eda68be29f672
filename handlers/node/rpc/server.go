package rpc

import (
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
)

// Options are what a server needs to know.
type Options struct {
	MaxBody int64        // bytes of a request
	Permit  *permit.Rule // who may call which methods; nil for the rule of a server on loopback

	// Discover is the OpenRPC document about methods, for a request to where they are served; nil for none.
	Discover func(r *http.Request, methods []openrpc.Method) any

	// Batch bounds what the calls of a batch may use together; nil for no bounds.
	Batch func(ctx context.Context) (context.Context, context.CancelFunc)

	// Enter lets a message of a WebSocket connection in, until leave is called; nil lets everyone in.
	Enter func(ctx context.Context) (within context.Context, leave func(), err error)

	Memory *Memory // of results, for who asks the same again; nil for none
}

// Server carries out calls of JSON-RPC: those of an EVM chain as go-ethereum's server does, or those of the node's services as avalanchego's do.
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
	patience time.Duration // with a client that does not take a WebSocket message
}

// manners are how answers look over HTTP.
type manners struct {
	mediaType []string
	bare      bool // whether what is not carried out is answered without a newline
	counted   bool // whether the texts of a request are counted
}

// protocol is what servers of the two kinds do each in its own way.
type protocol interface {
	manners() manners
	// read reads the body of a request.
	read(body []byte) *Request
	// accepts answers a request over HTTP that is none for calls, and says whether it was one.
	accepts(w http.ResponseWriter, r *http.Request, body []byte) bool
	// run calls the method of a call.
	run(x *exchange, ctx context.Context, c *Call) (any, error)
	// describe is an error as clients are told it, and encode writes it.
	describe(err error) *Error
	encode(e *Error) []byte
	// open and shut write what stands around the result or the error of an answer.
	open(b []byte, id json.RawMessage) []byte
	shut(b []byte, id json.RawMessage) []byte
}

// discover is the method by which OpenRPC has a server tell of itself (https://spec.open-rpc.org/#service-discovery-method).
// No avalanchego has it: it is beside the methods that are listed.
const discover = "rpc.discover"

func newServer(o Options, p protocol, methods map[string]*method, described func() []openrpc.Method) *Server {
	s := &Server{Options: o, protocol: p, manners: p.manners(), methods: methods, patience: messageTimeout}
	s.open, s.close = context.WithCancel(context.Background())
	s.names = slices.Sorted(maps.Keys(methods))
	s.capabilities = &Capabilities{HTTP: []string{http.MethodPost}, RPC: s.names, Methods: described}
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
	p := newPositional(all)
	described := func() (described []openrpc.Method) {
		for _, n := range all {
			described = append(described, openrpc.Positional(n.Name, n.Methods)...)
		}
		return described
	}
	s := newServer(o, p, p.methods, described)
	s.subscribing = &Capabilities{HTTP: []string{http.MethodGet}, RPC: s.names, Methods: described}
	s.capabilities.RPC = slices.DeleteFunc(slices.Clone(s.names), func(name string) bool { return s.methods[name].signature == nil })
	return s
}

// Capabilities are the methods of the server over HTTP.
func (s *Server) Capabilities() *Capabilities { return s.capabilities }

// Close ends every WebSocket connection with its subscriptions.
func (s *Server) Close() { s.close() }

// Repeated is how many calls were answered with results that were remembered.
func (s *Server) Repeated() uint64 { return s.Memory.given() }

// name is what a request is logged and counted by: the method that it calls, or batch. What the server does not have has one name.
func (s *Server) name(r *Request) string {
	switch {
	case r.batch:
		return "batch"
	case len(r.Calls) == 1 && r.Calls[0].method != nil:
		return r.Calls[0].method.name
	}
	return "unknown method"
}

// parse reads a body, and finds the methods.
func (s *Server) parse(body []byte) *Request {
	r := s.read(body)
	for i := range r.Calls {
		r.Calls[i].method = s.methods[r.Calls[i].Method]
	}
	return r
}

// exchange is a request on its way.
type exchange struct {
	*Request
	from     *http.Request // by which the client is judged: over WebSocket that which opened the connection
	faults   map[int]*fault.Action
	conn     *connection          // nil over HTTP
	begin    []func()             // subscriptions, once the answer was sent
	records  []journal.CallRecord // nil where nobody takes them down
	response int                  // bytes of the results and errors so far

	judged bool
	denied error
}

// answer carries out a request. There is none to what wants none.
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

// expects says whether the client is told of a problem with its request: to a service that would have to know whom to tell.
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

// write adds the answer to a call, and says how long its result or error is.
func (s *Server) write(o *output, id json.RawMessage, r *Result, failure *Error) int {
	name, told := `"result":`, *r
	if failure != nil {
		name, told = `"error":`, Bytes(s.encode(failure))
	}
	if o.text == nil {
		o.text = make([]byte, 0, min(told.size, small)+len(id)+around)
	}
	o.text = append(s.protocol.open(o.text, id), name...)
	o.add(&told)
	o.text = s.shut(o.text, id)
	return told.size
}

// limit bounds the time of a request by what the HTTP server gives an answer, as go-ethereum does.
func (s *Server) limit(ctx context.Context, x *exchange) (context.Context, context.CancelFunc) {
	if server, ok := ctx.Value(http.ServerContextKey).(*http.Server); ok && server.WriteTimeout > 0 && x.conn == nil {
		return context.WithTimeout(ctx, max(server.WriteTimeout-beforeTimeout, 0))
	}
	return ctx, func() {}
}

// beforeTimeout is how long before the HTTP server gives up an answer a client is told so.
const beforeTimeout = 100 * time.Millisecond

// result carries out a call, by its place.
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
	if known != nil {
		return Bytes(known), nil
	}
	if !x.batch {
		var cancel context.CancelFunc
		ctx, cancel = s.limit(ctx, x)
		defer cancel()
	}
	r, failure := s.carryOut(ctx, x, c)
	if remembers && failure == nil {
		s.Memory.keep(ctx, &key, &r)
	}
	return r, failure
}

// carryOut calls the method of a call.
func (s *Server) carryOut(ctx context.Context, x *exchange, c *Call) (Result, *Error) {
	var result any
	var err error
	if c.method != nil && c.Method == discover {
		result = s.Discover(x.from, s.capabilities.Methods())
	} else {
		result, err = s.run(x, ctx, c)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return Result{}, errTimeout
	}
	if err != nil {
		return Result{}, s.describe(err)
	}
	r, err := resultOf(result)
	if err != nil {
		return Result{}, &Error{Code: codeInternal, Message: err.Error()}
	}
	return r, nil
}

// permits refuses a call that its client may not make.
func (s *Server) permits(x *exchange, c *Call) error {
	if c.method != nil && c.method.class != permit.Control || c.method == nil && permit.Of(c.Method) != permit.Control {
		return nil
	}
	if !x.judged {
		x.judged, x.denied = true, s.Permit.Check(x.from, permit.Control) // the most that a method can ask for
	}
	return x.denied
}

// recorded is an error as the log and the journal tell it: of a method that may be misspelt with the one that may be meant. The client gets a node's words.
func (s *Server) recorded(e *Error, c *Call) *journal.CallError {
	told := e.recorded()
	if c.method == nil && c.Method != "" && len(c.Method) <= longestName {
		if near := spelling.Nearest(c.Method, s.names); near != "" {
			told.Message += ": did you mean " + near + "?"
		}
	}
	return told
}
