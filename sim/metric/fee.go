package metric

import (
	"sort"
)

// ContinuousFee sums what some L1 validators have paid of the continuous fee (ACP-77), in a form that does not change as time passes. Every
// active validator pays the same fee each second, so its payment between two times is the difference of the accrued fee. The sum over
// validators is Base + Active × the accrued fee. A validator's activation lowers Base by the accrued fee at that time; its deactivation
// raises Base by the accrued fee at that time, or by its EndAccumulatedFee if its balance was used up. Base wraps around.
type ContinuousFee struct {
	Active int64
	Base   uint64
	Paying int64 // active in some second of the day
}

// Plus adds a change.
func (d ContinuousFee) Plus(o ContinuousFee) ContinuousFee {
	return ContinuousFee{d.Active + o.Active, d.Base + o.Base, d.Paying + o.Paying}
}

// FeeMetric defines a daily metric of L1 validators' fees.
type FeeMetric struct {
	Name  string
	Shows FeeQuantity
}

// FeeQuantity is the quantity that a fee metric shows.
type FeeQuantity int

// Quantities of fee metrics: nAVAX paid in the day, nAVAX paid up to the end of the day, and validators that paid in the day.
const (
	DailyFees FeeQuantity = iota
	CumulativeFees
	PayingValidators
)

// Fee metrics: of all L1 validators, of a subnet, of a node and of one validation.
var (
	TotalFeeMetrics      = []FeeMetric{{"totalCumulativeFeesDaily", CumulativeFees}, {"totalValidatorFeesDaily", DailyFees}, {"totalPayingValidatorsDaily", PayingValidators}}
	SubnetFeeMetrics     = []FeeMetric{{"perSubnetDailyFeesPaid", DailyFees}, {"perSubnetCumulativeFeesPaid", CumulativeFees}, {"perSubnetPayingValidators", PayingValidators}}
	NodeFeeMetrics       = []FeeMetric{{"perNodeCumulativeFeesPaid", CumulativeFees}, {"perNodeDailyFeesPaid", DailyFees}}
	ValidationFeeMetrics = []FeeMetric{{"validationCumulativeFeesDaily", CumulativeFees}, {"validationFeesDaily", DailyFees}}
)

// FeeRow is a payer's state at the end of a day. A day has a row if a validator began or stopped paying in it.
type FeeRow struct {
	Day int64 // its beginning, Unix seconds
	ContinuousFee
}

// FeeRecord holds everything about a payer's fees in a range of days.
type FeeRecord struct {
	Rows               []FeeRow         // newest first: the range's, and older ones down to the first that covers the day before the range
	AccruedFees        map[int64]uint64 // at the end of each day of the range and of the day before it
	EndAccumulatedFees []uint64         // of active validators that no block has deactivated yet
}

// on returns the row that holds for a day; today reports whether it is the day's own.
func (r *FeeRecord) on(day int64) (d ContinuousFee, today bool) {
	i := sort.Search(len(r.Rows), func(i int) bool { return r.Rows[i].Day <= day })
	if i == len(r.Rows) {
		return ContinuousFee{}, false
	}
	return r.Rows[i].ContinuousFee, r.Rows[i].Day == day
}

// paid returns the sum paid up to the end of a day.
func (r *FeeRecord) paid(day int64) uint64 {
	d, _ := r.on(day)
	accrued := r.AccruedFees[day]
	for _, end := range r.EndAccumulatedFees {
		if end <= accrued {
			d = d.Plus(ContinuousFee{Active: -1, Base: end})
		}
	}
	return d.Base + uint64(d.Active)*accrued
}

// paying returns the number of payers in a day, which is 0 until its first second is over.
func (r *FeeRecord) paying(day int64) uint64 {
	if r.AccruedFees[day] == r.AccruedFees[Day.Previous(day)] {
		return 0
	}
	d, today := r.on(day)
	if !today {
		d.Paying = d.Active
	}
	for _, end := range r.EndAccumulatedFees {
		if end <= r.AccruedFees[Day.Previous(day)] {
			d.Paying--
		}
	}
	return uint64(d.Paying)
}

// Value returns the metric's value for a day.
func (m *FeeMetric) Value(r *FeeRecord, day int64) uint64 {
	switch m.Shows {
	case DailyFees:
		return r.paid(day) - r.paid(Day.Previous(day))
	case CumulativeFees:
		return r.paid(day)
	}
	return r.paying(day)
}
