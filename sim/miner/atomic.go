package miner

import (
	"context"

	"snowglobe/sim/evm"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// AtomicBackend is the network's side of an atomic transaction on its C-Chain. Its methods are called with the writer's lock.
type AtomicBackend interface {
	// Accept verifies the transaction for the block with a header, applies its changes to UTXOs and returns their rows.
	Accept(tx *txs.Tx, h *evm.Header) (*store.PrimaryDelta, error)
	// Reject withdraws a block that was not made after all.
	Reject()
}

// SendAtomic puts an atomic transaction into a block of its own at once, even without automine: the pool holds none. It is written once the
// block is known; returning nil sends nothing. The error tells why it was refused.
func (m *Miner) SendAtomic(ctx context.Context, write func(*evm.BlockExecution) (*txs.Tx, error), backend AtomicBackend) error {
	defer m.world.Lock(ctx)()
	if err := m.restore(ctx); err != nil {
		return err
	}
	next := m.plan(0)
	for last := next.time + longestWait; ; next.time += capacityStep {
		p, err := m.open(&next)
		if err != nil {
			return err
		}
		tx, err := write(p)
		if err != nil || tx == nil {
			return err
		}
		err = mineAtomic(m, p, next, tx, backend)
		if !waits(p, err) || next.time >= last || next.lags() {
			return err
		}
	}
}

func mineAtomic(m *Miner, p *evm.BlockExecution, next plan, tx *txs.Tx, backend AtomicBackend) error {
	rows, err := backend.Accept(tx, p.Header())
	if err != nil {
		return err
	}
	if err = p.Atomic([]*txs.Tx{tx}, rows); err == nil {
		err = m.seal(p, next)
	}
	if err != nil {
		backend.Reject()
	}
	return err
}
