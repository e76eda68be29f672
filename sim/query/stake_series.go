package query

import (
	"context"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/metric"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// StakeQuery asks for the newest days in [From, To) of a subnet's staking metric, at most Limit.
type StakeQuery struct {
	Metric   *metric.StakeMetric
	Subnet   ids.ID // the zero id is the primary network
	From, To int64  // Unix seconds
	Limit    int
}

// StakeSeries reads a subnet's metric by day, newest first, and reports whether there are older days. The days run from the subnet's
// creation to the newest that has lasted at least a second by the clock.
func StakeSeries(ctx context.Context, n *sim.Network, q StakeQuery) (points []metric.Point, more bool, err error) {
	chain := n.Chain(txs.PChain)
	newest, err := newestPoint(metric.Day, n.Clock.Unix(), q.From, q.To, func() (int64, error) { return n.DB.NewestStake(ctx, chain, q.Subnet[:]) })
	page := metric.Day.Page(q.From, newest, q.Limit)
	if err != nil || page.Empty() {
		return nil, false, err
	}
	rows, err := n.DB.StakeRows(ctx, chain, q.Subnet[:], page.Oldest, q.To)
	if err != nil || len(rows) == 0 {
		return nil, false, err
	}
	if rows[0].Day > newest { // blocks are ahead of the clock
		q.To = metric.Day.Next(rows[0].Day)
		return StakeSeries(ctx, n, q)
	}
	page, more = page.Begin(rows[len(rows)-1].Day, q.From)
	changes, err := dueStakes(ctx, n, chain, q.Subnet[:])
	return q.Metric.StakePoints(page, rows, changes), more, err
}

// dueStakes returns the changes of a subnet's stake that the clock has caused and no block has recorded.
func dueStakes(ctx context.Context, n *sim.Network, chain int, subnet []byte) ([]metric.StakeChange, error) {
	now := n.Clock.Unix()
	due, err := n.DB.DueStakers(ctx, chain, subnet, now)
	if err != nil {
		return nil, err
	}
	var changes []metric.StakeChange
	for i := range due {
		s := &due[i]
		stake := metric.ValidatorStake(1, uint64(s.Weight))
		if s.Delegator {
			stake = metric.DelegatorStake(uint64(s.Weight))
		}
		if s.Status == store.StakerPending && s.Start <= now {
			changes = append(changes, metric.StakeChange{Time: s.Start, Stake: stake})
		}
		if s.End <= now {
			changes = append(changes, metric.StakeChange{Time: s.End, Stake: metric.Stake{}.Minus(stake)})
		}
	}
	return changes, nil
}
