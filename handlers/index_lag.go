package handlers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"snowglobe/handlers/control"
	"snowglobe/handlers/data"
	"snowglobe/handlers/fault"
	"snowglobe/handlers/metrics"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/export"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// index lets the Data and Metrics APIs lag behind the node, by serving them from a copy that follows the world at a distance.
type index struct {
	world   *sim.World
	options *Options
	exports *export.Jobs
	behind  atomic.Bool // whether there is a copy

	mu      sync.Mutex
	lags    map[sim.ChainKey]control.Lag
	copy    *sim.LaggingCopy // nil while no chain lags
	servers map[sim.ChainKey]indexServer
}

// indexServer serves the copy as it was opened for requests about a chain.
type indexServer struct {
	world  *sim.World
	server *rest.Server
}

func newIndex(w *sim.World, o *Options) *index {
	x := &index{world: w, options: o, lags: map[sim.ChainKey]control.Lag{}, servers: map[sim.ChainKey]indexServer{}}
	w.BeforeRewind(func() func(sim.RewindOptions) { return x.rewound })
	return x
}

// rewound drops the copy, which has blocks that the world no longer has. The same chains lag in a new copy of the present world; a reset ends
// all lags.
func (x *index) rewound(o sim.RewindOptions) {
	x.mu.Lock()
	lags := maps.Clone(x.lags)
	clear(x.lags)
	err := x.end()
	x.mu.Unlock()
	together := map[control.Lag][]sim.ChainKey{}
	for key, l := range lags {
		together[l] = append(together[l], key)
	}
	for l, chains := range together {
		if !o.Reset {
			err = errors.Join(err, x.SetLag(context.Background(), chains, l))
		}
	}
	if err != nil && x.options.Log != nil {
		x.options.Log.Error("the index does not follow the reverted world", "error", err)
	}
}

// The beginnings of the paths about EVM chains and about primary networks, whether they name one or not.
var (
	chainPaths   = []string{"/v1/chains", "/v1/address", "/v1/transactions", "/v1/blocks", "/v1/icm", "/v1/teleporter", "/v2/chains", "/v2/icm"}
	primaryPaths = []string{"/v1/networks", "/v1/avax", "/v2/networks", "/v2/subnet", "/v2/validat"}
)

// serving returns the copy's server if any chain of the request lags, and nil otherwise.
func (x *index) serving(ctx context.Context, path, network string, names []string) (*rest.Server, func(), error) {
	if !fault.Indexed(ctx) {
		return nil, nil, nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	concerned := x.concerned(path, network, names)
	if x.copy == nil || len(concerned) == 0 {
		return nil, nil, nil
	}
	w, key, done, err := x.copy.Read(ctx, concerned)
	if err != nil {
		return nil, nil, err
	}
	if x.servers[key].world != w {
		server, err := x.serve(w)
		if err != nil {
			done()
			return nil, nil, err
		}
		x.servers[key] = indexServer{w, server}
	}
	return x.servers[key].server, done, nil
}

// read returns the copy as a world if an EVM chain lags, and nil otherwise.
func (x *index) read(ctx context.Context, c *reader.Chain) (*sim.World, func(), error) {
	if !x.behind.Load() || !fault.Indexed(ctx) {
		return nil, nil, nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	key := sim.Key(c)
	if _, behind := x.lags[key]; x.copy == nil || !behind {
		return nil, nil, nil
	}
	w, _, done, err := x.copy.Read(ctx, []sim.ChainKey{key})
	return w, done, err
}

// concerned lists the lagging chains that a request is about.
func (x *index) concerned(path, network string, names []string) (all []sim.ChainKey) {
	for _, name := range names {
		for _, key := range x.Chains(network, name) {
			if _, behind := x.lags[key]; behind {
				all = append(all, key)
			}
		}
	}
	if len(names) > 0 {
		return all
	}
	begins := func(begin string) bool { return strings.HasPrefix(path, begin) }
	for key := range x.lags {
		switch {
		case !key.Primary && slices.ContainsFunc(chainPaths, begins),
			key.Primary && slices.ContainsFunc(primaryPaths, begins) && (network == "" || x.networkOf(key).Name == network):
			all = append(all, key)
		}
	}
	return all
}

// Chains lists the chains that a name stands for, on one network if it is named; without a name, every chain.
func (x *index) Chains(network, name string) (all []sim.ChainKey) {
	for _, c := range x.world.Chains {
		if (network == "" || c.Row.Network == network) && (name == "" || x.world.ChainNamed(name) == c) {
			all = append(all, sim.Key(c))
		}
	}
	for _, n := range x.world.Networks {
		if network != "" && n.Name != network {
			continue
		}
		for kind, names := range map[txs.Chain][]string{txs.PChain: pChain.names, txs.XChain: append(slices.Clone(xChain.names), n.Rules.XChainID.String())} {
			if name == "" || slices.ContainsFunc(names, func(known string) bool { return strings.EqualFold(known, name) }) {
				all = append(all, sim.ChainKey{Primary: true, Chain: n.Chain(kind)})
			}
		}
	}
	return all
}

func (x *index) networkOf(key sim.ChainKey) *sim.Network {
	at := slices.IndexFunc(x.world.Networks, func(n *sim.Network) bool { return n.Chain(txs.PChain) == key.Chain || n.Chain(txs.XChain) == key.Chain })
	return x.world.Networks[at]
}

// serve makes the operations of the Data and the Metrics API over a world.
func (x *index) serve(w *sim.World) (*rest.Server, error) {
	s, err := rest.New(rest.Options{Clock: x.world.Clock, WorldKey: w.Identity(), Alias: w.Alias, NetworkOf: networkOf(w), Same: sameChain(w)})
	if err != nil {
		return nil, err
	}
	o := data.Options{KnownOnly: x.options.Data.KnownOnly, Stakers: query.NewStakerIndexes()}
	return s, errors.Join(RegisterData(s, w, x.exports, o), metrics.Register(s, w))
}

// SetLag sets how far chains lag. With the zero value they catch up.
func (x *index) SetLag(ctx context.Context, chains []sim.ChainKey, l control.Lag) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, key := range chains {
		if x.lags[key] = l; l == (control.Lag{}) {
			delete(x.lags, key)
		}
	}
	if len(x.lags) == 0 {
		return x.end()
	}
	if x.copy == nil {
		lagging, err := x.world.CopyLagging(ctx)
		if errors.Is(err, store.ErrReadOnly) || x.world.DB.ReadOnly() {
			return errors.Join(store.ErrReadOnly, err)
		}
		if err != nil {
			return fmt.Errorf("index: %w", err)
		}
		x.copy = lagging
		x.behind.Store(true)
	}
	if err := x.copy.SetLag(ctx, chains, sim.Lag{Blocks: l.Blocks, Milliseconds: l.Time.Milliseconds()}); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	return nil
}

// end removes the copy. The caller holds the lock.
func (x *index) end() error {
	l := x.copy
	if l == nil {
		return nil
	}
	x.behind.Store(false)
	x.copy = nil
	clear(x.servers)
	return l.End()
}

func (x *index) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.end()
}

// States returns how far each chain is.
func (x *index) States(ctx context.Context) ([]control.IndexState, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	all := []control.IndexState{}
	for _, c := range x.world.Chains {
		head, err := c.Head(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, x.state(sim.Key(c), strconv.FormatUint(c.Row.EVMID, 10), c.Row.Network, head.Number))
	}
	for _, n := range x.world.Networks {
		for _, kind := range []txs.Chain{txs.PChain, txs.XChain} {
			head, err := x.world.DB.PrimaryHead(ctx, n.Chain(kind))
			if err != nil {
				return nil, err
			}
			name := map[txs.Chain]string{txs.PChain: "p-chain", txs.XChain: "x-chain"}[kind]
			all = append(all, x.state(sim.ChainKey{Primary: true, Chain: n.Chain(kind)}, name, n.Name, head.ID.Number()))
		}
	}
	return all, nil
}

func (x *index) state(key sim.ChainKey, name, network string, head uint64) control.IndexState {
	l, behind := x.lags[key]
	indexed := head
	if behind {
		indexed, _ = x.copy.Heights(key)
	}
	return control.NewIndexState(name, network, l, head, indexed)
}
