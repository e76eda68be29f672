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

// Tally sums up an interval of a scope. It exists if there was a block.
type Tally struct {
	First, Last int64 // times of the first and the last block
	Txs         int64
	Gas         int64
	Contracts   int64
	Fees        uint256.Int
	Prices      uint256.Int // sum over transactions
	TopPrice    uint256.Int
	TopGas      Rate // of the block with the most gas per second
	TopTxs      Rate // of the block with the most transactions per second

	Distinct [roles]int64 // addresses, by role

	// Addresses by role that took part in the scope for the first, and for the last, time in this interval. Kept for hours and days.
	FirstSeen, LastSeen [roles]int64
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

// add counts a block's activity except its addresses.
func (t *Tally) add(a *Activity, known bool) {
	if !known || a.Time < t.First {
		t.First = a.Time
	}
	t.Last = max(t.Last, a.Time)
	t.Txs += a.Txs
	t.Gas += a.Gas
	t.Contracts += a.Contracts
	t.Fees.Add(&t.Fees, &a.Fees)
	t.Prices.Add(&t.Prices, &a.Prices)
	if a.TopPrice.Gt(&t.TopPrice) {
		t.TopPrice = a.TopPrice
	}
	if a.Gap > 0 {
		t.TopGas.raise(Rate{a.Gas, a.Gap})
		t.TopTxs.raise(Rate{a.Txs, a.Gap})
	}
}

func (r *Rate) raise(to Rate) {
	if to.exceeds(*r) {
		*r = to
	}
}
