package handlers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"snowglobe/handlers/control"
	"snowglobe/handlers/data"
	"snowglobe/handlers/metrics"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/export"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
)

// index lets the Data and the Metrics API be behind the node, by serving them from a copy that follows the world at a distance.
type index struct {
	world   *sim.World
	options *Options
	exports *export.Jobs
	behind  atomic.Bool // whether there is a follower

	mu       sync.Mutex
	lags     map[int]control.Lag // by the chain's number
	follower *sim.Follower       // nil while nothing is behind
	server   *rest.Server        // of the copy as it was opened
	opened   *sim.World
}

func newIndex(w *sim.World, o *Options) *index {
	x := &index{world: w, options: o, lags: map[int]control.Lag{}}
	w.BeforeReturn(func() func(sim.Return) { return x.rewound })
	return x
}

// rewound drops the copy, which has what is undone. What is behind is behind what comes from now on; nothing is, in a world that was reset.
func (x *index) rewound(how sim.Return) {
	x.mu.Lock()
	lags := maps.Clone(x.lags)
	clear(x.lags)
	err := x.end()
	x.mu.Unlock()
	for _, c := range x.world.Chains {
		if l, behind := lags[c.Row.ID]; behind && !how.Reset {
			err = errors.Join(err, x.SetLag(context.Background(), c, l))
		}
	}
	if err != nil && x.options.Log != nil {
		x.options.Log.Error("the index does not follow the world that went back", "error", err)
	}
}

// chainPaths are how the paths begin that are about EVM chains, whether they name one or not.
var chainPaths = []string{"/v1/chains", "/v1/address", "/v1/transactions", "/v1/blocks", "/v1/icm", "/v1/teleporter", "/v2/chains"}

// serving is the server of the copy for a request that is about a chain which is behind, or about several of which one is.
func (x *index) serving(ctx context.Context, path string, names []string) (*rest.Server, func(), error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.follower == nil || !x.concerns(path, names) {
		return nil, nil, nil
	}
	w, done, err := x.follower.Read(ctx)
	if err != nil {
		return nil, nil, err
	}
	if x.opened != w {
		if x.server, err = x.serve(w); err != nil {
			done()
			return nil, nil, err
		}
		x.opened = w
	}
	return x.server, done, nil
}

func (x *index) concerns(path string, names []string) bool {
	if len(names) == 0 {
		return slices.ContainsFunc(chainPaths, func(begin string) bool { return strings.HasPrefix(path, begin) })
	}
	for _, name := range names {
		if c := x.world.ChainNamed(name); c != nil {
			if _, behind := x.lags[c.Row.ID]; behind {
				return true
			}
		}
	}
	return false
}

// serve makes the operations of the Data and the Metrics API over a world.
func (x *index) serve(w *sim.World) (*rest.Server, error) {
	s, err := rest.New(rest.Options{Clock: w.Clock, WorldKey: w.Identity(), Alias: w.Alias, NetworkOf: networkOf(w), Same: sameChain(w)})
	if err != nil {
		return nil, err
	}
	o := data.Options{KnownOnly: x.options.Data.KnownOnly, Stakers: query.NewStakerIndexes()}
	return s, errors.Join(RegisterData(s, w, x.exports, o), metrics.Register(s, w))
}

// SetLag says how far a chain is to be behind, every chain for nil; nothing for the zero value, with which it catches up.
func (x *index) SetLag(ctx context.Context, c *reader.Chain, l control.Lag) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	chains := x.world.Chains
	if c != nil {
		chains = []*reader.Chain{c}
	}
	for _, c := range chains {
		if x.lags[c.Row.ID] = l; l == (control.Lag{}) {
			delete(x.lags, c.Row.ID)
		}
	}
	if len(x.lags) == 0 {
		return x.end()
	}
	if x.follower == nil {
		follower, err := x.world.Follow(ctx)
		if errors.Is(err, store.ErrReadOnly) || x.world.DB.ReadOnly() {
			return errors.Join(store.ErrReadOnly, err)
		}
		if err != nil {
			return fmt.Errorf("index: %w", err)
		}
		x.follower = follower
		x.behind.Store(true)
	}
	for _, c := range chains {
		x.follower.SetLag(c.Row.ID, sim.Lag{Blocks: l.Blocks, Milliseconds: l.Time.Milliseconds()})
	}
	return nil
}

// end drops the copy. The caller holds the lock.
func (x *index) end() error {
	f := x.follower
	if f == nil {
		return nil
	}
	x.behind.Store(false)
	x.follower, x.server, x.opened = nil, nil, nil
	return f.End()
}

func (x *index) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.end()
}

// States tells how far each EVM chain is.
func (x *index) States(ctx context.Context) ([]control.IndexState, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	all := []control.IndexState{}
	for _, c := range x.world.Chains {
		head, err := c.Head(ctx)
		if err != nil {
			return nil, err
		}
		l, behind := x.lags[c.Row.ID]
		state := control.NewIndexState(c, l, head.Number, head.Number)
		if behind {
			indexed, _ := x.follower.Heights(c.Row.ID)
			state = control.NewIndexState(c, l, head.Number, indexed)
		}
		all = append(all, state)
	}
	return all, nil
}

// Chain finds an EVM chain by one of its names.
func (x *index) Chain(name string) *reader.Chain { return x.world.ChainNamed(name) }
