package handlers

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"snowglobe/fixtures"
	"snowglobe/handlers/artifacts"
	"snowglobe/handlers/control"
	"snowglobe/handlers/data"
	"snowglobe/handlers/docs"
	"snowglobe/handlers/etherscan"
	"snowglobe/handlers/events"
	"snowglobe/handlers/explain"
	"snowglobe/handlers/fault"
	"snowglobe/handlers/intercept"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/mcp"
	"snowglobe/handlers/metrics"
	"snowglobe/handlers/node"
	"snowglobe/handlers/node/anvil"
	"snowglobe/handlers/node/eth"
	"snowglobe/handlers/openrpc"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/program"
	"snowglobe/handlers/prometheus"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/handlers/session"
	"snowglobe/handlers/solc"
	"snowglobe/handlers/sourcify"
	"snowglobe/handlers/surface"
	"snowglobe/handlers/usage"
	"snowglobe/handlers/verification"
	"snowglobe/handlers/web"
	"snowglobe/handlers/webhook"
	"snowglobe/handlers/worlds"
	"snowglobe/sim"
	"snowglobe/sim/export"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
)

// Options configures a server.
type Options struct {
	Version string
	Manual  *docs.Manual // of the program; nil for one without commands
	Dialect rest.DialectMode
	Network string          // of the node's paths that name none
	Origins control.Origins // where networks with their own port are served
	Log     *slog.Logger
	Node    NodeOptions
	Data    data.Options

	RateLimit  int // requests per minute and client, 0 for no limit
	Keys       *rest.Keys
	RequireKey bool

	Stdout    io.Writer        // gets one line when the server answers; nil for none
	ReadyFile string           // written at the same time; empty for none
	Hints     io.Writer        // gets what contracts log while Program runs, and what a browser needs if it starts with a proxy; nil for none
	GasReport io.Writer        // gets the gas report once Program has ended; nil for none
	Record    string           // file that gets the session once Program has ended; empty for none
	Program   *program.Program // runs from then on, and the server stops with it; nil for none
	Agent     io.ReadCloser    // an agent's messages; the server stops when they end; nil for none

	AgentOutput io.Writer // gets the answers to the agent

	Exports export.Options
	Permit  permit.Rule // decides who may change the world
	Mining  Mining
	Relayer bool // deliver messages between chains

	Artifacts *artifacts.Registry // contracts that are known by their artifacts; nil for one of this server's own
	Solc      *solc.Compilers     // compile what clients verify; nil for those that Foundry and Hardhat keep

	Proxy *intercept.Proxy // for the real network's host names; nil for none

	Journal *journal.Journal // nil for one of the default size
	Events  *events.Hub      // nil for one of this server's own
	World   string           // its name among those of the process, default main
	Worlds  *worlds.Set      // of the process; nil if there is only one
	Many    Many

	Faults   []any           // rules to start with, as fault.ReadFile returns them
	Schedule *fault.Schedule // further faults in the main world; nil for none
	Follows  bool            // a schedule will be set, and decides when the relayer starts
	Brief    bool            // the world lasts as long as a command, in a file just written that needs no inspection

	JournalSize int // how many requests the journal of Run remembers

	UndoBlocks int64 // as of store.DB.KeepUndo; 0 for the default

	Webhooks webhook.Targets // hosts that webhooks may call

	ClockRate float64 // multiple of real time at which the clock runs, 0 for a clock that stands still
	Live      bool    // people act while the clock moves
	People    func(w *sim.World, refused func(error)) control.People

	Faucet func(w *sim.World) control.Faucet // nil for none
}

// NodeOptions configures the node.
type NodeOptions struct {
	Hosts    []string      // host names, besides addresses, that it answers to
	Public   bool          // hide everything about one particular node
	NoIndex  bool          // without /ext/index
	Admin    bool          // serve the admin API
	Profiles string        // folder for its profiles; empty for a temporary one
	Strict   surface.State // as of node.Options
}

const (
	headerTimeout   = 10 * time.Second // for a client to send its headers
	readTimeout     = 60 * time.Second // for a client to send its request
	writeTimeout    = 2 * time.Minute  // for a client to take its answer
	idleTimeout     = 2 * time.Minute
	graceTimeout    = 5 * time.Second  // for running requests when the server stops
	metadataTimeout = 10 * time.Second // for the metadata of an NFT
	maxHeader       = 1 << 20          // the REST interfaces have a lower limit, with their own error
)

// Server serves a world.
type Server struct {
	http.Handler
	world   *sim.World
	exports *export.Jobs
	clock   *control.ClockRunner
	hooks   *webhook.Deliverer
	node    *node.Node
	log     *slog.Logger
	events  *events.Hub
	name    string // of the world
	index   *index
	rest    *rest.Server // the handler
	verify  *verification.Service

	explainer *explain.Explainer
	faults    *fault.Set
	options   Options
}

// ServeHTTP answers a request, but waits while the world reverts. A WebSocket waits for each message.
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

// Close ends the lagging index, event streams, subscriptions and WebSocket connections.
func (s *Server) Close() {
	s.events.Close()
	s.node.Close()
	s.rest.Close()
	s.verify.Close()
	if err := s.index.close(); err != nil {
		s.log.Error("the index's copy of the file could not be removed", "error", err)
	}
}

// Work runs the jobs that clients start in the background and makes scheduled blocks until the context ends; it also checks the file for
// damage once.
func (s *Server) Work(ctx context.Context) error {
	var beside sync.WaitGroup
	if s.name == worlds.Main && !s.options.Brief {
		beside.Go(func() { s.inspect(ctx) })
	}
	beside.Go(func() { s.world.Mine(ctx, func(err error) { s.log.Error("no block was made", "error", err) }) })
	beside.Go(func() { s.hooks.Run(ctx) })
	beside.Go(func() { s.clock.Run(ctx, func(err error) { s.log.Error("the clock cannot move now", "error", err) }) })
	beside.Go(func() { control.Watch(ctx, s.world, s.name, s.events) })
	beside.Go(func() { s.explainer.Watch(ctx, s.world.Chains) })
	err := s.exports.Run(ctx)
	beside.Wait()
	return err
}

// New makes a server for a world.
func New(w *sim.World, o Options) (*Server, error) {
	m, loggers := prometheus.New(), map[string]*node.Loggers{}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	for _, n := range w.Networks {
		loggers[n.Name] = node.NewLoggers(n, o.Log)
	}
	if main := loggers[o.Network]; main != nil {
		o.Log = main.Main()
	}
	w.DB.LogFailures(o.Log)
	w.DB.KeepUndo(o.UndoBlocks)
	o.fill()
	explainer := &explain.Explainer{Registry: o.Artifacts, Log: o.Log, Events: o.Events, World: o.World}
	if o.Program != nil {
		explainer.Console = o.Hints
	}
	o.Journal.Decode = explainer.Decode
	faults := fault.NewSet(w.Meta.Seed, o.World, w.Clock.Now, o.Events)
	used, late := usage.New(w), newIndex(w, &o)
	var people control.People
	if o.People != nil {
		people = o.people(w)
	}
	clock := control.NewClockRunner(w, people, o.ClockRate, o.Live)
	recorder := session.NewRecorder(w, clock.Live)
	if o.Record != "" {
		recorder.KeepAll()
	}
	s, err := rest.New(rest.Options{
		Usage:   used.Add,
		Behind:  late.behind.Load,
		Indexed: late.serving,
		Journal: o.Journal, World: o.World, Faults: faults, ChainNames: chainNames(w),
		Observe: m.Observe, Alias: w.Alias,
		Clock: w.Clock, Revision: w.Revision, WorldKey: w.Identity(), Commits: tokenCommits{w}, Begin: w.Meta.Until, Dialect: o.Dialect, Version: o.Version, Log: o.Log,
		RateLimit: o.RateLimit, Keys: o.Keys, RequireKey: o.RequireKey, Permit: &o.Permit, NetworkOf: networkOf(w), Same: sameChain(w), Record: recorder.Operation,
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
	if err := control.RegisterClock(s, w, clock); err != nil {
		return nil, err
	}
	if err := errors.Join(control.RegisterJournal(s, o.Journal), control.RegisterEvents(s, o.Events), control.RegisterFaults(s, faults, func() *fault.Names { return faultNames(s, w) }, holds{w}), control.RegisterIndex(s, late), control.RegisterTrouble(s, w), control.RegisterTransactions(s, w), control.RegisterArtifacts(s, w, o.Artifacts, explainer), control.RegisterHostNames(s, o.Proxy), control.RegisterCompilers(s, o.Solc), control.RegisterImports(s, w, o.Worlds.StartL1(w)), session.Register(s, recorder), control.RegisterDecode(s, w, o.Artifacts)); err != nil {
		return nil, err
	}
	o.Exports.Log, o.Data.Stakers = o.Log, query.NewStakerIndexes()
	if o.Faucet != nil {
		if err := control.RegisterFaucet(s, w, o.Faucet(w), &o.Permit); err != nil {
			return nil, err
		}
	}
	exports := export.NewJobs(w, o.Exports)
	late.exports = exports
	o.Data.Metadata = o.Webhooks.NewClient(metadataTimeout)
	if err := RegisterData(s, w, exports, o.Data); err != nil {
		return nil, err
	}
	if err := metrics.Register(s, w); err != nil {
		return nil, err
	}
	hooks := webhook.New(w, webhook.Options{Targets: o.Webhooks, Log: o.Log, Data: o.Data, Journal: o.Journal, Events: o.Events, Faults: faults, World: o.World})
	if err := webhook.Register(s, hooks, o.Webhooks); err != nil {
		return nil, err
	}
	if err := usage.Register(s, used); err != nil {
		return nil, err
	}
	pages := web.New(s, cmp.Or(o.Manual, docs.New(nil)), o.Log, &o.Permit)
	n, err := mountNode(s, w, o, m, loggers, clock.Advance, pages.Discover, explainer, recorder.Call)
	if err != nil {
		return nil, err
	}
	contracts, err := verification.New(w, o.Artifacts, o.Solc, o.Log)
	if err != nil {
		return nil, err
	}
	mountExplorers(s, w, n, late, contracts, o)
	pages.Describe(func() (all []web.Described) {
		for _, d := range n.Describe() {
			all = append(all, web.Described(d))
		}
		return all
	}, s.Outlines)
	s.Illustrate(pages.Example)
	for _, path := range web.Mounts {
		s.MountPages(path, pages)
	}
	s.MountPages(mcp.Path, mcp.NewHandler(mcp.Options{API: s, Permit: &o.Permit, Manual: cmp.Or(o.Manual, docs.New(nil)), Version: o.Version, Log: o.Log}))
	if o.Worlds != nil {
		if err := worlds.Register(s, o.Worlds, w); err != nil {
			return nil, err
		}
	}
	if !o.Follows {
		if err := startRelayer(context.Background(), w, o); err != nil {
			return nil, err
		}
	}
	if err := startFaults(s, w, faults, o.Faults); err != nil {
		return nil, err
	}
	return &Server{s, w, exports, clock, hooks, n, o.Log, o.Events, o.World, late, s, contracts, explainer, faults, o}, nil
}

// fill makes the journal, the event hub and what is known of contracts, unless the options contain them.
func (o *Options) fill() {
	o.World = cmp.Or(o.World, worlds.Main)
	o.Events = cmp.Or(o.Events, events.NewHub())
	o.Artifacts = cmp.Or(o.Artifacts, artifacts.New())
	o.Solc = cmp.Or(o.Solc, solc.New(nil))
	if o.Journal == nil {
		o.Journal = journal.New(journal.DefaultSize, o.Keys.Texts(), o.Events)
	}
}

// worlds returns the number of worlds of the process.
func (o *Options) worlds() int {
	if o.Worlds == nil {
		return 1
	}
	return o.Worlds.Open()
}

// networkOf returns the network of a chain, for restricted keys.
func networkOf(w *sim.World) func(schema.ChainID) (string, bool) {
	return func(id schema.ChainID) (string, bool) {
		if c := w.ChainNamed(id.String()); c != nil {
			return c.Row.Network, true
		}
		return "", false
	}
}

// sameChain returns an EVM chain's id as a number from any of its forms.
func sameChain(w *sim.World) func(schema.ChainID) schema.ChainID {
	return func(id schema.ChainID) schema.ChainID {
		if c := w.ChainNamed(id.String()); c != nil && id.Name == "" {
			return schema.ChainID{EVM: c.Row.EVMID}
		}
		return id
	}
}

// mountNode serves the node's interface under /ext, also below a network's name.
func mountNode(s *rest.Server, w *sim.World, o Options, m *prometheus.Requests, loggers map[string]*node.Loggers,
	advance anvil.Advance, discover func(*http.Request, []openrpc.Method) any, explainer *explain.Explainer, record node.Record,
) (*node.Node, error) {
	var profiler *node.Profiler
	if o.Node.Admin {
		profiler = node.NewProfiler(o.Node.Profiles)
	}
	var wallet *eth.Wallet
	if o.Node.Strict == surface.Never { // a node of the network has nobody's keys
		var err error
		if wallet, err = walletOf(w); err != nil {
			return nil, err
		}
	}
	for _, m := range w.Miners {
		m.SetDefaults(!o.Mining.Manual, o.Mining.Interval)
	}
	n, err := node.New(node.Options{
		Miners: w.Miners, Wallet: wallet, Networks: w.Networks, Network: o.Network, Version: fixtures.NodeVersion,
		Permit: &o.Permit, Hosts: o.Node.Hosts, Public: o.Node.Public, NoIndex: o.Node.NoIndex, Stakers: o.Data.Stakers, Loggers: loggers, Profiler: profiler, Discover: discover, Log: o.Log, Advance: advance,
		Strict: o.Node.Strict, Explain: explainer, Record: record,
	})
	if err != nil {
		return nil, err
	}
	for _, network := range fixtures.Networks {
		n.Handle(network.Name, "metrics", m.Handler(w, n, o.worlds))
	}
	for _, prefix := range []string{"/ext", "/mainnet/ext", "/fuji/ext"} {
		s.Mount("node", prefix, n)
	}
	s.Mount("proxy", node.ProxyPrefix, n.Proxy())
	return n, nil
}

// mountExplorers serves the APIs in the shape of Etherscan's and Sourcify's.
func mountExplorers(s *rest.Server, w *sim.World, n *node.Node, late *index, contracts *verification.Service, o Options) {
	api := etherscan.New(etherscan.Options{World: w, Node: n, Permit: &o.Permit, Network: n.NetworkOf, Indexed: late.read, Contracts: contracts})
	for _, prefix := range etherscan.Prefixes {
		s.Mount(rest.Etherscan, prefix, api)
	}
	repository := sourcify.New(sourcify.Options{World: w, Permit: &o.Permit, Contracts: contracts})
	for _, prefix := range sourcify.Prefixes {
		s.Mount(rest.Sourcify, prefix, repository)
	}
}

// walletOf makes a wallet of the personas' accounts.
func walletOf(w *sim.World) (*eth.Wallet, error) {
	personas, err := w.DB.Personas(context.Background())
	if err != nil {
		return nil, err
	}
	var keys [][]byte
	for i := range personas {
		if len(personas[i].Key) > 0 {
			keys = append(keys, personas[i].Key)
		}
	}
	wallet, err := eth.NewWallet(keys)
	return wallet, store.Damaged(err)
}

// Serve serves on the listener until the context ends, then lets running requests finish.
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
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	if err := <-stopped; !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return server.Close()
}
