package metrics

import (
	"errors"
	"math"
	"reflect"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/metric"
	"snowglobe/sim/store"
)

// payer is a kind of things whose L1 validators pay the continuous fee.
type payer struct {
	id, summary, path string
	param             []handlers.Param // that names one, none for all
	metrics           []metric.FeeMetric
	read              func(*handlers.Request) string
	check             func(*handlers.Request) error // fails if there is no such thing
}

func (a *api) fees() []handlers.Operation {
	node := func(r *handlers.Request) string { id := handlers.Value[ids.NodeID](r, "nodeId"); return string(id[:]) }
	id := func(name string) func(*handlers.Request) string {
		return func(r *handlers.Request) string { id := handlers.Value[ids.ID](r, name); return string(id[:]) }
	}
	all := func(*handlers.Request) string { return "" }
	var operations []handlers.Operation
	for _, p := range []payer{
		{"getTotalL1ValidatorMetrics", "Get given metric for all validators", "/v2/validators/metrics/{metric}",
			nil, metric.TotalFeeMetrics, all, func(*handlers.Request) error { return nil }},
		{"getMetricsByValidationId", "Get metric values with given validationId and timestamp range", "/v2/validation/{l1ValidationId}/metrics/{metric}",
			[]handlers.Param{{Name: "l1ValidationId", Kind: handlers.KindHexID}}, metric.ValidationFeeMetrics, id("l1ValidationId"), a.checkValidation},
		{"getMetricsByNodeId", "Get metric values with given nodeId and timestamp range", "/v2/validator/{nodeId}/metrics/{metric}",
			[]handlers.Param{{Name: "nodeId", Kind: handlers.KindNodeID}}, metric.NodeFeeMetrics, node, a.checkNode},
		{"getMetricsBySubnetId", "Get metric values with given subnetId and timestamp range", "/v2/subnet/{subnetId}/metrics/{metric}",
			[]handlers.Param{{Name: "subnetId", Kind: handlers.KindID}}, metric.SubnetFeeMetrics, id("subnetId"), a.checkSubnet},
	} {
		operations = append(operations, a.feesOf(p))
	}
	return operations
}

func (a *api) feesOf(p payer) handlers.Operation {
	var names []string
	for _, m := range p.metrics {
		names = append(names, m.Name)
	}
	shown := handlers.Param{Name: "metric", Kind: handlers.KindEnum, Enum: names,
		Doc: "What L1 validators paid for validating, in nAVAX, or how many paid: in each day or, cumulative, up to its end."}
	return handlers.Operation{
		ID: p.id, Path: p.path, Summary: p.summary, Params: append(append(p.param, shown), between...), AllNetworks: true,
		Answer: reflect.TypeFor[Series](),
		Handle: func(r *handlers.Request) (any, error) {
			q := sim.FeeQuery{Payer: p.read(r), From: r.Int("startTimestamp"), To: end(r)}
			for i := range p.metrics {
				if p.metrics[i].Name == r.Text("metric") {
					q.Metric = &p.metrics[i]
				}
			}
			if err := p.check(r); err != nil {
				return nil, err
			}
			points, err := sim.FeeSeries(r.Context(), a.world, q)
			return series(r, points, false), err
		},
	}
}

func (a *api) checkValidation(r *handlers.Request) error {
	id := handlers.Value[ids.ID](r, "l1ValidationId")
	_, err := a.world.DB.L1Validator(r.Context(), id[:], math.MaxInt64)
	if errors.Is(err, store.ErrNotFound) {
		return handlers.NotFound("validation %s does not exist", id)
	}
	return err
}

func (a *api) checkNode(r *handlers.Request) error {
	node := handlers.Value[ids.NodeID](r, "nodeId")
	for _, l := range a.world.Ledgers {
		if there, err := l.HasNode(r.Context(), node[:]); there || err != nil {
			return err
		}
	}
	return handlers.NotFound("node %s never validated", node)
}

func (a *api) checkSubnet(r *handlers.Request) error {
	subnet := handlers.Value[ids.ID](r, "subnetId")
	for _, l := range a.world.Ledgers {
		if there, err := l.HasSubnet(r.Context(), subnet); there || err != nil {
			return err
		}
	}
	return handlers.NotFound("subnet %s does not exist", subnet)
}
