package rest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/mux"

	"snowglobe/handlers/fault"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest/pagetoken"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
)

// Options configures a server; every zero value is a default, except for the clock and the key.
type Options struct {
	Clock    *sim.Clock
	Revision func() int64      // counts the changes of the world; nil for no caching
	WorldKey []byte            // 32 bytes of the world's own, for page tokens
	Commits  pagetoken.Commits // check page tokens; nil if the world never reverts
	Begin    int64             // the world's clock at the first of them
	Dialect  DialectMode
	Version  string // of the simulator, for the documentation

	Log     *slog.Logger // failures, and the access log at level info; nil logs nothing
	Now     func() time.Time
	MaxBody int64 // bytes, default 1 MiB

	// MaxHead limits a request's target and headers together, default 64 KiB.
	MaxHead int

	// Journal records every request and response, for the world of this name; nil for none.
	Journal *journal.Journal
	World   string

	// Faults may make responses fail; nil for none.
	Faults *fault.Set

	// ChainNames returns the network of a chain and all its names, by one of them.
	ChainNames func(network, name string) (of string, names []string)

	// Indexed returns the server for a chain's lagging index, by the chain's names, valid until the caller calls done; nil if the index
	// does not lag. Without names, the path and the network, if known, decide which chains may be meant. It is called only while Behind
	// reports that some index lags.
	Behind  func() bool
	Indexed func(ctx context.Context, path, network string, chains []string) (of *Server, done func(), err error)

	// Observe is called for every response: with the operation, or "" for none, the HTTP status and the duration.
	Observe func(operation string, status int, took time.Duration)

	// Usage is called for every response of the interfaces that the live services have.
	Usage func(*Use)

	RateLimit  int // requests per minute and client; 0 for no limit
	Keys       *Keys
	RequireKey bool

	// Record is called before an operation runs that is no Read. The operation runs in the context that it returns; done gets the answer. It may be nil.
	Record func(ctx context.Context, id, method, path string, body []byte) (within context.Context, done func(answer any, failed bool))

	// Permit decides who may change the world; nil is the rule of a server on loopback.
	Permit *permit.Rule

	// Alias returns the blockchain id for an alias on a network, or on any if none is named; it returns other names unchanged.
	Alias func(network, name string) string

	// NetworkOf returns the network of a chain, for keys restricted to one network.
	NetworkOf func(schema.ChainID) (network string, ok bool)

	// Same converts a value with several equivalent forms to one, so that a page token fits however the client names the chain.
	Same func(schema.ChainID) schema.ChainID
}

// Server routes requests to operations and to mounted handlers. Call Register and Mount before the first request.
type Server struct {
	opts   Options
	tokens *pagetoken.Codec
	access *access
	cache  *responseCache

	routes *routes
	mounts []mount
	docs   *documentation

	name  sync.Once
	names []string // of all operations

	ignored sync.Map     // operations and parameters that it was logged of, as "operation name"
	logged  atomic.Int32 // how many these are

	build    sync.Once
	mux      *mux.Router
	requests atomic.Uint64
}

// mount is a handler that serves a whole path.
type mount struct {
	name, prefix string
	in           string // the interface's name
	handler      http.Handler
	unrecorded   bool
}

// New makes a server without endpoints.
func New(o Options) (*Server, error) {
	if len(o.WorldKey) < 32 {
		return nil, fmt.Errorf("world key has %d bytes: at least 32 are needed", len(o.WorldKey))
	}
	if o.Clock == nil {
		return nil, fmt.Errorf("server needs the world's clock")
	}
	o.fill()
	tokens, err := pagetoken.New(o.WorldKey, o.Clock.Unix, o.Commits, o.Begin)
	if err != nil {
		return nil, fmt.Errorf("page tokens: %w", err)
	}
	s := &Server{opts: o, tokens: tokens, access: newAccess(&o), cache: newResponseCache(), routes: &routes{byID: map[string]*operation{}}}
	s.docs = newDocumentation(s.routes, o.Version)
	return s, nil
}

func (o *Options) fill() {
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelError + 1}))
	}
	if o.Alias == nil {
		o.Alias = func(_, name string) string { return name }
	}
	if o.Journal == nil {
		o.Journal = journal.New(0, nil, nil)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MaxBody == 0 {
		o.MaxBody = 1 << 20
	}
	if o.MaxHead == 0 {
		o.MaxHead = 64 << 10
	}
}

// Register adds the operations of an interface. It returns an error for an invalid declaration.
func (s *Server) Register(in *Interface, ops ...Operation) error {
	for _, o := range ops {
		op, err := compile(in, o)
		if err != nil {
			return err
		}
		if err := s.routes.add(op); err != nil {
			return err
		}
	}
	return nil
}

// Mount serves everything at and below a path with its own handler, or only the path / itself; name labels it in the access log. The server
// adds request ids, the access log and protection from panics. The rest is up to the handler: it gets the path as the client wrote it,
// without the dialect's prefix, and applies its own cross-origin rules.
func (s *Server) Mount(name, prefix string, h http.Handler) {
	m := mount{name: name, prefix: strings.TrimSuffix(prefix, "/"), in: Sim.Name, handler: h}
	switch {
	case name == Etherscan, name == Sourcify:
		m.in = name
	case strings.HasPrefix(prefix, "/v"):
		m.in = Data.Name
	case strings.HasSuffix(m.prefix, "/ext"):
		m.in = nodeInterface
	}
	s.mounts = append(s.mounts, m)
}

// MountPages mounts the simulator's pages, whose requests the journal leaves out because no client sends them.
func (s *Server) MountPages(prefix string, h http.Handler) {
	s.Mount("pages", prefix, h)
	s.mounts[len(s.mounts)-1].unrecorded = true
}

// Close drops the cached responses, which retain the world.
func (s *Server) Close() { s.cache.group.Suspend() }

// router builds the routes once, when everything is registered.
func (s *Server) router() *mux.Router {
	s.build.Do(func() {
		r := mux.NewRouter().SkipClean(true)
		r.HandleFunc("/openapi.json", s.serveOpenAPI)
		s.routes.addTo(r)
		r.NotFoundHandler = http.HandlerFunc(s.notFound)
		s.mux = r
	})
	return s.mux
}

// mounted returns the mount of a path, or nil. It ignores repeated leading slashes.
func (s *Server) mounted(path string) *mount {
	path = "/" + strings.TrimLeft(path, "/")
	for i := range s.mounts {
		rest, ok := strings.CutPrefix(path, s.mounts[i].prefix)
		if ok && (rest == "" || rest[0] == '/' && (s.mounts[i].prefix != "" || rest == "/")) {
			return &s.mounts[i]
		}
	}
	return nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := s.newRequestContext(w, r)
	defer c.large.Release()
	defer c.finish()
	c.Header()["X-Content-Type-Options"] = nosniff // on every response: mounted handlers repeat clients' texts, too
	if m := s.mounted(c.request.URL.Path); m != nil {
		c.mount, c.Operation, c.Recorded = m, m.name, c.Recorded && !m.unrecorded
		c.serveMount(c.request.WithContext(context.WithValue(c.request.Context(), contextKey{}, c)))
		return
	}
	c.allowOrigins()
	if headSize(r) > s.opts.MaxHead {
		c.fail(tooMuchHead(s.opts.MaxHead), false)
		return
	}
	c.request = normalizePath(c.request)
	s.router().ServeHTTP(c, c.request)
}

// serveMount passes a request to the mounted handler, unless a fault prevents it.
func (c *requestContext) serveMount(r *http.Request) {
	serve := func(r *http.Request) { c.mount.handler.ServeHTTP(c, r) }
	if c.interfaceName() != Sim.Name && c.server.mayFail(r) {
		f, r := c.faultOfMount(r)
		c.withFault(f, r, serve)
		return
	}
	serve(r)
}

func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	c := w.(*requestContext)
	switch {
	case isPreflight(r):
		c.preflight(r, r.Header.Get("Access-Control-Request-Method"))
	case s.mayFail(r) && !strings.HasPrefix(r.URL.Path, "/sim/"):
		c.withFault(c.faultOfOperation(r), r, c.failUnknown)
	default:
		c.failUnknown(r)
	}
}

// failUnknown responds for an unknown path.
func (c *requestContext) failUnknown(r *http.Request) {
	s := c.server
	if c.dialect == schema.Upstream {
		c.fail(cannot(r.Method, r.RequestURI), false)
		return
	}
	e := cannot(r.Method, c.pathAsSent(r.URL.Path))
	if near := s.routes.suggest(r.Method, r.URL.Path, c.pathAsSent); near != "" {
		e.Problems[0] += ": did you mean " + near + "?"
	}
	c.fail(e, false)
}

var (
	anyOrigin = []string{"*"}
	exposed   = []string{"ratelimit-policy, ratelimit-limit, ratelimit-remaining, ratelimit-reset, retry-after, etag, x-request-id, content-disposition, content-range, accept-ranges"}
)

// isPreflight recognises a browser's CORS preflight.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
}

// preflight is written by hand because rs/cors lists only the requested method. It allows the path's methods and all headers that the page
// asks for.
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

// checkClass rejects clients that may not change the world. A page must declare the body as JSON, which makes its browser send a preflight.
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

// allowed reports whether the requesting page may call an operation.
func (c *requestContext) allowed(r *http.Request, op *operation) bool {
	return c.server.opts.Permit.CheckPage(r, op.Class) == nil
}
