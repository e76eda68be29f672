package miner

import (
	"context"
	"math/big"

	"snowglobe/sim/evm"
)

// plan describes the block to make after a head. Everything that makes or describes that block calls Miner.planAfter.
type plan struct {
	time     uint64 // Unix milliseconds
	chosen   bool   // by a client, so that the clock jumps there
	override evm.Override
	priced   bool // a fault decides the base fee
}

// planAfter plans the block after a head: at the time that a client chose, at the set distance from its parent, or as soon as a node makes
// one, but not before the clock. spacing is this call's distance from the parent in milliseconds, or 0.
func (m *Miner) planAfter(head *evm.Header, spacing uint64) plan {
	w, now := m.settings.now(), uint64(m.world.Now())
	if spacing == 0 {
		spacing = w.spacing
	}
	p := plan{chosen: true, override: evm.Override{BaseFee: w.baseFee, GasLimit: w.gasLimit, Coinbase: w.coinbase}}
	switch {
	case w.time != 0:
		p.time = w.time
	case spacing != 0:
		p.time = max(now, head.TimeMilliseconds+spacing)
	default:
		p.time, p.chosen = max(now, evm.EarliestBlock(m.Chain.Kind, head)), false
	}
	p.override.Early = p.time < head.EarliestChild()
	if m.Chain.Asynchronous(p.time / 1000) {
		wrong := m.Fault()
		p.override.SettlesAfter = wrong.SettlementLag
		if p.priced = wrong.Price > 0 && w.baseFee == nil; p.priced {
			p.override.BaseFee = new(big.Int).SetUint64(wrong.Price)
		}
	}
	return p
}

// asked reports whether a client changed anything about the block after a head. A gas limit and a coinbase stay set, so a head may have them
// already.
func (p *plan) asked(head *evm.Header) bool {
	o := p.override
	return p.chosen || o.Early || p.feeChosen() || o.GasLimit != nil && *o.GasLimit != head.GasLimit ||
		o.Coinbase != nil && *o.Coinbase != head.Coinbase
}

// feeChosen reports whether a client chose the base fee.
func (p *plan) feeChosen() bool { return p.override.BaseFee != nil && !p.priced }

// lags reports whether a client makes settlement lag. Transactions then wait in the pool, as on the network, until the client moves the clock.
func (p *plan) lags() bool { return p.override.SettlesAfter != 0 }

// plan plans the block after the builder's head. The caller holds the lock.
func (m *Miner) plan(spacing uint64) plan {
	head, _ := m.builder.Head()
	return m.planAfter(head, spacing)
}

// NextBlock describes the block that would be made now, as far as it is known while empty.
type NextBlock struct {
	*evm.Header
	Free bool // a client asked for a base fee of 0

	chosen bool // a client or a fault chose the base fee
}

// NextBlock describes the next block. It needs no lock.
func (m *Miner) NextBlock(ctx context.Context) (*NextBlock, error) {
	head, err := m.Chain.Head(ctx)
	if err != nil {
		return nil, err
	}
	p := m.planAfter(head.Header, 0)
	h, err := m.Chain.NextHeader(ctx, head, p.time, p.override)
	if err != nil {
		return nil, err
	}
	return &NextBlock{Header: h, Free: p.override.BaseFee != nil && h.BaseFee.Sign() == 0, chosen: p.override.BaseFee != nil}, nil
}

// Prices returns the base fee of the next block and a tip that gets a transaction included: zero if a client asked for a base fee of 0, so
// that accounts without funds can send.
func (m *Miner) Prices(ctx context.Context) (baseFee, tip *big.Int, err error) {
	next, err := m.NextBlock(ctx)
	if err != nil {
		return nil, nil, err
	}
	if tip = new(big.Int); !next.Free {
		tip, err = m.Chain.SuggestTip(ctx)
	}
	return next.BaseFee, tip, err
}

// PriceBound returns the base fee that a node announces for the next block, and the one that its suggestion of a gas price includes: both
// those of the next block, but since Helicon on a C-Chain the most that gas can cost after the accepted blocks, and the newest block's bound.
func (m *Miner) PriceBound(ctx context.Context) (announced, suggested *big.Int, err error) {
	next, err := m.NextBlock(ctx)
	if err != nil || next.chosen {
		return next.fee(), next.fee(), err
	}
	head, err := m.Chain.Head(ctx)
	if err != nil || !head.Header.Asynchronous() {
		return next.fee(), next.fee(), err
	}
	bound, err := m.Chain.PriceBound(ctx, head)
	if err != nil {
		return nil, nil, err
	}
	announced = bound.Price()
	if suggested = head.Header.BaseFee; suggested.Cmp(next.BaseFee) < 0 {
		suggested = next.BaseFee
	}
	return announced, suggested, nil
}

// fee returns a copy of the block's base fee.
func (b *NextBlock) fee() *big.Int {
	if b == nil {
		return nil
	}
	return new(big.Int).Set(b.BaseFee)
}
