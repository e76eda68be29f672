package metrics

import (
	"math"
	"reflect"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/metric"
	"snowglobe/sim/query"
)

// timeRange lists the parameters that limit a series.
var timeRange = []rest.Param{
	{Name: "startTimestamp", Kind: schema.KindTimestamp, NotAbove: "endTimestamp", Doc: "Return points from this time on."},
	{Name: "endTimestamp", Kind: schema.KindTimestamp, Doc: "Return points before this time."},
}

// end returns the time at which a series must end.
func end(r *rest.Request) int64 {
	if r.Given("endTimestamp") {
		return r.Int("endTimestamp")
	}
	return math.MaxInt64
}

func (a *api) networks() []rest.Operation {
	var names []string
	for _, m := range metric.StakeMetrics {
		names = append(names, m.Name)
	}
	params := append([]rest.Param{
		{Name: "network", Kind: schema.KindNetwork},
		{Name: "metric", Kind: schema.KindEnum, Enum: names,
			Doc: "The validators and delegators at the end of each day, and their weight: nAVAX on the primary network."},
		{Name: "subnetId", Kind: schema.KindID, Default: ids.Empty.String(), Doc: "The subnet or L1. Default: the primary network."},
	}, timeRange...)
	return []rest.Operation{{
		ID: "getStakingMetrics", Path: "/v2/networks/{network}/metrics/{metric}", Summary: "Get staking metrics for a given subnet",
		Params: append(params, rest.Paging(pageSize, mostSize)...), Answer: reflect.TypeFor[Series](), Handle: a.staking,
	}}
}

func (a *api) staking(r *rest.Request) (any, error) {
	n, subnet := a.world.NetworkNamed(r.Text("network")), rest.Value[ids.ID](r, "subnetId")
	if there, err := n.HasSubnet(r.Context(), subnet); err != nil || !there {
		return nil, missing(err, "subnet %s does not exist on %s", subnet, n.Name)
	}
	q := query.StakeQuery{Subnet: subnet, From: r.Int("startTimestamp"), To: before(r, end(r)), Limit: r.PageSize()}
	for i := range metric.StakeMetrics {
		if metric.StakeMetrics[i].Name == r.Text("metric") {
			q.Metric = &metric.StakeMetrics[i]
		}
	}
	points, more, err := query.StakeSeries(r.Context(), n, q)
	return series(r, points, more), err
}

// missing turns a failed lookup into a 404 or another error.
func missing(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return rest.NotFound(format, args...)
}
