package miner

import (
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/txpool"
	"snowglobe/sim/store"
)

// capacityStep is the time in milliseconds by which a block is delayed while its chain lacks capacity for a transaction (ACP-176), or settled
// funds of its sender (ACP-194), and longestWait the limit of the sum. Capacity is full long before that, and so are all funds settled that
// are spent block by block.
const (
	capacityStep = 500
	longestWait  = 30_000
)

// open begins a planned block. It moves the block's time on until the chain settled enough to take another one, unless a client chose the time
// or makes settlement lag.
func (m *Miner) open(next *plan) (*evm.BlockExecution, error) {
	for {
		if err := m.world.Advance(next.time); err != nil {
			return nil, err
		}
		o, err := m.risen(next)
		if err != nil {
			return nil, err
		}
		p, err := m.builder.OpenWith(next.time, o)
		if !next.isTooEarly(err) {
			return p, err
		}
		if err := next.settle(m.builder); err != nil {
			return nil, err
		}
	}
}

// isTooEarly reports whether a block cannot be opened because too little is settled, and may come later.
func (p *plan) isTooEarly(err error) bool {
	return errors.Is(err, evm.ErrQueueFull) && !p.chosen && !p.lags()
}

// settle moves the block's time on until the chain settled enough to take it.
func (p *plan) settle(b *evm.Builder) (err error) {
	p.time, err = b.AcceptsFrom(p.time, capacityStep, p.override)
	return err
}

// maxTxsSize is the most bytes of transactions in one block, which leaves room for the rest of a block of 2 MiB (coreth miner, targetTxsSize).
const maxTxsSize = 1792 << 10

// fill puts the next transaction into a block, or skips it and everything else from its sender if it does not fit or cannot be executed
// now (coreth miner.worker.commitTransactions). An error means that the state could not be read, which says nothing about the transaction.
func fill(p *evm.BlockExecution, order *txpool.Order) error {
	next := order.Peek()
	if p.Size()+next.Size() > maxTxsSize {
		order.Pop()
		return nil
	}
	switch _, err := p.Apply(next.Transaction, next.Sender); {
	case store.Internal(err):
		return err
	case err == nil, errors.Is(err, core.ErrNonceTooLow):
		order.Shift()
	default:
		order.Pop()
	}
	return nil
}

// mineReady puts each ready transaction into a block of its own. It returns the network's reason for refusing one of them, the one just
// sent.
func (m *Miner) mineReady(sent *types.Transaction) (failed error) {
	for {
		if ready, _ := m.Pool.Count(); ready == 0 {
			return failed
		}
		t, err := m.mineNext()
		switch {
		case m.builder == nil: // nothing could be stored: transactions accepted earlier still wait
			m.Pool.Drop(sent.Hash())
			return err
		case t == nil && err == nil:
			return failed
		case t == nil && errors.Is(err, evm.ErrQueueFull): // what waits may do so until enough is settled
			return failed
		case t == nil: // no block is possible
			m.Pool.Drop(sent.Hash())
			return errors.Join(failed, err)
		case err == nil:
		default:
			m.Pool.Drop(t.Hash())
			if t.Hash() == sent.Hash() {
				failed = err
			}
		}
	}
}

// mineNext makes a block of the one transaction that pays best, nil if none can pay the base fee, or if a client makes settlement lag and they
// wait for it. With a transaction, the error tells why it cannot be in a block; without one, why no block is possible.
func (m *Miner) mineNext() (*txpool.Transaction, error) {
	next := m.plan(0)
	for last := next.time + longestWait; ; next.time += capacityStep {
		p, err := m.open(&next)
		if err != nil {
			return nil, err
		}
		order := m.Pool.Pending(p.Header().BaseFee)
		t := order.Peek()
		if t == nil {
			return nil, nil
		}
		for _, err = p.Apply(t.Transaction, t.Sender); next.lags() && errors.Is(err, evm.ErrUnsettled); _, err = p.Apply(t.Transaction, t.Sender) {
			order.Pop()
			if t = order.Peek(); t == nil {
				return nil, nil
			}
		}
		switch {
		case err == nil:
			return t, m.seal(p, next)
		case store.Internal(err): // the transaction may be as good as any
			return nil, err
		case !waits(p, err) || next.time >= last:
			return t, err
		}
	}
}

// waits reports whether a later block may take a transaction that an empty one refused.
func waits(p *evm.BlockExecution, err error) bool {
	if errors.Is(err, core.ErrGasLimitReached) {
		return p.GasLeft() < p.Header().GasLimit
	}
	return errors.Is(err, evm.ErrUnsettled)
}

// seal finishes a block and commits it. If that fails the block never existed: the next one begins at the file's head.
func (m *Miner) seal(p *evm.BlockExecution, made plan) error {
	d, err := p.Seal()
	if err == nil {
		err = m.world.Commit(m.Chain, d, made.time, made.chosen)
	}
	if err != nil {
		m.builder = nil
		return fmt.Errorf("block %d: %w", p.Header().Number, err)
	}
	m.settings.used()
	m.Pool.Reset(d.Accounts, p.Header().GasLimit)
	return setMinFee(m.Pool, m.builder)
}

// checkFeeCap refuses a transaction that cannot pay the base fee of the block that would include it now. Without automine such a
// transaction waits for a lower one, as on the network.
func (m *Miner) checkFeeCap(tx *types.Transaction, sender common.Address) error {
	next := m.plan(0)
	h, err := m.builder.NextHeader(next.time, next.override)
	if err == nil && tx.GasFeeCapIntCmp(h.BaseFee) < 0 {
		return fmt.Errorf("%w: address %v, maxFeePerGas: %s, baseFee: %s", core.ErrFeeCapTooLow, sender.Hex(), tx.GasFeeCap(), h.BaseFee)
	}
	return err
}
