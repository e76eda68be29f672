package miner

import (
	"context"
	"errors"
	"sync"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
)

// pendingBlock caches the pending block until the head, the pool or the time of the next block changes.
type pendingBlock struct {
	mu      sync.Mutex
	block   *reader.Block
	head    common.Hash
	changes uint64
	time    uint64
}

func (p *pendingBlock) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.block = nil
}

// Pending returns the block that would be made now from the waiting transactions. If no block could take any, and no client changed anything
// about the next block, or too little is settled for a block, it returns the head, as on a node, where nothing is ever pending. If execution lags, and always after
// PendingIsExecuted, it returns a C-Chain's last executed block.
func (m *Miner) Pending(ctx context.Context) (*reader.Block, error) {
	head, err := m.Chain.Head(ctx)
	if err != nil {
		return nil, err
	}
	if head.Header.Asynchronous() {
		if executed, err := m.LastExecuted(ctx); err != nil || executed.Number != head.Number || m.pendingIsExecuted.Load() {
			return executed, err
		}
	}
	next := m.planAfter(head.Header, 0)
	if ready, _ := m.Pool.Count(); ready == 0 && !next.asked(head.Header) {
		return head, nil
	}
	m.pending.mu.Lock()
	defer m.pending.mu.Unlock()
	changes := m.Pool.Changes()
	if m.pending.block == nil || m.pending.head != head.Hash || m.pending.changes != changes || m.pending.time != next.time {
		block, err := m.assemble(ctx, head, next)
		if err != nil {
			return nil, err
		}
		m.pending.block, m.pending.head, m.pending.changes, m.pending.time = block, head.Hash, changes, next.time
	}
	return m.pending.block, nil
}

// PendingIsExecuted makes the last executed block of a C-Chain since Helicon its pending one, as a node's configuration does by default.
func (m *Miner) PendingIsExecuted() { m.pendingIsExecuted.Store(true) }

func (m *Miner) assemble(ctx context.Context, head *reader.Block, next plan) (*reader.Block, error) {
	draft, err := m.Chain.NewDraft(ctx, head)
	if err != nil {
		return nil, err
	}
	p, err := draft.OpenWith(next.time, next.override)
	if next.isTooEarly(err) {
		if err = next.settle(draft); err == nil {
			p, err = draft.OpenWith(next.time, next.override)
		}
	}
	if errors.Is(err, evm.ErrQueueFull) {
		return head, nil
	}
	if err != nil {
		return nil, err
	}
	for order := m.Pool.Pending(p.Header().BaseFee); order.Peek() != nil; {
		if err := fill(p, order); err != nil {
			return nil, err
		}
	}
	block, err := m.Chain.PendingBlock(p)
	if err == nil && block.Row.Txs == 0 && !next.asked(head.Header) {
		return head, nil
	}
	return block, err
}

// Nonce returns an account's next nonce, after its pending transactions.
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
	return nonce, evm.Fault(states)
}
