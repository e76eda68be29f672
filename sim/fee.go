package sim

import (
	"bytes"
	"context"
	"errors"
	"math"

	"snowglobe/sim/metric"
	"snowglobe/sim/network"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// FeeQuery asks for the days of a metric of L1 validators' fees: those from one moment on and before another.
type FeeQuery struct {
	Metric   *metric.FeeMetric
	Payer    string // id of a validation, a node or a subnet, empty for all
	From, To int64  // Unix seconds
}

// FeeSeries reads the days of a metric of fees, the newest first, added up over the networks: one for each day from that
// in which the first of the validators began to that in which the clock stands.
func (w *World) FeeSeries(ctx context.Context, q FeeQuery) ([]metric.Point, error) {
	all, sums := metric.Range{Oldest: math.MaxInt64}, map[int64]uint64{}
	for _, l := range w.Ledgers {
		days, record, err := l.fees(ctx, q)
		if err != nil {
			return nil, err
		}
		if days.Empty() {
			continue
		}
		all = metric.Range{Interval: metric.Day, Oldest: min(all.Oldest, days.Oldest), Newest: max(all.Newest, days.Newest)}
		for day := days.Oldest; day <= days.Newest; day = metric.Day.Next(day) {
			sums[day] += q.Metric.Value(record, day)
		}
	}
	var points []metric.Point
	for day := all.Newest; day >= all.Oldest; day = metric.Day.Previous(day) {
		points = append(points, metric.NewPoint(day, sums[day]))
	}
	return points, nil
}

// fees reads everything about a payer's fees on the network in the days that a query asks for.
func (l *Ledger) fees(ctx context.Context, q FeeQuery) (days metric.Range, r *metric.FeeRecord, err error) {
	days = metric.Range{Interval: metric.Day, Oldest: 1}
	chain := l.Chain(primary.PChain)
	payer := []byte(q.Payer)
	first, err := l.DB.FirstFee(ctx, chain, payer)
	if err != nil {
		_, err = exists(err)
		return days, nil, err
	}
	head, err := l.DB.PrimaryHead(ctx, chain)
	if err != nil {
		return days, nil, err
	}
	now := max(head.Time, l.Clock.Unix())
	days = metric.Range{Interval: metric.Day, Oldest: first, Newest: metric.Day.Start(min(now, q.To-1))}.Since(q.From)
	if days.Empty() {
		return days, nil, nil
	}
	r = &metric.FeeRecord{}
	if r.Rows, err = l.DB.FeeRows(ctx, chain, payer, metric.Day.Previous(days.Oldest), q.To); err != nil {
		return days, nil, err
	}
	if r.Meter, err = l.meter(ctx, head, days, now); err != nil {
		return days, nil, err
	}
	r.Drains, err = l.drains(ctx, head, payer)
	return days, r, err
}

// FeesPaid is what all L1 validators of the network paid by the world's clock, in nAVAX.
func (l *Ledger) FeesPaid(ctx context.Context) (uint64, error) {
	days, record, err := l.fees(ctx, FeeQuery{From: metric.Day.Start(l.Clock.Unix()), To: math.MaxInt64})
	if err != nil || days.Empty() {
		return 0, err
	}
	all := metric.FeeMetric{Shows: metric.AllFees}
	return all.Value(record, days.Newest), nil
}

// meter is the accrued fee at the end of each day of a range and of the day before it. Days that no block has ended go on
// from the newest block, the last of them as far as a moment.
func (l *Ledger) meter(ctx context.Context, head *store.PrimaryBlock, days metric.Range, now int64) (map[int64]uint64, error) {
	rows, err := l.DB.Meter(ctx, head.ID.Chain(), metric.Day.Previous(days.Oldest), days.Newest)
	if err != nil {
		return nil, err
	}
	ends := make(map[int64]uint64, len(rows))
	for _, row := range rows {
		ends[row.Day] = uint64(row.Accrued)
	}
	m := network.MeterOf(head)
	for day := metric.Day.Start(head.Time); day <= days.Newest; day = metric.Day.Next(day) {
		m = m.At(&l.Rules.ValidatorFees, uint64(min(metric.Day.Next(day), now)))
		ends[day] = m.Accrued
	}
	return ends, nil
}

// drains are the ends of the payer's balances that the clock has reached and no block has said yet.
func (l *Ledger) drains(ctx context.Context, head *store.PrimaryBlock, payer []byte) ([]uint64, error) {
	accrued := l.Accrued(head)
	if accrued == head.Accrued {
		return nil, nil
	}
	drained, err := l.DB.DrainedL1Validators(ctx, head.ID.Chain(), head.Accrued, accrued)
	var ends []uint64
	for i := range drained {
		v := &drained[i]
		if len(payer) == 0 || bytes.Equal(payer, v.Subnet) || bytes.Equal(payer, v.Node) || bytes.Equal(payer, v.Validation) {
			ends = append(ends, uint64(v.PaidUntil))
		}
	}
	return ends, err
}

// exists tells whether what was looked for is there.
func exists(err error) (bool, error) {
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
