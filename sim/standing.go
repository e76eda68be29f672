package sim

import (
	"snowglobe/sim/network"
	"snowglobe/sim/store"
)

// Standing is a staker's status by the world's clock, which may be ahead of the last block: time alone lets a staker
// begin and end, and the block that says so may not be there yet.
func (l *Ledger) Standing(s *store.Staker) int {
	now := l.Clock.Unix()
	switch {
	case s.Status == store.StakerRemoved || s.Status == store.StakerCompleted:
		return s.Status
	case s.End <= now:
		return store.StakerCompleted
	case s.Start <= now:
		return store.StakerActive
	}
	return s.Status
}

// Accrued is what an L1 validator that was always active would have paid by the world's clock, in nAVAX, given the
// last block of the P-chain.
func (l *Ledger) Accrued(head *store.PrimaryBlock) store.Amount {
	return store.Amount(network.MeterOf(head).At(&l.Rules.ValidatorFees, uint64(l.Clock.Unix())).Accrued)
}
