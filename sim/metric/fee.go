package metric

import (
	"sort"
)

// ContinuousFee is what some L1 validators have paid of the continuous fee (ACP-77), in a form that does not change as time
// passes. Every active validator pays the same fee each second, so what one has paid between two moments is the difference of
// the accrued fee. Summed over validators that is Base + Active × the accrued fee: a validator that becomes active lowers Base
// by the accrued fee of that moment; one that is deactivated raises it by the accrued fee of that moment, or by its
// EndAccumulatedFee if its balance was used up. Base wraps around.
type ContinuousFee struct {
	Active int64
	Base   uint64
	Paying int64 // those that were active in a second of the day
}

// Plus adds a change.
func (d ContinuousFee) Plus(o ContinuousFee) ContinuousFee {
	return ContinuousFee{d.Active + o.Active, d.Base + o.Base, d.Paying + o.Paying}
}

// paid is everything paid up to the moment of an accrued fee, nAVAX.
func (d ContinuousFee) paid(accrued uint64) uint64 { return d.Base + uint64(d.Active)*accrued }

// FeeMetric is the definition of a metric of L1 validators' fees. Its value is for a day.
type FeeMetric struct {
	Name  string
	Shows FeeQuantity
}

// FeeQuantity is what a metric shows.
type FeeQuantity int

// What metrics of fees show: nAVAX paid in the day, nAVAX paid up to the end of the day, and how many paid in the day.
const (
	DailyFees FeeQuantity = iota
	CumulativeFees
	PayingValidators
)

// The metrics of fees: of all L1 validators, of a subnet, of a node and of one validation.
var (
	TotalFeeMetrics      = []FeeMetric{{"totalCumulativeFeesDaily", CumulativeFees}, {"totalValidatorFeesDaily", DailyFees}, {"totalPayingValidatorsDaily", PayingValidators}}
	SubnetFeeMetrics     = []FeeMetric{{"perSubnetDailyFeesPaid", DailyFees}, {"perSubnetCumulativeFeesPaid", CumulativeFees}, {"perSubnetPayingValidators", PayingValidators}}
	NodeFeeMetrics       = []FeeMetric{{"perNodeCumulativeFeesPaid", CumulativeFees}, {"perNodeDailyFeesPaid", DailyFees}}
	ValidationFeeMetrics = []FeeMetric{{"validationCumulativeFeesDaily", CumulativeFees}, {"validationFeesDaily", DailyFees}}
)

// FeeRow is the state of a payer at the end of a day. There is a row for each day in which a validator began or stopped to pay.
type FeeRow struct {
	Day int64 // its beginning, Unix seconds
	ContinuousFee
}

// FeeRecord is everything about the fees of a payer in a range of days.
type FeeRecord struct {
	Rows               []FeeRow         // newest first, those of the range and before it up to the newest that begins before the day before it
	AccruedFees        map[int64]uint64 // at the end of each day of the range and of the day before it
	EndAccumulatedFees []uint64         // of active validators that no block has deactivated yet
}

// on is the row that holds for a day; today says that the day changed it.
func (r *FeeRecord) on(day int64) (d ContinuousFee, today bool) {
	i := sort.Search(len(r.Rows), func(i int) bool { return r.Rows[i].Day <= day })
	if i == len(r.Rows) {
		return ContinuousFee{}, false
	}
	return r.Rows[i].ContinuousFee, r.Rows[i].Day == day
}

// paid is everything paid up to the end of a day.
func (r *FeeRecord) paid(day int64) uint64 {
	d, _ := r.on(day)
	accrued := r.AccruedFees[day]
	for _, end := range r.EndAccumulatedFees {
		if end <= accrued {
			d = d.Plus(ContinuousFee{Active: -1, Base: end})
		}
	}
	return d.paid(accrued)
}

// paying is how many paid in a day: nobody before its first second is over.
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

// Value is what the metric shows for a day.
func (m *FeeMetric) Value(r *FeeRecord, day int64) uint64 {
	switch m.Shows {
	case DailyFees:
		return r.paid(day) - r.paid(Day.Previous(day))
	case CumulativeFees:
		return r.paid(day)
	}
	return r.paying(day)
}
