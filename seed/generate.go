package seed

import (
	"context"
	"errors"
	"math/big"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"golang.org/x/sync/errgroup"

	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// Options say which world to make and where.
type Options struct {
	Path     string // of the file, or store.Memory
	Seed     int64
	Profile  *Profile
	Until    time.Time
	Progress func(done, total int) // transactions; may be nil; called from several goroutines
}

// gcPercent trades memory for time while a world is made: almost everything that is allocated lives for one block only.
const gcPercent = 400

// Generate makes a world. A world that cannot be finished leaves nothing behind.
func Generate(ctx context.Context, o Options) (*sim.World, error) {
	if err := o.Profile.CheckSpan(o.Until); err != nil {
		return nil, err
	}
	shape, err := o.Profile.YAML()
	if err != nil {
		return nil, err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	creation, err := sim.Create(o.Path, sim.Identity{Seed: o.Seed, Profile: o.Profile.Name, Shape: shape, Until: o.Until})
	if err != nil {
		return nil, err
	}
	stages, personas, err := play(ctx, o, creation)
	if err != nil {
		return nil, errors.Join(err, creation.Abort())
	}
	who := sim.Cast{Personas: personas}
	for _, s := range stages {
		who.Contracts = append(who.Contracts, s.contracts...)
		who.Markets = append(who.Markets, s.markets()...)
	}
	return creation.Finish(ctx, who)
}

// play builds every chain's history, as many at a time as there are processors.
func play(ctx context.Context, o Options, creation *sim.Creation) ([]*stage, []store.Persona, error) {
	d := dice(o.Seed)
	people, personas, err := cast()
	if err != nil {
		return nil, nil, err
	}
	others, err := crowd(d, crowdSize(o.Profile))
	if err != nil {
		return nil, nil, err
	}
	alloc, err := endowment(d, people, others)
	if err != nil {
		return nil, nil, err
	}
	start := o.Until.AddDate(0, 0, -o.Profile.Days)
	stages := make([]*stage, o.Profile.Chains)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	progress := counter(o.Progress, o.Profile.Transactions)
	for n, size := range shares(o.Profile) {
		group.Go(func() error {
			s, err := newStage(d, n, start, people, others, alloc)
			if err != nil {
				return err
			}
			stages[n] = s
			s.full = s.chain.Kind == string(evm.KindC) && size >= fullSize
			moments := schedule(d.For("schedule", s.chain.EVMID), size, start, o.Until)
			return s.run(ctx, creation, moments, size, progress)
		})
	}
	return stages, personas, group.Wait()
}

// counter adds up what all chains report.
func counter(report func(done, total int), total int) func(int) {
	if report == nil {
		return func(int) {}
	}
	var done atomic.Int64
	return func(n int) { report(int(done.Add(int64(n))), total) }
}

// fullSize is how many transactions a C-Chain must have for its personas to act in full.
const fullSize = 1500

// crowdSize is how many nameless people a world has.
func crowdSize(p *Profile) int { return min(max(p.Transactions/15, 40), 20_000) }

// shares splits a profile's transactions among its chains. What does not divide goes to the first.
func shares(p *Profile) []int {
	total, sizes := 0, make([]int, p.Chains)
	for _, c := range catalogue[:p.Chains] {
		total += c.share
	}
	rest := p.Transactions
	for n := range sizes {
		sizes[n] = p.Transactions * catalogue[n].share / total
		rest -= sizes[n]
	}
	sizes[0] += rest
	return sizes
}

func newStage(d dice, n int, start time.Time, people map[string]*actor, others []*actor, alloc map[common.Address]evm.GenesisAccount) (*stage, error) {
	row, genesis, err := catalogue[n].found(n+1, start, alloc)
	if err != nil {
		return nil, err
	}
	s := &stage{
		dice: d, chain: row, people: people, others: others, places: map[string]common.Address{}, ledger: newLedger(),
		signer: types.LatestSignerForChainID(new(big.Int).SetUint64(row.EVMID)),
	}
	s.builder, s.first, err = evm.NewBuilder(row.ID, genesis)
	return s, err
}
