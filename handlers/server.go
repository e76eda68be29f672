package handlers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"snowglobe/fixtures"
	"snowglobe/handlers/control"
	"snowglobe/handlers/data"
	"snowglobe/handlers/docs"
	"snowglobe/handlers/events"
	"snowglobe/handlers/fault"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/metrics"
	"snowglobe/handlers/node"
	"snowglobe/handlers/node/eth"
	"snowglobe/handlers/openrpc"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/handlers/usage"
	"snowglobe/handlers/web"
	"snowglobe/handlers/webhook"
	"snowglobe/sim"
	"snowglobe/sim/export"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/verify"
)

// Options are what the user may choose about a server.
type Options struct {
	Version string
	Manual  *docs.Manual // of the program; nil for one without commands
	Dialect rest.DialectMode
	Network string          // of the node's paths that do not name one
	Origins control.Origins // where each network is served by itself
	Log     *slog.Logger
	Node    NodeOptions
	Data    data.Options

	RateLimit  int // requests per minute and client, 0 for no limit
	Keys       *rest.Keys
	RequireKey bool

	Stdout    io.Writer // is told, on one line, when the server answers; nil for nobody
	ReadyFile string    // is written then; empty for none
	Program   *Program  // is run then, and the server stops with it; nil for none

	Exports export.Options
	Permit  permit.Rule // who may change the world
	Mining  Mining
	Relayer bool // deliver messages between chains

	Journal *journal.Journal // of all worlds of the process; nil for one of the default size
	Events  *events.Hub      // of all worlds of the process; nil for one of this server's own
	World   string           // its name among those of the process, main when empty

	Faults []any // rules that the server is started with, as fault.ReadFile gives them

	JournalSize int // how many requests Run has the journal remember

	Webhooks webhook.Targets // where webhooks may lead

	ClockRate float64 // at which multiple of real time the clock runs, 0 for a clock that stands still
	Live      bool    // people act while the clock moves
	People    func(w *sim.World, refused func(error)) control.People
}

// NodeOptions are what the user may choose about the node.
type NodeOptions struct {
	Hosts    []string // by which it may be called, beside addresses
	Public   bool     // hide what is about one particular node
	NoIndex  bool     // without /ext/index
	Admin    bool     // serve the admin API
	Profiles string   // folder for its profiles; empty for a temporary one
}

const (
	headerTimeout   = 10 * time.Second // for a client to send its headers
	readTimeout     = 60 * time.Second // for a client to send its request
	writeTimeout    = 2 * time.Minute  // for a client to take its answer
	idleTimeout     = 2 * time.Minute
	graceTimeout    = 5 * time.Second  // for requests under way when the server stops
	metadataTimeout = 10 * time.Second // for the metadata of an NFT
	maxHeader       = 1 << 20          // the REST interfaces have a lower limit, with an error of their own
)

// Server answers requests for a world.
type Server struct {
	http.Handler
	world   *sim.World
	exports *export.Jobs
	clock   *control.ClockRate
	hooks   *webhook.Deliverer
	node    *node.Node
	log     *slog.Logger
	events  *events.Hub
	name    string // of the world
	index   *index
}

// ServeHTTP answers a request, once the world does not go back. On a WebSocket that is so for each message.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		s.Handler.ServeHTTP(w, r)
		return
	}
	ctx, leave, err := s.world.Gate.Enter(r.Context())
	if err != nil {
		return // the client has gone away
	}
	defer leave()
	s.Handler.ServeHTTP(w, r.WithContext(ctx))
}

// Close ends the index that is behind, the subscriptions of the node's clients, and their WebSocket connections.
func (s *Server) Close() {
	s.node.Close()
	if err := s.index.close(); err != nil {
		s.log.Error("the copy that the index reads is left behind", "error", err)
	}
}

// Work carries out what clients started in the background, and makes the blocks that come by themselves, until the context ends; and it
// looks once for damage in the file.
func (s *Server) Work(ctx context.Context) error {
	var beside sync.WaitGroup
	beside.Go(func() { s.inspect(ctx) })
	beside.Go(func() { s.world.Mine(ctx, func(err error) { s.log.Error("no block was made", "error", err) }) })
	beside.Go(func() { s.hooks.Run(ctx) })
	beside.Go(func() { s.clock.Run(ctx, func(err error) { s.log.Error("the clock stands still", "error", err) }) })
	beside.Go(func() { control.Watch(ctx, s.world, s.name, s.events) })
	err := s.exports.Run(ctx)
	beside.Wait()
	return err
}

// inspect looks for damage in the world's file. The server goes on when there is some: much may be right.
func (s *Server) inspect(ctx context.Context) {
	if s.world.DB.InMemory() {
		return
	}
	err := verify.Inspect(ctx, s.world, halfOfTheTime(ctx))
	var damage *store.DamageError
	switch {
	case err == nil || ctx.Err() != nil:
	case errors.As(err, &damage):
		s.world.ReportDamage()
		s.log.Error("the world's file is damaged: its answers may be wrong", "error", err)
	default:
		s.log.Warn("the world's file could not be inspected", "error", err)
	}
}

// halfOfTheTime pauses as long as the work since the last pause took, so that clients are not slowed.
func halfOfTheTime(ctx context.Context) func() {
	begun := time.Now()
	return func() {
		select {
		case <-time.After(time.Since(begun)):
		case <-ctx.Done():
		}
		begun = time.Now()
	}
}

// New makes a server for a world.
func New(w *sim.World, o Options) (*Server, error) {
	m, loggers := newRequestMetrics(), map[string]*node.Loggers{}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	for _, n := range w.Networks {
		loggers[n.Name] = node.NewLoggers(n, o.Log)
	}
	if main := loggers[o.Network]; main != nil {
		o.Log = main.Main()
	}
	o.fillEvents()
	faults := fault.NewSet(w.Meta.Seed, o.World, w.Clock.Now, o.Events)
	used, late := usage.New(w), newIndex(w, &o)
	s, err := rest.New(rest.Options{
		Usage:   used.Add,
		Behind:  late.behind.Load,
		Indexed: late.serving,
		Journal: o.Journal, World: o.World, Faults: faults, ChainNames: chainNames(w),
		Observe: m.observe, Alias: w.Alias,
		Clock: w.Clock, Revision: w.Revision, WorldKey: w.Identity(), Moments: moments{w}, Begin: w.Meta.Until, Dialect: o.Dialect, Version: o.Version, Log: o.Log,
		RateLimit: o.RateLimit, Keys: o.Keys, RequireKey: o.RequireKey, Permit: &o.Permit, NetworkOf: networkOf(w), Same: sameChain(w),
	})
	if err != nil {
		return nil, err
	}
	if err := control.Register(s, w, o.Version, o.Origins); err != nil {
		return nil, err
	}
	if err := control.RegisterSnapshots(s, w); err != nil {
		return nil, err
	}
	var people control.People
	if o.People != nil {
		people = o.people(w)
	}
	clock := control.NewClockRate(w, people, o.ClockRate, o.Live)
	if err := control.RegisterClock(s, w, clock); err != nil {
		return nil, err
	}
	if err := errors.Join(control.RegisterJournal(s, o.Journal), control.RegisterEvents(s, o.Events), registerFaults(s, w, faults), control.RegisterIndex(s, late), control.RegisterTrouble(s, w)); err != nil {
		return nil, err
	}
	o.Exports.Log, o.Data.Stakers = o.Log, query.NewStakerIndexes()
	exports := export.NewJobs(w, o.Exports)
	late.exports = exports
	o.Data.Metadata = o.Webhooks.NewClient(metadataTimeout)
	if err := RegisterData(s, w, exports, o.Data); err != nil {
		return nil, err
	}
	if err := metrics.Register(s, w); err != nil {
		return nil, err
	}
	hooks := webhook.New(w, webhook.Options{Targets: o.Webhooks, Log: o.Log, Data: o.Data, Journal: o.Journal, Events: o.Events, World: o.World})
	if err := webhook.Register(s, hooks, o.Webhooks); err != nil {
		return nil, err
	}
	if err := usage.Register(s, used); err != nil {
		return nil, err
	}
	pages, err := web.New(s, cmp.Or(o.Manual, docs.New(nil)), o.Log)
	if err != nil {
		return nil, err
	}
	n, err := mountNode(s, w, o, m, loggers, pages.Discover)
	if err != nil {
		return nil, err
	}
	pages.Describe(func() (all []web.Described) {
		for _, d := range n.Describe() {
			all = append(all, web.Described(d))
		}
		return all
	})
	s.Illustrate(pages.Example)
	for _, path := range web.Mounts {
		s.MountPages(path, pages)
	}
	if err := startRelayer(context.Background(), w, o); err != nil {
		return nil, err
	}
	if err := startFaults(s, w, faults, o.Faults); err != nil {
		return nil, err
	}
	return &Server{s, w, exports, clock, hooks, n, o.Log, o.Events, o.World, late}, nil
}

// MainWorld is the name of the world that a server was started with.
const MainWorld = "main"

// fillEvents makes what a server needs to tell what happens, unless it was given that.
func (o *Options) fillEvents() {
	if o.World == "" {
		o.World = MainWorld
	}
	if o.Events == nil {
		o.Events = events.NewHub()
	}
	if o.Journal == nil {
		o.Journal = journal.New(journal.DefaultSize, o.Keys.Texts(), o.Events)
	}
}

// networkOf finds the network of a chain, for keys that are limited to one.
func networkOf(w *sim.World) func(schema.ChainID) (string, bool) {
	return func(id schema.ChainID) (string, bool) {
		if c := w.ChainNamed(id.String()); c != nil {
			return c.Row.Network, true
		}
		return "", false
	}
}

// sameChain gives an EVM chain's id as a number, however the client wrote it.
func sameChain(w *sim.World) func(schema.ChainID) schema.ChainID {
	return func(id schema.ChainID) schema.ChainID {
		if c := w.ChainNamed(id.String()); c != nil && id.Name == "" {
			return schema.ChainID{EVM: c.Row.EVMID}
		}
		return id
	}
}

// mountNode serves the node's interface under /ext, and under a network's name before it.
func mountNode(s *rest.Server, w *sim.World, o Options, m *requestMetrics, loggers map[string]*node.Loggers,
	discover func(*http.Request, []openrpc.Method) any,
) (*node.Node, error) {
	var profiler *node.Profiler
	if o.Node.Admin {
		profiler = node.NewProfiler(o.Node.Profiles)
	}
	wallet, err := walletOf(w)
	if err != nil {
		return nil, err
	}
	for _, m := range w.Miners {
		m.SetDefaults(!o.Mining.Manual, o.Mining.Interval)
	}
	n, err := node.New(node.Options{
		Miners: w.Miners, Wallet: wallet, Networks: w.Networks, Network: o.Network, Version: fixtures.NodeVersion,
		Permit: &o.Permit, Hosts: o.Node.Hosts, Public: o.Node.Public, NoIndex: o.Node.NoIndex, Stakers: o.Data.Stakers, Loggers: loggers, Profiler: profiler, Discover: discover,
	})
	if err != nil {
		return nil, err
	}
	for _, network := range fixtures.Networks {
		n.Handle(network.Name, "metrics", m.handler(w, n))
	}
	for _, prefix := range []string{"/ext", "/mainnet/ext", "/fuji/ext"} {
		s.Mount("node", prefix, n)
	}
	s.Mount("proxy", node.ProxyPrefix, n.Proxy())
	return n, nil
}

// How much garbage may lie about while serving. Almost all that is allocated lives for one request, and what lives longer is
// bounded (package cache): with 16 clients that read lists of the default world 101 MiB were resident at 30 %, 115 at 50 %, for a
// tenth more of processor time. From the limit on, which abuse reaches, garbage is collected before more is taken.
const (
	gcPercent   = 30
	memoryLimit = 192 << 20 // bytes
)

// saveMemory sets how much memory serving may take, until restore is called.
func saveMemory() (restore func()) {
	percent, limit := debug.SetGCPercent(gcPercent), debug.SetMemoryLimit(-1)
	if limit > memoryLimit {
		debug.SetMemoryLimit(memoryLimit)
	}
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}

// walletOf holds the personas' accounts.
func walletOf(w *sim.World) (*eth.Wallet, error) {
	personas, err := w.DB.Personas(context.Background())
	if err != nil {
		return nil, err
	}
	keys := make([][]byte, len(personas))
	for i := range personas {
		keys[i] = personas[i].Key
	}
	wallet, err := eth.NewWallet(keys)
	return wallet, store.Damaged(err)
}

// Serve answers on the listener until the context ends; then it lets requests under way finish.
func Serve(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceTimeout)
		defer cancel()
		stopped <- server.Shutdown(grace)
	}()
	if err := server.Serve(halfCloseListener{l, halfClosedTime}); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	if err := <-stopped; !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return server.Close()
}

// Run prints the banner, then answers requests for a world on the listeners until the context ends.
func Run(ctx context.Context, l *Listeners, w *sim.World, o Options, notes io.Writer) error {
	if err := w.Claim(ctx); err != nil {
		return errors.Join(err, l.Close())
	}
	exposed := l.exposed()
	o.Permit.Exposed = len(exposed) > 0
	o.Origins = l.ports(o.Network)
	o.Events = events.NewHub()
	o.Journal = journal.New(o.JournalSize, o.Keys.Texts(), o.Events)
	defer context.AfterFunc(ctx, o.Events.Close)()
	defer saveMemory()()
	h, err := New(w, o)
	if err != nil {
		return err
	}
	defer h.Close()
	d, err := control.Describe(ctx, w)
	if err != nil {
		return store.Damaged(err)
	}
	banner, err := control.Banner(d, o.Version, "http://"+reachable(l.Main.Addr()), o.Origins, time.Now())
	if err != nil {
		return store.Damaged(err)
	}
	if _, err := io.WriteString(notes, banner); err != nil {
		return err
	}
	if l.Note != "" {
		fmt.Fprintf(notes, "Note: %s\n\n", l.Note)
	}
	o.warn(notes, exposed)
	url := "http://" + reachable(l.Main.Addr())
	if err := o.tellReady(ready{url, os.Getpid(), fmt.Sprintf("%x", w.Digest())}); err != nil {
		return err
	}
	return h.whileWorking(ctx, func(ctx context.Context) error {
		if o.Program == nil {
			return l.serve(ctx, h, o.Log)
		}
		serving, stop := context.WithCancel(ctx)
		served := make(chan error, 1)
		go func() { served <- l.serve(serving, h, o.Log) }()
		err := o.Program.run(serving, url)
		stop()
		return errors.Join(err, <-served)
	})
}

// serve answers on each listener; when one fails the others stop.
func (l *Listeners) serve(ctx context.Context, h http.Handler, log *slog.Logger) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return Serve(ctx, l.Main, h, log) })
	if l.Fuji != nil {
		group.Go(func() error { return Serve(ctx, l.Fuji, node.ForNetwork(fixtures.FujiName, h), log) })
	}
	return group.Wait()
}

// whileWorking does something while Work runs in the background, and stops Work when that is done.
func (s *Server) whileWorking(ctx context.Context, do func(context.Context) error) error {
	working, stop := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	go func() { stopped <- s.Work(working) }()
	err := do(ctx)
	stop()
	return errors.Join(err, <-stopped)
}

// warn tells a person, and the log, when other machines can reach the server, and what they can do there.
func (o *Options) warn(notes io.Writer, exposed []string) {
	if len(exposed) == 0 {
		return
	}
	text := fmt.Sprintf("listening on %s: other machines can read everything here, the personas' keys included, and send signed transactions",
		strings.Join(exposed, " and "))
	var more []string
	if o.Permit.Control {
		more = append(more, "--allow-control lets them change the world in every other way too")
	}
	if o.Node.Admin && !o.Node.Public {
		more = append(more, "--api-admin-enabled serves an interface that writes files on this machine")
	}
	for _, danger := range more {
		text += "; DANGER: " + danger
	}
	fmt.Fprintf(notes, "Warning: %s\n\n", text)
	if o.Log != nil {
		o.Log.Warn(text)
	}
}

// reachable is an address that a client on this machine can use: one that listens everywhere is reached by loopback.
func reachable(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return a.String()
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
}
