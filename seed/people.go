package seed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/seed/evm"
	"snowglobe/seed/population"
	"snowglobe/seed/primary"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// People act on in an open world's time after the generated history. Each action's time and actor follow from the seed and the profile
// alone, its content from the seed, the time and the present world. The world is the only state.
type People struct {
	world   *sim.World
	refused func(error) // receives the network's refusals

	moving sync.Mutex // held while the clock moves with them; guards the lines, which are made on first use
	lines  []line
	rng    population.RNG
}

// line is a chain on which things happen one after the other.
type line struct {
	name   string
	perDay int64 // thousandths of an action on an average day
	act    func(ctx context.Context, at uint64) error
}

// plannedAction is an action on a line at a time, in Unix seconds.
type plannedAction struct {
	at   uint64
	line *line
}

// NewPeople returns the people of a world. refused receives the network's refusals of their actions.
func NewPeople(w *sim.World, refused func(error)) *People {
	return &People{world: w, rng: population.RNG(w.Meta.Seed), refused: refused}
}

// Advance moves the clock to a time like sim.World.Advance, and lets people act on the way. Refused actions do not happen. People don't make up
// for time that the clock or a block skipped without them.
func (p *People) Advance(ctx context.Context, to time.Time) error {
	if err := p.world.CanAdvance(to); err != nil {
		return err
	}
	p.moving.Lock()
	defer p.moving.Unlock()
	if err := p.prepare(ctx); err != nil {
		return err
	}
	from := p.world.Clock.UnixMilli()
	for hour := uint64(from) / 1000 / population.Hour * population.Hour; int64(hour)*1000 <= to.UnixMilli(); hour += population.Hour {
		for _, d := range p.plannedActions(hour) {
			if at := int64(d.at) * 1000; at <= from || at > to.UnixMilli() || at < p.world.Clock.UnixMilli() {
				continue
			}
			if err := p.live(ctx, d); err != nil {
				return err
			}
		}
	}
	err := p.world.Advance(ctx, to)
	if errors.Is(err, sim.ErrBackwards) { // the last block needed more time
		return nil
	}
	return err
}

// plannedActions returns an hour's actions, in order.
func (p *People) plannedActions(hour uint64) (all []plannedAction) {
	for i := range p.lines {
		l := &p.lines[i]
		for _, at := range population.TimesIn(p.rng.For("hour", l.name, hour), hour, l.perDay) {
			all = append(all, plannedAction{at, l})
		}
	}
	slices.SortStableFunc(all, func(a, b plannedAction) int { return cmp.Compare(a.at, b.at) })
	return all
}

// live moves the clock to an action's time, and runs it.
func (p *People) live(ctx context.Context, d plannedAction) error {
	err := p.world.Advance(ctx, time.Unix(int64(d.at), 0))
	if err == nil {
		err = d.line.act(ctx, d.at)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, store.ErrDisk), errors.Is(err, store.ErrReadOnly):
		return err
	case err != nil:
		p.refused(fmt.Errorf("%s at %d: %w", d.line.name, d.at, err))
	}
	return nil
}

func (p *People) prepare(ctx context.Context) error {
	if p.lines != nil {
		return nil
	}
	profile, err := ParseProfile(p.world.Meta.Profile, []byte(p.world.Meta.Shape))
	if err != nil {
		return err
	}
	personas, err := population.NewPersonas()
	if err != nil {
		return err
	}
	accounts, err := population.NewAccounts(p.rng, accountCount(profile))
	if err != nil {
		return err
	}
	onChains, err := p.onChains(ctx, profile, personas, accounts)
	if err != nil {
		return err
	}
	onNetworks, err := p.onNetworks(ctx, profile, personas, accounts)
	if err != nil { // incomplete: look again next time
		return err
	}
	p.lines = append(onChains, onNetworks...)
	return nil
}

func (p *People) onChains(ctx context.Context, profile *Profile, personas *population.Personas, accounts []*population.Account) (lines []line, err error) {
	for i, size := range shares(profile) {
		if size == 0 {
			continue
		}
		m := p.world.Miners[i]
		row := m.Chain.Row
		contracts, err := p.world.DB.Contracts(ctx, row.ID)
		if err != nil {
			return nil, err
		}
		residents := evm.NewResidents(p.rng, m, p.world.DB, size, personas, accounts, contracts, p.peers(&row))
		lines = append(lines, line{row.Name + "/" + row.Network, int64(size) * 1000 / int64(profile.Days), residents.Act})
	}
	return lines, nil
}

// peers returns the chains to which a chain sends messages: the others of its network, or itself if it is alone.
func (p *People) peers(of *store.Chain) (others []ids.ID) {
	for _, c := range p.world.Chains {
		if c.Row.Network == of.Network && c.Row.ID != of.ID {
			others = append(others, ids.ID(c.Row.BlockchainID))
		}
	}
	if len(others) == 0 {
		others = append(others, ids.ID(of.BlockchainID))
	}
	return others
}

// onNetworks returns the lines of the P- and X-Chains, and of transfers between them and the C-Chains.
func (p *People) onNetworks(ctx context.Context, profile *Profile, personas *population.Personas, accounts []*population.Account) (lines []line, err error) {
	for i := range fixtures.Networks {
		size := profile.networkSize(i)
		residents, err := primary.NewResidents(ctx, p.rng, p.world.Networks[i], size, personas, accounts)
		if err != nil {
			return nil, err
		}
		for _, chain := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
			perDay := int64(size.Transactions) * 500 / int64(profile.Days)
			if chain == txs.CChain { // the C-Chain's other transactions have a line of their own
				perDay /= 3
			}
			lines = append(lines, line{chain.String() + "/" + fixtures.Networks[i].Name, perDay,
				func(ctx context.Context, at uint64) error { return residents.Act(ctx, chain, at) }})
		}
	}
	return lines, nil
}
