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

	"snowglobe/fixtures"
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
	o.Until = o.Until.UTC().Truncate(time.Second)
	defer debug.FreeOSMemory()
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	creation, err := sim.Create(o.Path, sim.Identity{Seed: o.Seed, Profile: o.Profile.Name, Shape: shape, Until: o.Until})
	if err != nil {
		return nil, err
	}
	w, err := play(ctx, o, creation)
	if err != nil {
		return nil, errors.Join(err, creation.Abort())
	}
	who, err := w.cast()
	if err != nil {
		return nil, errors.Join(err, creation.Abort())
	}
	return creation.Finish(ctx, who)
}

// theatre is everything that plays in a world.
type generation struct {
	personas  []store.Persona
	networks  []*primaryNetwork // mainnet, fuji
	evmChains []*evmChain
}

// cast says who was who.
func (t *generation) cast() (sim.Cast, error) {
	who := sim.Cast{Personas: t.personas}
	for _, r := range t.networks {
		row, err := r.genesis.Row(r.rules.NetworkID)
		if err != nil {
			return who, err
		}
		who.Networks = append(who.Networks, row)
		who.Nodes = append(who.Nodes, r.nodeRows()...)
	}
	for _, s := range t.evmChains {
		who.Contracts = append(who.Contracts, s.contracts...)
		who.Markets = append(who.Markets, s.markets()...)
	}
	return who, nil
}

// play builds every chain's history, as many at a time as there are processors. A network's P- and X-chain come with its
// C-Chain.
func play(ctx context.Context, o Options, creation *sim.Creation) (*generation, error) {
	t, err := assemble(o)
	if err != nil {
		return nil, err
	}
	d, start := rng(o.Seed), o.Until.AddDate(0, 0, -o.Profile.Days)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	progress := progressCounter(o.Progress, o.Profile.Transactions)
	for n, size := range shares(o.Profile) {
		s := t.evmChains[n]
		group.Go(func() error {
			if err := s.open(ctx, creation, t.networks); err != nil {
				return err
			}
			s.full = s.chain.Kind == string(evm.KindC) && size >= fullSize
			moments := schedule(d.For("schedule", s.chain.EVMID), size, start, o.Until)
			if err := s.run(ctx, creation, moments, size, progress); err != nil || s.primaryNetwork == nil {
				return err
			}
			return s.primaryNetwork.advance(uint64(o.Until.Unix()))
		})
	}
	return t, group.Wait()
}

// landedL1 is how many of the nameless own something on an L1 from its beginning: a genesis travels in a transaction.
const landedL1 = 500

// assemble makes everyone and every place, before anything happens.
func assemble(o Options) (*generation, error) {
	d, t := rng(o.Seed), &generation{}
	people, personas, err := cast()
	if err != nil {
		return nil, err
	}
	accounts, err := newAccounts(d, accountCount(o.Profile))
	if err != nil {
		return nil, err
	}
	t.personas = personas
	start := o.Until.AddDate(0, 0, -o.Profile.Days)
	if t.networks, err = newPrimaryNetworks(d, o, start, people, accounts); err != nil {
		return nil, err
	}
	for n, size := range shares(o.Profile) {
		rich := accounts
		if chainSpecs[n].kind == evm.KindL1 {
			rich = accounts[:min(len(accounts), landedL1)]
		}
		alloc, err := endowment(d, people, rich)
		if err != nil {
			return nil, err
		}
		s, err := newEVMChain(d, n, size, start, o.Until, people, accounts, alloc)
		if err != nil {
			return nil, err
		}
		t.evmChains = append(t.evmChains, s)
		if s.l1 != nil {
			home := t.networks[networkIndex(s.chain.Network)]
			home.l1s = append(home.l1s, s.l1)
		}
	}
	t.correspond(d, o, uint64(start.Unix()))
	return t, nil
}

// correspond plans the mail between the chains of each network.
func (t *generation) correspond(d rng, o Options, start uint64) {
	all := shares(o.Profile)
	for i, r := range t.networks {
		var evmChains []*evmChain
		var sizes []int
		for n, s := range t.evmChains {
			if networkIndex(s.chain.Network) == i {
				evmChains, sizes = append(evmChains, s), append(sizes, all[n])
			}
		}
		r.icmPlan.compose(d, evmChains, sizes, r.l1s[0], start, uint64(o.Until.Unix()))
	}
}

func newPrimaryNetworks(d rng, o Options, start time.Time, people map[string]*account, accounts []*account) ([]*primaryNetwork, error) {
	all := make([]*primaryNetwork, len(fixtures.Networks))
	group := errgroup.Group{}
	for i := range all {
		group.Go(func() (err error) {
			all[i], err = newPrimaryNetwork(d, i, o.Profile, uint64(start.Unix()), uint64(o.Until.Unix()), people, accounts)
			return err
		})
	}
	return all, group.Wait()
}

// networkIndex is the place of a network among those of a world.
func networkIndex(name string) int {
	for i, n := range fixtures.Networks {
		if n.Name == name {
			return i
		}
	}
	return 0
}

// open begins a chain. A C-Chain begins its network's other chains; an L1 waits for the P-chain to have made it.
func (s *evmChain) open(ctx context.Context, creation *sim.Creation, networks []*primaryNetwork) error {
	home := networks[networkIndex(s.chain.Network)]
	if s.l1 == nil {
		s.primaryNetwork = home
		s.builder.Settle(s.home(&home.icmPlan))
		return home.begin(creation.AddPrimaryBlock)
	}
	select {
	case <-home.l1sReady:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.chain.SubnetID, s.chain.BlockchainID = s.l1.subnet[:], s.l1.chain[:]
	s.builder.Settle(s.home(&home.icmPlan))
	return nil
}

// counter adds up what all chains report.
func progressCounter(report func(done, total int), total int) func(int) {
	if report == nil {
		return func(int) {}
	}
	var done atomic.Int64
	return func(n int) { report(int(done.Add(int64(n))), total) }
}

// fullSize is how many transactions a C-Chain must have for its personas to act in full.
const fullSize = 1500

// crowdSize is how many nameless people a world has.
func accountCount(p *Profile) int { return min(max(p.Transactions/15, 40), 20_000) }

// shares splits a profile's transactions among its chains: each gets what its people need, and its part of the others. What
// does not divide goes to the first.
func shares(p *Profile) []int {
	total, sizes := 0, make([]int, p.Chains)
	for _, c := range chainSpecs[:p.Chains] {
		total += c.share
	}
	rest := p.Transactions
	accounts := rest - p.Chains*minimumPerChain
	for n := range sizes {
		sizes[n] = minimumPerChain + accounts*chainSpecs[n].share/total
		rest -= sizes[n]
	}
	sizes[0] += rest
	return sizes
}

// perMember is how many transactions of an L1 it takes for each validator, so that its manager's do not crowd out the others.
const txsPerL1Validator = 50

func newEVMChain(d rng, n, size int, start, until time.Time, people map[string]*account, accounts []*account, alloc types.GenesisAlloc) (*evmChain, error) {
	row, genesis, err := chainSpecs[n].found(n+1, start, until, people, accounts, alloc)
	if err != nil {
		return nil, err
	}
	s := &evmChain{
		rng: d, chain: row, people: people, accounts: accounts, places: map[string]common.Address{}, tokenBalances: newTokenBalances(),
		schedule: &genesis.Schedule,
		signer:   types.LatestSignerForChainID(new(big.Int).SetUint64(row.EVMID)),
	}
	if row.Kind == string(evm.KindL1) {
		s.l1 = &l1{name: row.Name, vm: fixtures.SubnetEVMID, genesis: row.Genesis, room: max(size/txsPerL1Validator, 2)}
		s.place("validator-manager", "ValidatorManager", manager)
	}
	s.place("multicall", "Multicall3", Multicall)
	s.builder, s.first, err = evm.NewBuilder(row.ID, genesis)
	return s, err
}
