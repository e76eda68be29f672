package seed

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"snowglobe/fixtures"
	"snowglobe/fixtures/worldfile"
	"snowglobe/seed/evm"
	"snowglobe/seed/population"
	"snowglobe/seed/primary"
	"snowglobe/sim"
	"snowglobe/sim/evm/index"
)

// Options names the world to make, and its file.
type Options struct {
	Path     string // of the file, or store.Memory
	Seed     int64
	Profile  *Profile
	Upgrades []string // when upgrades activate; they win over the profile's
	Until    time.Time
	UntilNow bool                  // Until is the time of generation: an existing world of any time will do
	Today    time.Time             // history may end ten years later, or ten after DefaultUntil if that is before it
	ReadOnly bool                  // the file must exist, and is only read
	Anew     bool                  // set aside a file of an unsupported version, or one in the place of a new world
	Progress func(done, total int) // transactions, none at first; may be nil; called from several goroutines

	Note func(string) // reports what a file to import has that the world leaves out; may be nil

	replaces bool // replace the existing file when the world is complete
}

// Generate makes a world. A world that cannot be finished leaves nothing behind.
func Generate(ctx context.Context, o Options) (*sim.World, error) {
	if err := o.Profile.CheckSpan(o.Until, o.Today); err != nil {
		return nil, err
	}
	shape, err := o.Profile.YAML()
	if err != nil {
		return nil, err
	}
	o.Until = o.Until.UTC().Truncate(time.Second)
	defer time.AfterFunc(time.Second, debug.FreeOSMemory) // after the response to the client that waits for the world
	garbage := newGarbage()
	defer garbage.end()
	if o.Progress != nil {
		o.Progress(0, o.Profile.allTransactions())
	}
	begun := make(chan func() (*generation, error), 1)
	go func() { // while the file is made
		g, err := newGeneration(o)
		begun <- func() (*generation, error) { return g, err }
	}()
	create := sim.Create
	if o.replaces {
		create = sim.CreateAnew
	}
	creation, err := create(o.Path, sim.Identity{Seed: o.Seed, Profile: o.Profile.Name, Shape: shape, Until: o.Until})
	if err != nil {
		return nil, err
	}
	w, err := o.generate(ctx, creation, <-begun, garbage)
	if err != nil {
		if mistake, ok := errors.AsType[*worldfile.Mistake](err); ok { // the user's line, not the place of the check
			err = mistake
		}
		return nil, errors.Join(err, creation.Abort())
	}
	return w, nil
}

func (o *Options) generate(ctx context.Context, creation *sim.Builder, begun func() (*generation, error), garbage *garbage) (*sim.World, error) {
	g, err := begun()
	if err != nil {
		return nil, err
	}
	g.garbage = garbage
	if err := g.run(ctx, o.Progress, creation); err != nil {
		return nil, err
	}
	who, err := g.participants()
	if err != nil {
		return nil, err
	}
	if o.Profile.Empty() {
		debug.FreeOSMemory() // of the chains: rewriting the file takes memory outside the heap
		return creation.Finish(ctx, who, nil)
	}
	return creation.Finish(ctx, who, g.play)
}

type generation struct {
	profile  *Profile
	upgrades []string // choices of when upgrades activate
	span     population.Span
	personas *population.Personas
	networks []*primary.Network // mainnet, fuji
	chains   []*chain
	specs    []evm.ChainSpec
	named    *namedAccounts
	garbage  *garbage
	note     func(string)

	documents *index.Documents // of all chains' items
}

// chain is an EVM chain of the world with its network; l1 is nil for a C-Chain.
type chain struct {
	*evm.Chain
	network *primary.Network
	l1      *primary.L1
}

// newGeneration makes all accounts, networks and chains, before anything happens.
func newGeneration(o Options) (*generation, error) {
	rng := population.RNG(o.Seed)
	personas, err := population.NewPersonas()
	if err != nil {
		return nil, err
	}
	accounts, err := population.NewAccounts(rng, accountCount(o.Profile))
	if err != nil {
		return nil, err
	}
	g := &generation{note: func(string) {}, profile: o.Profile, upgrades: slices.Concat(o.Profile.Upgrades, o.Upgrades), personas: personas,
		span: population.Span{Start: uint64(o.Until.AddDate(0, 0, -o.Profile.Days).Unix()), Until: uint64(o.Until.Unix())}}
	if o.Note != nil {
		g.note = o.Note
	}
	if g.documents, err = index.NewDocuments(); err != nil {
		return nil, err
	}
	if g.named, err = newNamedAccounts(o.Profile, personas); err != nil {
		return nil, err
	}
	if g.specs, err = g.named.specs(); err != nil {
		return nil, err
	}
	for i := range o.Profile.L1s {
		for _, note := range o.Profile.L1s[i].Notes {
			g.note(note)
		}
	}
	if err := g.makeNetworks(rng, accounts); err != nil {
		return nil, err
	}
	if err := g.prepareOwn(); err != nil {
		return nil, err
	}
	if err := g.makeChains(rng, accounts); err != nil {
		return nil, err
	}
	for _, n := range g.networks {
		n.ICM.Plan()
	}
	return g, nil
}

func (g *generation) makeNetworks(rng population.RNG, accounts []*population.Account) error {
	networks, _, err := networkRules(g.upgrades, time.Unix(int64(g.span.Until), 0))
	if err != nil {
		return err
	}
	g.networks = make([]*primary.Network, len(networks))
	group := errgroup.Group{}
	for i := range g.networks {
		group.Go(func() (err error) {
			g.networks[i], err = primary.NewNetwork(rng, networks[i], g.profile.networkSize(i), g.span, g.personas, accounts)
			return err
		})
	}
	return group.Wait()
}

// accountsOnL1 bounds the accounts with an initial balance on an L1, whose genesis has to fit into a transaction.
const accountsOnL1 = 300

// makeChains makes the EVM chains in parallel, and joins them to the networks in their order.
func (g *generation) makeChains(rng population.RNG, accounts []*population.Account) error {
	sizes := shares(g.profile)
	g.chains = make([]*chain, len(sizes))
	errs, all := make([]error, len(sizes)), sync.WaitGroup{} // reports the first chain's mistake
	for n, size := range sizes {
		all.Go(func() { errs[n] = g.makeChain(rng, n, size, accounts) })
	}
	all.Wait()
	for n, c := range g.chains {
		if errs[n] != nil {
			return errs[n]
		}
		if err := g.join(n, c, sizes[n]); err != nil {
			return err
		}
	}
	return nil
}

func (g *generation) makeChain(rng population.RNG, n, size int, accounts []*population.Account) error {
	funded, spec := accounts, &g.specs[n]
	if spec.IsL1() {
		funded = accounts[:min(len(accounts), accountsOnL1)]
	}
	alloc := evm.GenesisAlloc(rng, g.personas, funded)
	if spec.Imported() {
		var err error
		if alloc, err = spec.Allocation(); err != nil {
			return err
		}
	}
	g.named.allocate(n, g.specs, alloc)
	err := g.named.allocateInGenesis(n, g.specs, alloc)
	if err != nil {
		return err
	}
	c := &chain{network: g.networks[networkIndex(spec.Network)]}
	g.chains[n] = c
	if c.Chain, err = evm.NewChain(rng, spec, n, size, g.span, g.personas, accounts, alloc); err != nil {
		return err
	}
	c.Builder.Remember(g.documents)
	return nil
}

func (g *generation) join(n int, c *chain, size int) error {
	if !c.IsL1() {
		c.network.AddC(c.Allocated())
	} else {
		c.l1 = c.network.AddL1(c.Row.Name, fixtures.SubnetEVMID, c.Row.Genesis, size)
		if err := g.declare(n, c); err != nil {
			return err
		}
	}
	c.network.ICM.AddChain(c.Chain, c.l1)
	return nil
}

func networkIndex(name string) int {
	return max(slices.IndexFunc(fixtures.Networks, func(n fixtures.Network) bool { return n.Name == name }), 0)
}

// run makes every chain's history, one more at a time than there are processors, so that none idles while the last one is made. A network's
// P- and X-Chain come with its C-Chain.
func (g *generation) run(ctx context.Context, report func(done, total int), creation *sim.Builder) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0) + 1)
	count := progressCounter(report, g.profile.allTransactions())
	progress := func(done int) {
		count(done)
		g.garbage.madeBlock()
	}
	for _, c := range g.chains {
		group.Go(func() error {
			if c.l1 != nil {
				return c.runL1(ctx, creation, progress)
			}
			return c.runPrimary(ctx, creation, progress, g.span.Until)
		})
	}
	return group.Wait()
}

// runPrimary makes the three chains of a primary network, in the order of time: P and X advance to each block of C.
func (c *chain) runPrimary(ctx context.Context, creation *sim.Builder, progress func(int), until uint64) error {
	c.network.ICM.Connect(c.Chain)
	if err := c.network.Begin(creation.AddPrimaryBlock); err != nil {
		return err
	}
	if err := c.makeBlocks(ctx, creation, c.network, c.network.Advance, progress); err != nil {
		return err
	}
	return c.network.Advance(until)
}

// runL1 makes the chain of an L1 once the P-Chain has created it.
func (c *chain) runL1(ctx context.Context, creation *sim.Builder, progress func(int)) error {
	select {
	case <-c.network.Created():
	case <-ctx.Done():
		return ctx.Err()
	}
	subnet, blockchain := c.l1.IDs()
	c.Row.SubnetID, c.Row.BlockchainID = subnet[:], blockchain[:]
	c.network.ICM.Connect(c.Chain)
	return c.makeBlocks(ctx, creation, nil, func(uint64) error { return nil }, progress)
}

// makeBlocks makes a chain's blocks. Before each, the chains that it depends on advance to its time.
func (c *chain) makeBlocks(ctx context.Context, creation *sim.Builder, source evm.AtomicTxs, advance func(to uint64) error, progress func(int)) error {
	creation.AddChain(c.Row)
	if c.Size() == 0 {
		creation.AddBlock(c.Genesis())
		creation.AddTries(c.Row.ID, c.Builder.LargeTries())
		c.Release()
		return nil
	}
	h, err := c.Begin(source, c.network.ICM.Scheduled(c.Chain), creation.AddBlock)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		b, more := h.Next()
		if !more {
			creation.AddTries(c.Row.ID, c.Builder.LargeTries())
			c.Release()
			return nil
		}
		if err := advance(b.TimeMS / 1000); err != nil {
			return err
		}
		done, err := h.Make(ctx, b)
		if err != nil {
			return err
		}
		progress(done)
	}
	return ctx.Err()
}

// participants returns the rows of all accounts, nodes, contracts and tokens.
func (g *generation) participants() (sim.Participants, error) {
	who := sim.Participants{Personas: append(g.personas.Rows[:len(g.personas.Rows):len(g.personas.Rows)], g.named.rows...)}
	for _, n := range g.networks {
		row, err := n.Row()
		if err != nil {
			return who, err
		}
		who.Networks = append(who.Networks, row)
		who.Nodes = append(who.Nodes, n.NodeRows()...)
	}
	for _, c := range g.chains {
		who.Contracts = append(who.Contracts, c.Contracts()...)
		who.Markets = append(who.Markets, c.Markets()...)
	}
	return who, nil
}

func progressCounter(report func(done, total int), total int) func(int) {
	if report == nil {
		return func(int) {}
	}
	var done atomic.Int64
	return func(n int) { report(int(done.Add(int64(n))), total) }
}
