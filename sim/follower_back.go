package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"snowglobe/sim/evm/reader"
	"snowglobe/sim/metric"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// goBack takes the blocks that the lags do not allow yet out of the copy, if there are any, and lets them come again when they do. The
// metrics of EVM chains have to be made anew then. The caller holds all locks.
func (f *Follower) goBack(ctx context.Context) error {
	to := maps.Clone(f.indexed)
	for key, l := range f.lags {
		var err error
		if to[key], err = f.newest(ctx, key, l); err != nil {
			return err
		}
	}
	var again []revision
	atomic := map[ChainKey]map[uint64]*store.PrimaryDelta{} // of C-Chains, by number
	for _, n := range f.of.Networks {
		if err := f.cutSpenders(ctx, n, to); err != nil {
			return err
		}
		removed, err := f.goBackOnNetwork(ctx, n, to)
		if err != nil {
			return err
		}
		byChain := map[int][]*store.PrimaryDelta{}
		atomic[Key(n.CChain())] = map[uint64]*store.PrimaryDelta{}
		for _, d := range removed {
			if d.Block == nil {
				atomic[Key(n.CChain())][d.Transactions[0].ID.Number()] = d
			} else {
				byChain[d.Block.ID.Chain()] = append(byChain[d.Block.ID.Chain()], d)
			}
		}
		for _, kind := range []txs.Chain{txs.PChain, txs.XChain} {
			again = append(again, f.primary(nil, byChain[n.Chain(kind)])...)
		}
	}
	recount := false
	for _, c := range f.of.Chains {
		if to[Key(c)] == f.indexed[Key(c)] {
			continue
		}
		recount = true
		blocks, err := f.goBackOnChain(ctx, c, to[Key(c)], atomic[Key(c)])
		if err != nil {
			return err
		}
		again = append(again, blocks...)
	}
	f.indexed, f.waiting = to, slices.Concat(again, f.waiting)
	clear(f.opened)
	if !recount {
		return nil
	}
	return f.recount(ctx)
}

// newest is the newest block of a chain that a lag allows, as far as the copy has it: no proposal, whose decision would be missing.
func (f *Follower) newest(ctx context.Context, key ChainKey, l Lag) (uint64, error) {
	to := min(f.indexed[key], f.existing[key]-min(l.Blocks, f.existing[key]))
	for ; to > 0 && l.Milliseconds > 0; to-- {
		at, err := f.blockTime(ctx, key, to)
		if err != nil {
			return to, err
		}
		if at*1000+l.Milliseconds <= f.of.Clock.UnixMilli() {
			break
		}
	}
	if key.Primary && to > 0 {
		block, err := f.of.DB.PrimaryBlock(ctx, key.Chain, to)
		if err != nil || block.Type == proposal {
			return to - 1, err
		}
	}
	return to, nil
}

// blockTime is when a block of a chain was made, in Unix seconds.
func (f *Follower) blockTime(ctx context.Context, key ChainKey, number uint64) (int64, error) {
	if !key.Primary {
		return f.of.DB.BlockTime(ctx, store.At(key.Chain, number, 0))
	}
	block, err := f.of.DB.PrimaryBlock(ctx, key.Chain, number)
	if err != nil {
		return 0, err
	}
	return block.Time, nil
}

// cutSpenders has the chains of a network go back so far that none has spent what a block made which goes.
func (f *Follower) cutSpenders(ctx context.Context, n *Network, to map[ChainKey]uint64) error {
	for again := true; again; {
		again = false
		for _, kind := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
			key := f.of.keyOf(n.Chain(kind))
			if to[key] == f.indexed[key] {
				continue
			}
			spenders, err := f.of.DB.SpendersOf(ctx, n.Chain(kind), to[key])
			if err != nil {
				return err
			}
			for _, by := range spenders {
				if spender := f.of.keyOf(by.Chain()); spender != key && to[spender] >= by.Number() {
					to[spender], again = by.Number()-1, true
				}
			}
		}
	}
	return nil
}

// goBackOnNetwork takes blocks of the P- and the X-Chain out of the copy, and what atomic transactions of blocks of the C-Chain did there;
// it answers what they had added. The rows do not tell what the blocks found: all of them are executed again.
func (f *Follower) goBackOnNetwork(ctx context.Context, n *Network, to map[ChainKey]uint64) ([]*store.PrimaryDelta, error) {
	goes := false
	for _, kind := range []txs.Chain{txs.PChain, txs.XChain} {
		key := f.of.keyOf(n.Chain(kind))
		goes = goes || to[key] < f.indexed[key]
	}
	c := n.CChain()
	blocks, err := f.of.DB.AtomicBlocks(ctx, c.Row.ID)
	for i := range blocks {
		number := blocks[i].ID.Number()
		goes = goes || number > to[Key(c)] && number <= f.indexed[Key(c)]
	}
	if err != nil || !goes {
		return nil, err
	}
	rows, err := f.of.DB.PrimaryNetworks(ctx)
	if err != nil {
		return nil, err
	}
	var kept, removed []*store.PrimaryDelta
	row := rows[slices.IndexFunc(rows, func(r store.PrimaryNetwork) bool { return r.ID == n.Rules.NetworkID })]
	_, err = primary.Replay(ctx, f.of.DB, row, c.Row.ID, false, func(d *store.PrimaryDelta) error {
		at := cmp.Or(d.Block, &store.PrimaryBlock{}).ID
		if d.Block == nil {
			at = d.Transactions[0].ID
		}
		switch key := f.of.keyOf(at.Chain()); {
		case at.Number() > f.indexed[key]:
		case at.Number() > to[key]:
			removed = append(removed, d)
		case d.Block != nil:
			kept = append(kept, &store.PrimaryDelta{Block: d.Block, Stakers: d.Stakers, Stakes: d.Stakes, Fees: d.Fees})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("network %s: %w", n.Name, err)
	}
	return removed, f.change(func(b *store.Batch) error { return b.RemovePrimaryBlocks(kept, removed) })
}

// goBackOnChain takes blocks of an EVM chain out of the copy, those after one, and answers how they come again. What their atomic
// transactions did on the primary chains has been taken out.
func (f *Follower) goBackOnChain(ctx context.Context, c *reader.Chain, to uint64, atomic map[uint64]*store.PrimaryDelta) (again []revision, err error) {
	key := Key(c)
	taken, err := f.db.TakeOut(c.Row.ID, to)
	if err != nil {
		return nil, err
	}
	err = eachCount(ctx, f.of.DB, c, to, f.indexed[key], func(n *blockCount) error {
		number := to + 1 + uint64(len(again))
		at, err := f.of.DB.BlockTime(ctx, store.At(c.Row.ID, number, 0))
		r := revision{time: at * 1000, chain: key, block: number, after: map[ChainKey]uint64{},
			write: func(b *store.Batch) error {
				return errors.Join(b.PutBack(taken[number]), n.add(b), b.AddPrimaryBlock(atomic[number]))
			}}
		if d := atomic[number]; d != nil {
			r.spends(f.of, d)
		}
		again = append(again, r)
		return err
	})
	return again, err
}

// recount makes the copy's metrics out of the blocks that it has.
func (f *Follower) recount(ctx context.Context) error {
	return f.change(func(b *store.Batch) error {
		err := b.ForgetMetrics()
		for _, c := range f.of.Chains {
			began, beganErr := f.of.DB.BlockTime(ctx, store.At(c.Row.ID, 0, 0))
			if err = errors.Join(err, beganErr); err == nil {
				err = b.AddActivity(c.Row.ID, metric.NewActivity(began, nil))
			}
			if err == nil {
				err = eachCount(ctx, f.of.DB, c, 0, f.indexed[Key(c)], func(n *blockCount) error { return n.add(b) })
			}
		}
		return err
	})
}
