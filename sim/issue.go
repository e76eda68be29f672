package sim

import (
	"context"
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/evm"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// IssueX accepts a transaction in a new X-Chain block. The error is the node's reason to refuse it.
func (n *Network) IssueX(ctx context.Context, tx *txs.Tx) error {
	return n.extend(ctx, func(e *extension) error { return e.issueX(tx) })
}

// IssueP accepts a transaction in a new P-Chain block, after the blocks that fall due before it. If the chain lacks gas capacity,
// the block's time is when it has enough. The error is the node's reason to refuse it.
func (n *Network) IssueP(ctx context.Context, tx *txs.Tx) error {
	return n.extend(ctx, func(e *extension) error { return e.issueP(tx) })
}

// IssueNext is IssueP or IssueX for a transaction that write makes once it knows the network's state and the earliest block time.
// No other block comes between. A nil transaction does nothing.
func (n *Network) IssueNext(ctx context.Context, chain txs.Chain, write func(state *primary.Network, at uint64) (*txs.Tx, error)) error {
	return n.IssueAll(ctx, []Next{{chain, write}})
}

// Next is a transaction of the P- or X-Chain that Write makes as in IssueNext.
type Next struct {
	Chain txs.Chain
	Write func(state *primary.Network, at uint64) (*txs.Tx, error)
}

// IssueAll is IssueNext for one transaction after the other: if one is refused, none is accepted.
func (n *Network) IssueAll(ctx context.Context, all []Next) error {
	return n.extend(ctx, func(e *extension) error {
		for _, next := range all {
			tx, err := next.Write(n.state, e.earliest())
			switch {
			case err != nil || tx == nil:
			case next.Chain == txs.XChain:
				err = e.issueX(tx)
			default:
				err = e.issueP(tx)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (e *extension) issueX(tx *txs.Tx) error {
	at := e.earliest()
	if err := e.state.X.Check(tx, at); err != nil {
		return err
	}
	b, err := e.state.X.BuildBlock(at, []*txs.Tx{tx})
	if err != nil {
		return err
	}
	return e.accept(b, txs.XChain)
}

func (e *extension) issueP(tx *txs.Tx) error {
	at := e.state.P.CapacityTime(tx.Unsigned, e.earliest())
	if err := e.advanceP(at); err != nil {
		return err
	}
	if err := e.state.P.VerifyTx(tx, at); err != nil {
		if !store.Internal(err) {
			e.dropped.Add(tx.ID(), err)
		}
		return fmt.Errorf("failed verification: %w", err)
	}
	e.dropped.Remove(tx.ID())
	b, err := e.state.P.BuildBlock(at, []*txs.Tx{tx})
	if err != nil {
		return err
	}
	return e.accept(b, txs.PChain)
}

// DropReason returns why the P-Chain recently refused a transaction, or nil. A node keeps refusing such a transaction for a while; IssueP
// verifies it again.
func (n *Network) DropReason(id ids.ID) error {
	reason, _ := n.dropped.Get(id)
	return reason
}

// IssueC accepts an atomic transaction in a new C-Chain block. The error is the node's reason to refuse it.
func (n *Network) IssueC(ctx context.Context, tx *txs.Tx) error {
	return n.IssueNextC(ctx, func(*primary.Network, *evm.BlockExecution) (*txs.Tx, error) { return tx, nil })
}

// IssueNextC is IssueC for a transaction that write makes once its block is known. A nil transaction does nothing.
func (n *Network) IssueNextC(ctx context.Context, write func(state *primary.Network, p *evm.BlockExecution) (*txs.Tx, error)) error {
	if n.DB.ReadOnly() {
		return store.ErrReadOnly
	}
	m := n.World.MinerOf(n.CChain())
	if m == nil {
		return errNoCChain
	}
	return m.SendAtomic(ctx, func(p *evm.BlockExecution) (*txs.Tx, error) {
		if err := n.restore(ctx); err != nil {
			return nil, err
		}
		return write(n.state, p)
	}, &atomicBackend{n})
}

var errNoCChain = errors.New("the network has no C-Chain")

// atomicBackend gives the C-Chain's miner the network's state.
type atomicBackend struct{ *Network }

func (b *atomicBackend) Accept(tx *txs.Tx, h *evm.Header) (*store.PrimaryDelta, error) {
	if err := b.state.C.VerifyTx(tx, h.BaseFee, h.Time); err != nil {
		return nil, err
	}
	return b.state.AcceptC([]*txs.Tx{tx}, h.Number.Uint64(), h.BaseFee, h.Time)
}

func (b *atomicBackend) Reject() { b.state, b.due = nil, 0 }

// extension collects P- and X-Chain blocks that are accepted one after the other and stored together.
type extension struct {
	*Network
	deltas []*store.PrimaryDelta
	heads  heads // new last digests of the extended chains
	time   int64 // of the last block, in seconds
}

// extend runs add, which accepts blocks, and stores them.
func (n *Network) extend(ctx context.Context, add func(*extension) error) error {
	if n.DB.ReadOnly() {
		return store.ErrReadOnly
	}
	defer n.World.lock(ctx)()
	return n.extendLocked(ctx, add)
}

// extendLocked is extend for a caller that holds the writer's lock. If it fails, the blocks do not exist, and the next caller
// restores the state from the file.
func (n *Network) extendLocked(ctx context.Context, add func(*extension) error) error {
	if err := n.restore(ctx); err != nil {
		return err
	}
	e := &extension{Network: n, heads: heads{}}
	err := add(e)
	if err == nil {
		err = e.store()
	}
	if err != nil && len(e.heads) > 0 {
		n.state, n.due = nil, 0
	}
	return err
}

// restore reads the network's state and nodes unless they are in memory.
func (n *Network) restore(ctx context.Context) (err error) {
	if n.state == nil {
		n.state, err = primary.Restore(ctx, n.DB, n.Rules.NetworkID)
	}
	if err == nil {
		n.state.P.Tx = n.pChainTx
	}
	if err == nil && n.nodes == nil {
		n.nodes, err = n.DB.Nodes(ctx, n.Rules.NetworkID)
	}
	return err
}

// pChainTx finds an accepted transaction of the P-Chain, or utxo.ErrNotFound.
func (n *Network) pChainTx(txID ids.ID) (*txs.Tx, error) {
	row, err := n.DB.PrimaryTxByHash(context.Background(), n.Chain(txs.PChain), txID[:])
	if errors.Is(err, store.ErrNotFound) {
		return nil, utxo.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	tx, err := txs.ParseTx(txs.PChain, row.Bytes)
	return tx, store.Damaged(err)
}

// earliest returns the first second allowed for a block: not before the clock or the last blocks.
func (e *extension) earliest() uint64 {
	return max(uint64(e.Clock.Unix()), e.state.X.Time(), e.state.P.Time())
}

// accept accepts the next block of the P-Chain or the X-Chain.
func (e *extension) accept(b *txs.Block, chain txs.Chain) error {
	proposer, err := e.proposer(b)
	if err != nil {
		return err
	}
	e.heads[headKey{true, e.Chain(chain)}] = nil // set below, once the block is accepted
	accept := e.state.AcceptP
	if chain == txs.XChain {
		accept = e.state.AcceptX
	}
	delta, err := accept(b, proposer)
	if err != nil {
		return err
	}
	e.deltas, e.time = append(e.deltas, delta), delta.Block.Time
	e.heads[headKey{true, e.Chain(chain)}] = delta.Block.Digest
	return nil
}

// proposer chooses a block's proposer among the nodes that validate at its time, in turn by height. Commit and abort blocks have
// none.
func (e *extension) proposer(b *txs.Block) (*primary.Proposer, error) {
	switch b.Body.(type) {
	case *txs.CommitBlock, *txs.AbortBlock:
		return nil, nil
	}
	var certificates [][]byte
	for i := range e.nodes {
		if e.state.CanPropose(ids.NodeID(e.nodes[i].Node), b.Time()) {
			certificates = append(certificates, e.nodes[i].Certificate)
		}
	}
	if len(certificates) == 0 {
		return nil, errNoProposer
	}
	return &primary.Proposer{Certificate: certificates[b.Height()%uint64(len(certificates))], PHeight: e.state.P.Height()}, nil
}

// store commits the blocks and moves the clock to the last one, unless it is later already.
func (e *extension) store() error {
	if len(e.deltas) == 0 {
		return nil
	}
	return e.World.commit(commit{heads: e.heads, time: e.time * 1000, added: Added{Primary: []PrimaryAdded{{e.Network, e.deltas}}}, write: e.add})
}

func (e *extension) add(b *store.Batch) error {
	for _, delta := range e.deltas {
		if err := b.AddPrimaryBlock(delta); err != nil {
			return fmt.Errorf("block %d of chain %d: %w", delta.Block.ID.Number(), delta.Block.ID.Chain(), err)
		}
	}
	return nil
}
