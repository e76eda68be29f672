package query

import (
	"bytes"
	"context"
	"errors"
	"math"

	"snowglobe/sim"
	"snowglobe/sim/metric"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// FeeQuery asks for the days in [From, To) of a metric of L1 validators' fees (ACP-77).
type FeeQuery struct {
	Metric   *metric.FeeMetric
	Payer    string // id of a validation, a node or a subnet, empty for all
	From, To int64  // Unix seconds
}

// FeeSeries reads a fee metric by day, newest first, summed over the networks. The days run from the first validator's beginning to the
// newest that has lasted at least a second.
func FeeSeries(ctx context.Context, w *sim.World, q FeeQuery) ([]metric.Point, error) {
	all, sums := metric.Range{Oldest: math.MaxInt64}, map[int64]uint64{}
	for _, n := range w.Networks {
		days, record, err := fees(ctx, n, q)
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

// fees reads everything about a payer's fees on the network in a query's days.
func fees(ctx context.Context, n *sim.Network, q FeeQuery) (days metric.Range, r *metric.FeeRecord, err error) {
	days = metric.Range{Interval: metric.Day, Oldest: 1}
	chain := n.Chain(txs.PChain)
	payer := []byte(q.Payer)
	first, err := n.DB.FirstFee(ctx, chain, payer)
	if errors.Is(err, store.ErrNotFound) {
		return days, nil, nil
	}
	if err != nil {
		return days, nil, err
	}
	head, err := n.DB.PrimaryHead(ctx, chain)
	if err != nil {
		return days, nil, err
	}
	now := max(head.Time, n.Clock.Unix())
	days = metric.Range{Interval: metric.Day, Oldest: first, Newest: metric.Day.Begun(min(now, q.To))}.Since(q.From)
	if days.Empty() {
		return days, nil, nil
	}
	r = &metric.FeeRecord{}
	if r.Rows, err = n.DB.FeeRows(ctx, chain, payer, metric.Day.Previous(days.Oldest), q.To); err != nil {
		return days, nil, err
	}
	if r.AccruedFees, err = accruedByDay(ctx, n, head, days, now); err != nil {
		return days, nil, err
	}
	r.EndAccumulatedFees, err = exhaustedBalances(ctx, n, head, payer)
	return days, r, err
}

// FeesPaid returns the sum that all L1 validators of the network have paid at the world's clock, in nAVAX.
func FeesPaid(ctx context.Context, n *sim.Network) (uint64, error) {
	days, record, err := fees(ctx, n, FeeQuery{From: metric.Day.Begun(n.Clock.Unix()), To: math.MaxInt64})
	if err != nil || days.Empty() {
		return 0, err
	}
	all := metric.FeeMetric{Shows: metric.CumulativeFees}
	return all.Value(record, days.Newest), nil
}

// accruedByDay returns the accrued fee at the end of each day of a range and of the day before it. Beyond the newest block it extrapolates,
// on the last day up to a time.
func accruedByDay(ctx context.Context, n *sim.Network, head *store.PrimaryBlock, days metric.Range, now int64) (map[int64]uint64, error) {
	rows, err := n.DB.AccruedFees(ctx, head.ID.Chain(), metric.Day.Previous(days.Oldest), days.Newest)
	if err != nil {
		return nil, err
	}
	ends := make(map[int64]uint64, len(rows))
	for _, row := range rows {
		ends[row.Day] = uint64(row.Accrued)
	}
	m := primary.ValidatorFeeStateOf(head)
	for day := metric.Day.Start(head.Time); day <= days.Newest; day = metric.Day.Next(day) {
		m = m.At(&n.Rules.ValidatorFees, uint64(min(metric.Day.Next(day), now)))
		ends[day] = m.Accrued
	}
	return ends, nil
}

// exhaustedBalances returns the accrued fees at which balances of the payer's validators ran out by the clock, where no block has
// deactivated them yet.
func exhaustedBalances(ctx context.Context, n *sim.Network, head *store.PrimaryBlock, payer []byte) ([]uint64, error) {
	accrued := n.Accrued(head)
	if accrued == head.AccruedFees {
		return nil, nil
	}
	drained, err := n.DB.L1ValidatorsOutOfBalance(ctx, head.ID.Chain(), head.AccruedFees, accrued)
	var ends []uint64
	for i := range drained {
		v := &drained[i]
		if len(payer) == 0 || bytes.Equal(payer, v.Subnet) || bytes.Equal(payer, v.Node) || bytes.Equal(payer, v.Validation) {
			ends = append(ends, uint64(v.EndAccumulatedFee))
		}
	}
	return ends, err
}
