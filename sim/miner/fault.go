package miner

import (
	"context"
	"math"
	"math/big"
	"sync"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// Lag is a distance behind acceptance: a number of blocks, or milliseconds of the world's clock.
type Lag struct {
	Blocks       uint64
	Milliseconds int64
}

// Fault lists what a client makes go wrong with a C-Chain since Helicon. It lasts as long as the process.
type Fault struct {
	ExecutionLag  Lag    // readers see a block as accepted only until it is this old
	SettlementLag uint64 // milliseconds from the execution of a block until another one settles it; 0 for the network's five seconds
	Price         uint64 // wei that are announced for gas; 0 follows the rules
	PriceRise     uint64 // percent by which gas costs more in a block than was announced before
}

type faults struct {
	mu       sync.Mutex
	fault    Fault
	executed uint64 // the last executed block when execution began to lag
	changed  chan struct{}
}

func newFaults() faults { return faults{changed: make(chan struct{})} }

func (f *faults) now() (Fault, uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fault, f.executed
}

// Fault returns what goes wrong.
func (m *Miner) Fault() Fault {
	now, _ := m.faults.now()
	return now
}

// SetFault replaces what goes wrong. What was executed stays executed.
func (m *Miner) SetFault(ctx context.Context, wrong Fault) error {
	executed, err := m.LastExecuted(ctx)
	if err != nil {
		return err
	}
	defer m.pending.forget()
	m.faults.mu.Lock()
	defer m.faults.mu.Unlock()
	m.faults.fault, m.faults.executed = wrong, executed.Number
	close(m.faults.changed)
	m.faults.changed = make(chan struct{})
	return nil
}

// rewound makes execution lag after a head that was gone back to, too.
func (f *faults) rewound(head uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.executed = min(f.executed, head)
}

// FaultChanged returns a channel that closes when something else goes wrong.
func (m *Miner) FaultChanged() <-chan struct{} {
	m.faults.mu.Lock()
	defer m.faults.mu.Unlock()
	return m.faults.changed
}

// Moved returns a channel that closes when the world's clock moves next.
func (m *Miner) Moved() <-chan struct{} { return m.world.Moved() }

// LastExecuted returns the chain's last executed block, which is the newest one unless a client made execution lag.
func (m *Miner) LastExecuted(ctx context.Context) (*reader.Block, error) {
	head, err := m.Chain.Head(ctx)
	wrong, executed := m.faults.now()
	lag := wrong.ExecutionLag
	if err != nil || lag == (Lag{}) || executed >= head.Number {
		return head, err
	}
	now := m.world.Now()
	later, err := store.Search(executed+1, head.Number+1, func(number uint64) (bool, error) {
		b, err := m.Chain.Block(ctx, number)
		return err == nil && b.Header.Asynchronous() && (number+lag.Blocks > head.Number || int64(b.Header.TimeMilliseconds)+lag.Milliseconds > now), err
	})
	if err != nil {
		return nil, err
	}
	return m.Chain.Block(ctx, later-1)
}

// LastSettled returns the chain's last settled block. None that a client keeps from being executed is settled.
func (m *Miner) LastSettled(ctx context.Context) (*reader.Block, error) {
	executed, err := m.LastExecuted(ctx)
	if err != nil {
		return nil, err
	}
	settled, err := m.Chain.Settled(ctx)
	if err == nil && settled.Number > executed.Number {
		return executed, nil
	}
	return settled, err
}

// risen returns the override for a block that is made now, with the base fee that it has if gas costs more than was announced.
func (m *Miner) risen(next *plan) (evm.Override, error) {
	o, rise := next.override, m.Fault().PriceRise
	if rise == 0 || next.feeChosen() || !m.Chain.Asynchronous(next.time/1000) {
		return o, nil
	}
	h, err := m.builder.NextHeader(next.time, o)
	if err != nil {
		return o, err
	}
	percent := new(big.Int).SetUint64(min(rise, math.MaxUint64-100) + 100)
	fee := percent.Mul(percent, h.BaseFee)
	o.BaseFee = fee.Div(fee.Add(fee, big.NewInt(99)), big.NewInt(100))
	return o, nil
}
