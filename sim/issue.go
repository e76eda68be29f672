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
)

// IssueX accepts a transaction in a new block of the X-Chain. The error is the network's reason to refuse it.
func (n *Network) IssueX(ctx context.Context, tx *txs.Tx) error {
	return n.extend(ctx, func(e *extension) error { return e.issueX(tx) })
}

// IssueP accepts a transaction in a new block of the P-Chain, after the blocks that time asks for by then. While the chain lacks the
// gas, the block is so much later. The error is the network's reason to refuse it.
func (n *Network) IssueP(ctx context.Context, tx *txs.Tx) error {
	return n.extend(ctx, func(e *extension) error { return e.issueP(tx) })
}

// IssueNext does what IssueP and IssueX do with a transaction of the P-Chain or the X-Chain that is written when it is known what it
// has to fit: the network's state, and the earliest time of a block. No other comes between. Nil is no transaction.
func (n *Network) IssueNext(ctx context.Context, chain txs.Chain, write func(state *primary.Network, at uint64) (*txs.Tx, error)) error {
	return n.extend(ctx, func(e *extension) error {
		tx, err := write(n.state, e.earliest())
		if err != nil || tx == nil {
			return err
		}
		if chain == txs.XChain {
			return e.issueX(tx)
		}
		return e.issueP(tx)
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
		e.dropped.Add(tx.ID(), err)
		return fmt.Errorf("failed verification: %w", err)
	}
	e.dropped.Remove(tx.ID())
	b, err := e.state.P.BuildBlock(at, []*txs.Tx{tx})
	if err != nil {
		return err
	}
	return e.accept(b, txs.PChain)
}

// DropReason is why a transaction of the P-Chain was refused, if that was not long ago. Unlike a node, which answers with that for a while, IssueP
// looks at it again whenever it comes.
func (n *Network) DropReason(id ids.ID) error {
	reason, _ := n.dropped.Get(id)
	return reason
}

// IssueC accepts an atomic transaction in a new block of the C-Chain. The error is the network's reason to refuse it.
func (n *Network) IssueC(ctx context.Context, tx *txs.Tx) error {
	return n.IssueNextC(ctx, func(*primary.Network, *evm.Pending) (*txs.Tx, error) { return tx, nil })
}

// IssueNextC does what IssueC does with a transaction that is written when its block is known. Nil is no transaction.
func (n *Network) IssueNextC(ctx context.Context, write func(state *primary.Network, p *evm.Pending) (*txs.Tx, error)) error {
	if n.DB.ReadOnly() {
		return store.ErrReadOnly
	}
	m := n.World.MinerOf(n.CChain())
	if m == nil {
		return errNoCChain
	}
	return m.SendAtomic(ctx, func(p *evm.Pending) (*txs.Tx, error) {
		if err := n.restore(ctx); err != nil {
			return nil, err
		}
		return write(n.state, p)
	}, &atomicBackend{n})
}

var errNoCChain = errors.New("the network has no C-Chain")

// atomicBackend is the network as the miner of its C-Chain knows it.
type atomicBackend struct{ *Network }

func (b *atomicBackend) Accept(tx *txs.Tx, h *evm.Header) (*store.PrimaryDelta, error) {
	if err := b.state.C.VerifyTx(tx, h.BaseFee, h.Time); err != nil {
		return nil, err
	}
	return b.state.AcceptC([]*txs.Tx{tx}, h.Number.Uint64(), h.BaseFee, h.Time)
}

func (b *atomicBackend) Reject() { b.state, b.due = nil, 0 }

// extension is blocks of a network's P- and X-Chain that are accepted one after the other and stored together.
type extension struct {
	*Network
	deltas []*store.PrimaryDelta
	heads  heads // the last digests of the chains that are extended
	time   int64 // of the last block
}

// extend lets add accept blocks and stores them.
func (n *Network) extend(ctx context.Context, add func(*extension) error) error {
	if n.DB.ReadOnly() {
		return store.ErrReadOnly
	}
	n.World.writer.Lock()
	defer n.World.writer.Unlock()
	return n.extendLocked(ctx, add)
}

// extendLocked is extend for who holds the writer's lock. When it fails the blocks were never accepted: whoever comes next restores the
// state of the file.
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

// restore has the network's state, and its nodes, ready.
func (n *Network) restore(ctx context.Context) (err error) {
	if n.state == nil {
		n.state, err = primary.Restore(ctx, n.DB, n.Rules.NetworkID)
	}
	if err == nil && n.nodes == nil {
		n.nodes, err = n.DB.Nodes(ctx, n.Rules.NetworkID)
	}
	return err
}

// earliest is the first second in which a block may be: not before the world's clock, nor before the last blocks.
func (e *extension) earliest() uint64 {
	return max(uint64(e.Clock.Unix()), e.state.X.Time(), e.state.P.Time())
}

// accept accepts the next block of the P-Chain or the X-Chain.
func (e *extension) accept(b *txs.Block, chain txs.Chain) error {
	proposer, err := e.proposer(b)
	if err != nil {
		return err
	}
	e.heads[headKey{true, e.Chain(chain)}] = nil // until it is accepted
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

// proposer chooses who proposes a block among the nodes that validate at its time: in turn, by the block's height. A block
// that decides a proposal has none.
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

// store writes the blocks, and the clock, which then stands at the last one or later.
func (e *extension) store() error {
	if len(e.deltas) == 0 {
		return nil
	}
	return e.World.commit(e.heads, e.time*1000, Added{Primary: []PrimaryAdded{{e.Network, e.deltas}}}, e.add)
}

// add writes the blocks.
func (e *extension) add(b *store.Batch) error {
	for _, delta := range e.deltas {
		if err := b.AddPrimaryBlock(delta); err != nil {
			return fmt.Errorf("block %d of chain %d: %w", delta.Block.ID.Number(), delta.Block.ID.Chain(), err)
		}
	}
	return nil
}
