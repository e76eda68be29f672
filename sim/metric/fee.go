package metric

import (
	"sort"
)

// ContinuousFee are what some L1 validators have paid for validating, in a form in which time need not be booked. Every active
// validator pays the same fee each second, so what one has paid between two moments is the difference of a meter that
// never stops. Summed over validators that is Base + Active × the meter: who becomes active lowers Base by the meter, who
// stops raises it by what the meter shows then, or by the end of its balance if that is what stopped it. Base wraps around.
type ContinuousFee struct {
	Active int64
	Base   uint64
	Paying int64 // those that were active in a second of the day
}

// Plus adds a change.
func (d ContinuousFee) Plus(o ContinuousFee) ContinuousFee {
	return ContinuousFee{d.Active + o.Active, d.Base + o.Base, d.Paying + o.Paying}
}

// paid is everything paid up to where the meter shows this, nAVAX.
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

// The metrics of fees by whose fees they are.
var (
	TotalFeeMetrics      = []FeeMetric{{"totalCumulativeFeesDaily", CumulativeFees}, {"totalValidatorFeesDaily", DailyFees}, {"totalPayingValidatorsDaily", PayingValidators}}
	SubnetFeeMetrics     = []FeeMetric{{"perSubnetDailyFeesPaid", DailyFees}, {"perSubnetCumulativeFeesPaid", CumulativeFees}, {"perSubnetPayingValidators", PayingValidators}}
	NodeFeeMetrics       = []FeeMetric{{"perNodeCumulativeFeesPaid", CumulativeFees}, {"perNodeDailyFeesPaid", DailyFees}}
	ValidationFeeMetrics = []FeeMetric{{"validationCumulativeFeesDaily", CumulativeFees}, {"validationFeesDaily", DailyFees}}
)

// FeeRow is what a day leaves behind of a payer. There is a row for each day in which a validator began or stopped to pay.
type FeeRow struct {
	Day int64 // its beginning, Unix seconds
	ContinuousFee
}

// FeeRecord is everything about the fees of a payer in a range of days.
type FeeRecord struct {
	Rows               []FeeRow         // newest first, those of the range and before it up to the newest that begins before the day before it
	AccruedFees        map[int64]uint64 // at the end of each day of the range and of the day before it
	EndAccumulatedFees []uint64         // what the meter shows when the balances of those run out that no block has stopped yet
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
