package metrics

import (
	"math"
	"reflect"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/metric"
)

// between are the parameters that cut a series.
var between = []handlers.Param{
	{Name: "startTimestamp", Kind: handlers.KindTimestamp, NotAbove: "endTimestamp", Doc: "Points from here on, included."},
	{Name: "endTimestamp", Kind: handlers.KindTimestamp, Doc: "Points up to here, not included."},
}

// end is where a series must end.
func end(r *handlers.Request) int64 {
	if r.Given("endTimestamp") {
		return r.Int("endTimestamp")
	}
	return math.MaxInt64
}

func (a *api) networks() []handlers.Operation {
	var names []string
	for _, m := range metric.StakeMetrics {
		names = append(names, m.Name)
	}
	params := append([]handlers.Param{
		{Name: "network", Kind: handlers.KindNetwork},
		{Name: "metric", Kind: handlers.KindEnum, Enum: names,
			Doc: "Those who validate or delegate at the end of each day, and what they weigh: nAVAX on the primary network."},
		{Name: "subnetId", Kind: handlers.KindID, Default: ids.Empty.String(), Doc: "The subnet or L1; the primary network unless given."},
	}, between...)
	return []handlers.Operation{{
		ID: "getStakingMetrics", Path: "/v2/networks/{network}/metrics/{metric}", Summary: "Get staking metrics for a given subnet",
		Params: append(params, handlers.Paging(pageSize, mostSize)...), Answer: reflect.TypeFor[Series](), Handle: a.staking,
	}}
}

func (a *api) staking(r *handlers.Request) (any, error) {
	l, subnet := a.ledger(r.Text("network")), handlers.Value[ids.ID](r, "subnetId")
	if there, err := l.HasSubnet(r.Context(), subnet); err != nil || !there {
		return nil, missing(err, "subnet %s does not exist on %s", subnet, l.Network)
	}
	q := sim.StakeQuery{Subnet: subnet, From: r.Int("startTimestamp"), To: before(r, end(r)), Limit: r.PageSize()}
	for i := range metric.StakeMetrics {
		if metric.StakeMetrics[i].Name == r.Text("metric") {
			q.Metric = &metric.StakeMetrics[i]
		}
	}
	points, more, err := sim.StakeSeries(r.Context(), l, q)
	return series(r, points, more), err
}

// ledger is that of a network.
func (a *api) ledger(network string) *sim.Ledger {
	for _, l := range a.world.Ledgers {
		if l.Network == network {
			return l
		}
	}
	return nil
}

// missing is the failure to look for something, or that it is not there.
func missing(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return handlers.NotFound(format, args...)
}
