package eth

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/rpc"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace/noop"

	"snowglobe/handlers/node/eth/kept"
	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/handlers/node/stream"
	"snowglobe/handlers/openrpc"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/cache"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/evm/txpool"
	"snowglobe/sim/miner"
)

// Limits of a batch. A node has the first two; it would also let a batch go on until its HTTP server's timeout (30 s), with
// the same answer to those calls that it does not come to, however busy it is (reader.Limits has a shorter time).
const (
	batchItems = 1_000
	batchBytes = 25_000_000
	batchCalls = 20 // whose whole gas limit the calls of a batch may use together
)

// Endpoint is one chain's JSON-RPC over HTTP.
type Endpoint struct {
	chain        *reader.Chain
	server       *rpc.Server
	register     func() // the namespaces with the server; once, before the first call
	websocket    *websocketHandler
	open         context.Context // ends with Close
	close        context.CancelFunc
	capabilities *jsonrpc.Capabilities
	blocks       *broadcaster[*reader.BlockEvent]
	pending      *broadcaster[[]*txpool.Transaction]
	methods      map[string]bool // that it has, by name
	api          *api
	maxBody      int64
	permit       *permit.Rule
	discover     func(r *http.Request, methods []openrpc.Method) any
	world        *sim.World    // nil for a chain without one
	results      *kept.Results // for who asks the same again
	gate         *sim.Gate     // through which messages of WebSocket connections come; nil for none
	patience     time.Duration // with a client that does not take a WebSocket message
}

// Options are what a chain is served with.
type Options struct {
	Miner   *miner.Miner
	Network *sim.Network // nil for a chain without one, which has no messages for other chains
	Wallet  *Wallet      // the accounts for which the node signs
	Version string       // web3_clientVersion
	MaxBody int64        // bytes of a request that are read

	Permit *permit.Rule // who may call which methods
	Log    *slog.Logger // may be nil

	Discover func(r *http.Request, methods []openrpc.Method) any // the OpenRPC document about methods; nil for none

	More []Namespace // methods beside those of a node
}

// New serves a chain.
func New(o Options) *Endpoint {
	otel.SetTracerProvider(noop.NewTracerProvider()) // the server asks for a tracer with each call, a twentieth of its time while nobody says that there is none
	e := &Endpoint{
		chain: o.Miner.Chain, server: rpc.NewServer(), blocks: newBroadcaster(o.Miner.Chain.Subscribe), pending: newBroadcaster(o.Miner.Pool.Subscribe),
		results: kept.New(o.Miner.Chain.Caches()), maxBody: o.MaxBody, permit: o.Permit, discover: o.Discover, patience: messageTimeout,
	}
	if o.Network != nil {
		e.world, e.gate = o.Network.World, o.Network.World.Gate
	}
	e.open, e.close = context.WithCancel(context.Background())
	e.server.SetBatchLimits(batchItems, batchBytes)
	e.server.SetHTTPBodyLimit(int(o.MaxBody))
	all := e.namespaces(o)
	e.methods = methodsOf(all)
	names := slices.Sorted(maps.Keys(e.methods))
	e.methods[discover] = true
	described := func() (described []openrpc.Method) {
		for _, n := range all {
			described = append(described, openrpc.Positional(n.Name, n.Methods)...)
		}
		return described
	}
	e.capabilities = &jsonrpc.Capabilities{HTTP: []string{http.MethodPost}, RPC: names, Methods: described}
	e.websocket = &websocketHandler{e,
		&jsonrpc.Capabilities{HTTP: []string{http.MethodGet}, RPC: slices.Concat(names, []string{"eth_subscribe", "eth_unsubscribe"}), Methods: described}}
	e.register = sync.OnceFunc(func() {
		for _, n := range append(all, Namespace{refusalService, refusals{e.api, e.open}}) {
			_ = e.server.RegisterName(n.Name, n.Methods) // it only fails for what has no methods
		}
	})
	return e
}

// Capabilities are the methods of every namespace.
func (e *Endpoint) Capabilities() *jsonrpc.Capabilities { return e.capabilities }

// WebSocket is the other way to the chain's methods, with subscriptions.
func (e *Endpoint) WebSocket() http.Handler { return e.websocket }

// Close ends the subscriptions and every connection that is still open.
func (e *Endpoint) Close() {
	e.close()
	e.server.Stop()
	e.blocks.close()
	e.pending.close()
}

// Namespace is a set of methods whose names begin alike, such as eth_.
type Namespace struct {
	Name    string
	Methods any
}

func (e *Endpoint) namespaces(o Options) []Namespace {
	chain := o.Miner.Chain
	a := &api{chain: chain, miner: o.Miner, blocks: cache.New[blockKey, []byte](chain.Caches())}
	e.api = a
	wallet := &walletAPI{api: a, wallet: o.Wallet}
	all := []Namespace{
		{"eth", &chainAPI{a}}, {"eth", &blockAPI{a}}, {"eth", &transactionAPI{a}}, {"eth", &stateAPI{a}},
		{"eth", &callAPI{a}}, {"eth", &gasAPI{a}}, {"eth", &logAPI{a}}, {"eth", newFilterAPI(a)},
		{"eth", &subscribeAPI{api: a, blocks: e.blocks, pending: e.pending}}, {"eth", &sendAPI{a, e.blocks}}, {"eth", wallet}, {"personal", &personalAPI{wallet}},
		{"txpool", &txpoolAPI{a}}, {"net", &netAPI{chain.Genesis.ChainID}}, {"web3", &web3API{o.Version}},
	}
	if o.Network != nil {
		all = append(all, Namespace{"anvil", &reorgAPI{wallet, o.Network.World, o.Log}})
	}
	all = append(all, o.More...)
	if chain.Kind == evm.KindC {
		return append(all, Namespace{"eth", &priceAPI{a}})
	}
	return append(all, Namespace{"eth", &rulesAPI{a}})
}

// methodsOf are the names by which the methods of namespaces are called. What can only be subscribed to is not among them.
func methodsOf(all []Namespace) map[string]bool {
	names := map[string]bool{"rpc_modules": true}
	for _, n := range all {
		for _, name := range callable(reflect.TypeOf(n.Methods)) {
			names[n.Name+"_"+name] = true
		}
	}
	return names
}

var callables sync.Map // []string by type: all chains have the same

// callable are the names of a type's methods that can be called.
func callable(methods reflect.Type) (names []string) {
	if known, ok := callables.Load(methods); ok {
		return known.([]string)
	}
	for i := range methods.NumMethod() {
		if m := methods.Method(i); m.Type.NumOut() == 0 || m.Type.Out(0) != reflect.TypeFor[*rpc.Subscription]() {
			names = append(names, jsonrpc.LowerFirst(m.Name))
		}
	}
	callables.Store(methods, names)
	return names
}

// ServeHTTP reads the request whole, within the limit.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := jsonrpc.ReadBody(w, r, e.maxBody)
	if !ok {
		return
	}
	body, valid := firstValue(body)
	body = firstItems(body)
	jsonrpc.NameRequest(r.Context(), e.method(body, valid))
	line := &lineWriter{ResponseWriter: w}
	if faults := rest.FailingCalls(r.Context()); len(faults) > 0 {
		body = failing(e.admit(r, body), faults)
	} else if body = e.admit(r, body); valid && e.again(line, r, body) {
		return
	}
	line.ctx, line.results = withResults(r.Context(), body)
	e.serve(line, r.WithContext(line.ctx), r, body)
}

// again answers a call whose result is known, and says whether it was one. Else it has the result kept, if it may be and was asked for before.
func (e *Endpoint) again(l *lineWriter, r *http.Request, body []byte) bool {
	call, may := kept.Read(r, body)
	if !may || e.world == nil {
		return false
	}
	at, err := e.revision(r.Context())
	if err != nil {
		return false
	}
	if answer, known := e.results.Answer(call, at); known {
		l.Header().Set("Content-Type", "application/json")
		l.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		_, _ = l.ResponseWriter.Write(answer) // a client that has left needs no answer
		return true
	}
	if e.results.AskedAgain(call) {
		l.keep = func(answer []byte) {
			// What was read while the world changed may be of before or after.
			if now, err := e.revision(l.ctx); err == nil && now == at {
				e.results.Keep(call, at, answer)
			}
		}
	}
	return false
}

// Repeated is how many calls were answered with results that were kept.
func (e *Endpoint) Repeated() uint64 { return e.results.Given() }

// revision is what the results of calls depend on.
func (e *Endpoint) revision(ctx context.Context) (kept.Revision, error) {
	at := kept.Revision{Commits: e.world.DB.Commits(), Changes: e.chain.Changes.Load()}
	head, err := e.chain.Head(ctx)
	if err == nil {
		at.Head = head.Hash
	}
	return at, err
}

// withResults is a context for the answer to a request, whose results may be written in parts.
func withResults(ctx context.Context, body []byte) (context.Context, *stream.Results) {
	if isBatch(body) {
		return stream.With(ctx, batchBytes)
	}
	return stream.With(ctx, 0)
}

// serve leaves to go-ethereum's server what that does as a node does. What a batch may cost is bounded; a call has limits of
// its own. The client is known by another request, if that is the message of a connection.
func (e *Endpoint) serve(w http.ResponseWriter, r, from *http.Request, body []byte) {
	ctx := r.Context()
	if e.discover != nil {
		ctx, body = e.telling(ctx, from), discovering(body)
	}
	if isBatch(body) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(reader.WithGas(ctx, batchCalls*e.chain.Limits.Gas), e.chain.Limits.Batch)
		defer cancel()
	}
	r = r.WithContext(ctx)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	e.register()
	e.server.ServeHTTP(w, r)
}

func isBatch(body []byte) bool {
	body = bytes.TrimLeft(body, " \t\r\n")
	return len(body) > 0 && body[0] == '['
}

// method is what names a request: the method that it calls, or batch. What the chain does not have has one name.
func (e *Endpoint) method(body []byte, valid bool) string {
	if isBatch(body) {
		return "batch"
	}
	var method string
	if !valid || json.Unmarshal(jsonrpc.Member(body, "method"), &method) != nil || !e.methods[method] {
		return "unknown method"
	}
	return method
}

// firstValue drops what follows the first JSON value, if there is one: a node never looks at it.
func firstValue(body []byte) (value json.RawMessage, valid bool) {
	if json.Valid(body) {
		return body, true
	}
	if json.NewDecoder(bytes.NewReader(body)).Decode(&value) != nil {
		return body, false
	}
	return value, true
}

// firstItems cuts a batch after the item that makes it too large: what follows has no part in the answer and is not read.
func firstItems(body []byte) []byte {
	if !isBatch(body) {
		return body
	}
	items := json.NewDecoder(bytes.NewReader(body))
	if _, err := items.Token(); err != nil {
		return body
	}
	var item json.RawMessage
	for range batchItems + 1 {
		if !items.More() || items.Decode(&item) != nil {
			return body
		}
	}
	return append(bytes.Clone(body[:items.InputOffset()]), ']')
}

// lineWriter ends an answer with a newline, as a node does, and writes what is not in it yet. Answers to requests that could not be read at all
// have no newline; go-ethereum's server marks them by a transfer encoding that would also close the connection.
type lineWriter struct {
	http.ResponseWriter
	ctx     context.Context
	results *stream.Results
	keep    func(answer []byte) // nil for an answer that is not kept
}

func (l *lineWriter) Write(answer []byte) (int, error) {
	header, end := l.Header(), newline
	switch {
	case header.Get("Transfer-Encoding") != "":
		header.Del("Transfer-Encoding")
		end = nil
	case header.Get("Content-Length") != strconv.Itoa(len(answer)):
		return l.ResponseWriter.Write(answer) // a text written by http.Error
	}
	size := int64(len(answer))
	if l.results.Any() {
		var held int
		size, held = l.results.Measure(answer)
		if err := rest.StreamAnswer(l.ctx, size, held); err != nil {
			rest.RefuseLarge(l.ResponseWriter, err)
			return 0, err
		}
	} else if l.keep != nil && end != nil {
		l.keep(answer)
	}
	header.Set("Content-Length", strconv.FormatInt(size+int64(len(end)), 10))
	// An answer that is shorter than it says has net/http end the connection.
	if err := l.results.Write(l.ctx, l.ResponseWriter, answer); err != nil {
		return 0, err
	}
	if _, err := l.ResponseWriter.Write(end); err != nil {
		return 0, err
	}
	return len(answer), nil
}

var newline = []byte{'\n'}

// A call of discover in a batch or over WebSocket is put to discoverMethod: the names of go-ethereum's methods have no point in them.
const (
	discover       = "rpc.discover"
	discoverMethod = refusalService + "_discover"
)

// discoverer is the key of what tells of the methods to the client of a request, among the values of its context.
type discoverer struct{}

// Discover is the OpenRPC document about the methods of the endpoint.
func (refusals) Discover(ctx context.Context) any {
	if tell, ok := ctx.Value(discoverer{}).(func() any); ok {
		return tell()
	}
	return nil
}

// telling has the endpoint tell of itself as the client of a request reached it, over WebSocket that which opened the connection.
func (e *Endpoint) telling(ctx context.Context, from *http.Request) context.Context {
	return context.WithValue(ctx, discoverer{}, func() any { return e.discover(from, e.capabilities.Methods()) })
}

// discovering puts the calls of discover in a request to the method that answers them.
func discovering(body []byte) []byte {
	if !bytes.Contains(body, []byte(discover)) {
		return body
	}
	if !isBatch(body) {
		return discovered(body)
	}
	var batch []json.RawMessage
	if json.Unmarshal(body, &batch) != nil {
		return body
	}
	for i, call := range batch {
		batch[i] = discovered(call)
	}
	return encode(batch)
}

func discovered(call json.RawMessage) json.RawMessage {
	var m message
	if json.Unmarshal(call, &m) != nil || m.Method != discover {
		return call
	}
	m.Method, m.Params = discoverMethod, nil
	return encode(m)
}
