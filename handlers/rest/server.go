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

// Options are what a server needs to know; the zero value of each is its default, save the clock and the key.
type Options struct {
	Clock    *sim.Clock
	Revision func() int64      // counts the changes of the world; without it no answer is kept to be given again
	WorldKey []byte            // 32 bytes of the world's own, for page tokens
	Moments  pagetoken.Moments // by which page tokens are judged; nil where the world never goes back
	Begin    int64             // the world's clock at the first of them
	Dialect  DialectMode
	Version  string // of the simulator, for the documentation

	Log     *slog.Logger // failures, and the access log at level info; nothing is logged by default
	Now     func() time.Time
	MaxBody int64 // bytes, 1 MiB by default

	// MaxHead is the most that a request's target and headers may have together, 64 KiB by default.
	MaxHead int

	// Journal takes down every request with its answer, for the world of this name; nil for none.
	Journal *journal.Journal
	World   string

	// Faults are what answers may fail with; nil for none.
	Faults *fault.Set

	// ChainNames tells the network of a chain, and every name that it has there, by one of them.
	ChainNames func(network, name string) (of string, names []string)

	// Indexed is the server of the world as the index of a chain, by its names, has it, until done is called; nil when the index
	// is not behind. Without names the path and the network, if it is known, tell whether chains may be meant.
	// It is asked while Behind says that some chain's is.
	Behind  func() bool
	Indexed func(ctx context.Context, path, network string, chains []string) (of *Server, done func(), err error)

	// Observe is called for every answer: the operation, or nothing when there was none, the HTTP status and the time it took.
	Observe func(operation string, status int, took time.Duration)

	// Usage is called for every answer of the interfaces that the live services have.
	Usage func(*Use)

	RateLimit  int // requests per minute and client; unlimited by default
	Keys       *Keys
	RequireKey bool

	// Permit says who may change the world; nil is the rule of a server on loopback.
	Permit *permit.Rule

	// Alias answers the blockchain id that a name stands for on a network, or on any when none is named, or the name
	// itself.
	Alias func(network, name string) string

	// NetworkOf names the network of a chain, for keys that are limited to one network.
	NetworkOf func(schema.ChainID) (network string, ok bool)

	// Same is one way to write what may be written in several, so that a page token fits however the chain is named.
	Same func(schema.ChainID) schema.ChainID
}

// Server routes requests to operations and to mounted handlers. Register and Mount come before the first request.
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

	build    sync.Once
	mux      *mux.Router
	requests atomic.Uint64
}

// mount is a handler that is not made of operations.
type mount struct {
	name, prefix string
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
	tokens, err := pagetoken.New(o.WorldKey, o.Clock.Unix, o.Moments, o.Begin)
	if err != nil {
		return nil, fmt.Errorf("page tokens: %w", err)
	}
	s := &Server{opts: o, tokens: tokens, access: newAccess(&o), cache: newResponseCache(), routes: &routes{byID: map[string]*operation{}}}
	s.docs = newDocumentation(s.routes, o.Version)
	return s, nil
}

func (o *Options) fill() {
	if o.Dialect == "" {
		o.Dialect = DialectAuto
	}
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

// Register adds operations of an interface. A declaration that cannot be served is an error.
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

// Mount serves everything at and below a path with a handler of its own, or only the path / itself; name stands for it in the access log. Such a
// handler gets request ids, the access log and protection from panics, and does the rest itself: the path reaches it as
// the client wrote it, without the dialect's prefix, and cross-origin rules are its own.
func (s *Server) Mount(name, prefix string, h http.Handler) {
	s.mounts = append(s.mounts, mount{name: name, prefix: strings.TrimSuffix(prefix, "/"), handler: h})
}

// MountPages is Mount for the pages of the simulator, whose requests the journal leaves out: they are not what clients ask.
func (s *Server) MountPages(prefix string, h http.Handler) {
	s.Mount("pages", prefix, h)
	s.mounts[len(s.mounts)-1].unrecorded = true
}

// Close forgets the answers that are kept, which hold on to the world.
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

// mounted is the mount that a path belongs to, or nil. Doubled slashes in front do not hide it.
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
	c.Header()["X-Content-Type-Options"] = nosniff // whatever answers: what is mounted repeats texts of clients, too
	if m := s.mounted(c.request.URL.Path); m != nil {
		c.mount, c.mounted, c.keeps = m, m.name, c.keeps && !m.unrecorded
		c.serveMount(c.request.WithContext(c.context(c.request)))
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

// serveMount gives a request to the mounted handler, unless a fault keeps it.
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

// failUnknown answers for a path that does not exist.
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

// checkClass keeps those from changing the world who may not. A page may do so only with a body that is declared as JSON, which
// makes its browser ask first.
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

// allowed reports whether the page that a request comes from may call an operation.
func (c *requestContext) allowed(r *http.Request, op *operation) bool {
	return c.server.opts.Permit.CheckPage(r, op.Class) == nil
}
