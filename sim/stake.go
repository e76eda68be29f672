package sim

import (
	"context"
	"math"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/metric"
	"snowglobe/sim/primary"
	"snowglobe/sim/store"
)

// StakeQuery asks for days of a metric of a subnet: those from one moment on and before another, at most so many, the
// newest.
type StakeQuery struct {
	Metric   *metric.StakeMetric
	Subnet   ids.ID // the zero id is the primary network
	From, To int64  // Unix seconds
	Limit    int
}

// StakeSeries reads the days of a metric of a subnet, the newest first, and says whether there are older ones: one for each
// day from that in which the subnet was made to that in which the clock stands.
func (l *Ledger) StakeSeries(ctx context.Context, q StakeQuery) (points []metric.Point, more bool, err error) {
	chain := l.Chain(primary.PChain)
	newest, err := newestPoint(metric.Day, l.Clock.Unix(), q.To, func() (int64, error) { return l.DB.NewestStake(ctx, chain, q.Subnet[:]) })
	page := metric.Day.Page(q.From, newest, q.Limit)
	if err != nil || page.Empty() {
		return nil, false, err
	}
	rows, err := l.DB.StakeRows(ctx, chain, q.Subnet[:], page.Oldest, q.To)
	if err != nil || len(rows) == 0 {
		return nil, false, err
	}
	if rows[0].Day > newest { // blocks are ahead of the clock
		q.To = metric.Day.Next(rows[0].Day)
		return l.StakeSeries(ctx, q)
	}
	page, more = page.Begin(rows[len(rows)-1].Day, q.From)
	changes, err := l.dueStakes(ctx, chain, q.Subnet[:])
	return q.Metric.StakePoints(page, rows, changes), more, err
}

// dueStakes are the changes of a subnet's stake that the clock has brought about and no block has said yet.
func (l *Ledger) dueStakes(ctx context.Context, chain int, subnet []byte) ([]metric.StakeChange, error) {
	now := l.Clock.Unix()
	due, err := l.DB.DueStakers(ctx, chain, subnet, now)
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

// HasNode tells whether a node validates or validated something on the network.
func (l *Ledger) HasNode(ctx context.Context, node []byte) (bool, error) {
	stakers, err := l.DB.StakersOfNode(ctx, l.Chain(primary.PChain), node)
	if err != nil || len(stakers) > 0 {
		return err == nil, err
	}
	members, err := l.DB.L1ValidatorsOfNode(ctx, node, math.MaxInt64)
	return len(members) > 0, err
}
