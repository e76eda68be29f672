package miner

import (
	"context"
	"sync"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
)

// pending keeps the pending block until the head or the pool changes.
type pending struct {
	mu      sync.Mutex
	block   *reader.Block
	head    common.Hash
	changes uint64
}

func (p *pending) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.block = nil
}

// Pending is the block that would be made now of what waits. When nothing waits that a block could take it is the head, as on
// a node, where nothing is ever pending.
func (m *Miner) Pending(ctx context.Context) (*reader.Block, error) {
	head, err := m.Chain.Head(ctx)
	if err != nil {
		return nil, err
	}
	if ready, _ := m.Pool.Count(); ready == 0 {
		return head, nil
	}
	m.pending.mu.Lock()
	defer m.pending.mu.Unlock()
	changes := m.Pool.Changes()
	if m.pending.block == nil || m.pending.head != head.Hash || m.pending.changes != changes {
		block, err := m.assemble(ctx, head)
		if err != nil {
			return nil, err
		}
		m.pending.block, m.pending.head, m.pending.changes = block, head.Hash, changes
	}
	return m.pending.block, nil
}

func (m *Miner) assemble(ctx context.Context, head *reader.Block) (*reader.Block, error) {
	w := m.settings.now()
	at := w.moment(evm.EarliestBlock(m.Chain.Kind, head.Header), head.Header, uint64(m.world.Now()), 0)
	p, err := m.Chain.NewDraft(ctx, head).OpenWith(at.time, w.override(at))
	if err != nil {
		return nil, err
	}
	for order := m.Pool.Pending(p.Header().BaseFee); order.Peek() != nil; {
		fill(p, order)
	}
	block, err := m.Chain.PendingBlock(p)
	if err == nil && block.Row.Txs == 0 {
		return head, nil
	}
	return block, err
}

// Nonce is the next nonce of an account, after what is pending of it.
func (m *Miner) Nonce(ctx context.Context, address common.Address) (uint64, error) {
	if nonce, waits := m.Pool.Nonce(address); waits {
		return nonce, nil
	}
	head, err := m.Chain.Head(ctx)
	if err != nil {
		return 0, err
	}
	states, err := m.Chain.State(ctx, head)
	if err != nil {
		return 0, err
	}
	nonce := states.GetNonce(address)
	return nonce, states.Error()
}
