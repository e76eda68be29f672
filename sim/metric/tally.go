package metric

import (
	"math/bits"

	"github.com/holiman/uint256"
)

// Key names a tally: the interval of a scope that begins at a time, in Unix seconds.
type Key struct {
	Scope    Scope
	Interval Interval
	Start    int64
}

// Tally describes an interval of a scope. It exists if there was a block. Its sums leave out the newest hour of each chain.
type Tally struct {
	Sums

	Distinct [roles]int64 // addresses, by role

	// Addresses by role that took part in the scope for the first, and for the last, time in this interval. Kept for hours and days.
	FirstSeen, LastSeen [roles]int64
}

// Sums sums up blocks without their addresses.
type Sums struct {
	First, Last int64 // times of the first and the last block
	Txs         int64
	Gas         int64
	Contracts   int64
	Fees        uint256.Int
	Prices      uint256.Int // sum over transactions
	TopPrice    uint256.Int
	TopGas      Rate // of the block with the most gas per second
	TopTxs      Rate // of the block with the most transactions per second
}

// OpenHour holds the sums of a chain's newest hour. They are added to the chain's tallies when the chain has a later block, so that a block
// changes one row and not one in each interval of each scope.
type OpenHour struct {
	Network Scope
	Start   int64 // Unix seconds
	Sums
}

// Rate is an amount over some seconds. The zero rate has no seconds.
type Rate struct{ Amount, Seconds int64 }

// exceeds compares exactly. Of two equal rates, the one over less time is greater, so the result does not depend on the order of blocks.
func (r Rate) exceeds(o Rate) bool {
	h1, l1 := bits.Mul64(uint64(r.Amount), uint64(o.Seconds))
	h2, l2 := bits.Mul64(uint64(o.Amount), uint64(r.Seconds))
	switch {
	case r.Amount == 0 || o.Amount == 0:
		return r.Amount > 0
	case h1 != h2:
		return h1 > h2
	case l1 != l2:
		return l1 > l2
	}
	return r.Seconds < o.Seconds
}

func (a *Activity) sums() *Sums {
	s := &Sums{First: a.Time, Last: a.Time, Txs: a.Txs, Gas: a.Gas, Contracts: a.Contracts, Fees: a.Fees, Prices: a.Prices, TopPrice: a.TopPrice}
	if a.Gap > 0 {
		s.TopGas.raise(Rate{a.Gas, a.Gap})
		s.TopTxs.raise(Rate{a.Txs, a.Gap})
	}
	return s
}

// add counts more blocks.
func (s *Sums) add(o *Sums) {
	s.First, s.Last = min(s.First, o.First), max(s.Last, o.Last)
	s.Txs += o.Txs
	s.Gas += o.Gas
	s.Contracts += o.Contracts
	s.Fees.Add(&s.Fees, &o.Fees)
	s.Prices.Add(&s.Prices, &o.Prices)
	if o.TopPrice.Gt(&s.TopPrice) {
		s.TopPrice = o.TopPrice
	}
	s.TopGas.raise(o.TopGas)
	s.TopTxs.raise(o.TopTxs)
}

func (r *Rate) raise(to Rate) {
	if to.exceeds(*r) {
		*r = to
	}
}
