package sim

import (
	"context"
	"errors"
	"fmt"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/metric"
	"snowglobe/sim/miner"
	"snowglobe/sim/store"
)

// ErrReorg explains why blocks cannot be removed from a chain.
var ErrReorg = errors.New("reorg refused")

// blocksAtOnce bounds the blocks in memory while metrics are counted again.
const blocksAtOnce = 256

// Reorg replaces the newest blocks of an EVM chain, depth of them, with one block for each list of transactions, which may be empty. The
// real network never does this: an accepted block is final. The transactions of the removed blocks are gone and do not return to the pool, as
// on anvil. The other chains and the clock stay as they are, so the new blocks are later than the old ones. A transaction that its block
// cannot hold is left out, which the error reports once all blocks are made.
//
// A reorg is one more commit, which reverting to a snapshot undoes. It can remove only blocks made since the world was generated and within
// reach of the undo log (store.DB.KeepUndo), and none with atomic transactions or with messages that another chain has received.
func (w *World) Reorg(ctx context.Context, c *reader.Chain, depth uint64, blocks [][]*miner.Transaction) error {
	if w.DB.ReadOnly() {
		return store.ErrReadOnly
	}
	m := w.MinerOf(c)
	err := w.withWritersPaused(ctx, RewindOptions{}, func(ctx context.Context) error {
		if depth > 0 {
			if err := (&removal{w, c}).do(ctx, depth, len(blocks) > 0); err != nil {
				return err
			}
		}
		return m.Replace(ctx, blocks)
	})
	w.mined(ctx)
	return err
}

// removal removes blocks from a chain. Its caller holds the writer's lock.
type removal struct {
	*World
	chain *reader.Chain
}

func (r *removal) do(ctx context.Context, depth uint64, replacing bool) error {
	w, c := r.World, r.chain
	last, err := r.ancestor(ctx, depth)
	if err != nil {
		return err
	}
	if err := r.check(ctx, last.ID.Number()); err != nil {
		return err
	}
	logs, err := c.RemovedLogs(ctx, last.ID.Number())
	if err != nil {
		return err
	}
	memory, err := w.MinerOf(c).Memory()
	if err != nil {
		return err
	}
	digest, err := w.DB.HeadDigest(ctx, last)
	if err != nil {
		return err
	}
	plan, err := w.DB.PlanRewind(ctx, c.Row.ID, last.ID.Number())
	if errors.Is(err, store.ErrMerged) {
		return fmt.Errorf("%w: an earlier reorg replaced blocks that are further back than --undo-blocks keeps; go back to a snapshot instead", ErrReorg)
	}
	if err != nil {
		return err
	}
	counts, err := r.counts(ctx, plan)
	if err != nil {
		return err
	}
	parts, err := c.PartsBefore(ctx, plan)
	if err != nil {
		return err
	}
	m, heads := w.meta, w.heads.with(heads{headKey{false, c.Row.ID}: digest})
	m.Digest = digestOf(m.Base, m.Clock, heads)
	err = w.revise(m, func(b *store.Batch) error {
		if err := errors.Join(b.Rewind(plan.RewindOptions), b.AddTrieChanges(c.Row.ID, parts)); err != nil {
			return err
		}
		for i := range counts {
			if err := counts[i].add(b); err != nil {
				return err
			}
		}
		w.Gate.Close()
		return nil
	})
	if err != nil {
		return err
	}
	w.heads = heads
	if relayer := w.relayer.Load(); relayer != nil {
		if err := (*relayer).Rewound(ctx); err != nil {
			return err
		}
	}
	return errors.Join(c.Rewound(ctx, logs, replacing), w.MinerOf(c).Rewound(ctx, memory))
}

// ancestor returns the newest block that stays.
func (r *removal) ancestor(ctx context.Context, depth uint64) (*store.Block, error) {
	head, err := r.chain.Head(ctx)
	if err != nil {
		return nil, err
	}
	if depth > head.Number {
		return nil, fmt.Errorf("%w: depth must not exceed current chain height: current height %d, depth %d", ErrReorg, head.Number, depth)
	}
	reach, err := r.DB.UndoReach(ctx)
	if err != nil {
		return nil, err
	}
	kept, err := r.DB.HeadsBefore(ctx, reach)
	if err != nil {
		return nil, err
	}
	first, grown := kept[r.chain.Row.ID]
	if !grown {
		first = head.Number
	}
	switch most := head.Number - first; {
	case depth > most && reach > 0:
		return nil, fmt.Errorf("%w: the depth is %d, but only the newest %d blocks of the chain can be replaced (--undo-blocks); go back to a snapshot instead", ErrReorg, depth, most)
	case depth > most:
		return nil, fmt.Errorf("%w: the depth is %d, but only %d blocks of the chain were made since the world was generated, and only those can be replaced", ErrReorg, depth, most)
	}
	return r.DB.Block(ctx, r.chain.Row.ID, head.Number-depth)
}

// check returns why the blocks after one cannot go while other chains stay, if so.
func (r *removal) check(ctx context.Context, after uint64) error {
	for first := after + 1; ; first += blocksAtOnce {
		blocks, err := r.DB.Blocks(ctx, r.chain.Row.ID, first, first+blocksAtOnce-1)
		if err != nil || len(blocks) == 0 {
			return err
		}
		for i := range blocks {
			if len(blocks[i].ExtData) > 0 {
				return fmt.Errorf("%w: block %d has an atomic transaction, which moves AVAX from or to another chain", ErrReorg, blocks[i].ID.Number())
			}
			if err := r.unreceived(ctx, &blocks[i]); err != nil {
				return err
			}
		}
	}
}

// unreceived checks that no other chain has received a message of the block.
func (r *removal) unreceived(ctx context.Context, block *store.Block) error {
	messages, err := r.DB.MessagesIn(ctx, block.ID)
	if err != nil {
		return err
	}
	for i := range messages {
		events, err := r.DB.MessageEvents(ctx, messages[i].Hash)
		if err != nil {
			return err
		}
		for j := range events {
			if by := r.ChainAt(events[j].ID); by != r.chain {
				return fmt.Errorf("%w: block %d sent the message 0x%x, which chain %d has received; go back to a snapshot instead",
					ErrReorg, block.ID.Number(), messages[i].Hash, by.Row.EVMID)
			}
		}
	}
	return nil
}

type blockCount struct {
	chain    int
	activity *metric.Activity
	messages []store.Message
}

func (c *blockCount) add(b *store.Batch) error {
	err := b.AddActivity(c.chain, c.activity)
	for i := range c.messages {
		err = errors.Join(err, b.AddICMCount(&c.messages[i]))
	}
	return err
}

// counts returns the contributions to the metrics that the remaining blocks of all EVM chains made after the commit to which the metrics go
// back.
func (r *removal) counts(ctx context.Context, plan *store.ChainRewind) (all []blockCount, err error) {
	for _, c := range r.Chains {
		after, grown := plan.Heads[c.Row.ID]
		if !grown {
			continue
		}
		until := uint64(store.MaxNumber)
		if c.Row.ID == plan.Chain {
			until = plan.After
		}
		err := eachCount(ctx, r.DB, c, after, until, func(n *blockCount) error {
			all = append(all, *n)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("chain %d: %w", c.Row.EVMID, err)
		}
	}
	return all, nil
}

// eachCount visits the contributions to the metrics of an EVM chain's blocks after one, up to another.
func eachCount(ctx context.Context, db *store.DB, c *reader.Chain, after, until uint64, visit func(*blockCount) error) error {
	parent, err := db.BlockTime(ctx, store.At(c.Row.ID, after, 0))
	for first := after + 1; first <= until && err == nil; first += blocksAtOnce {
		var deltas []store.Delta
		if deltas, err = db.Deltas(ctx, c.Row.ID, first, min(until, first+blocksAtOnce-1)); len(deltas) == 0 {
			break
		}
		for i := range deltas {
			count := &blockCount{chain: c.Row.ID}
			if count.activity, err = evm.ActivityOf(c.Kind, &deltas[i], parent); err != nil {
				return err
			}
			if count.messages, err = db.MessagesIn(ctx, deltas[i].Block.ID); err != nil {
				return err
			}
			if err := visit(count); err != nil {
				return err
			}
			parent = deltas[i].Block.Time
		}
	}
	return err
}
