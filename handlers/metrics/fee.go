package metrics

import (
	"errors"
	"math"
	"reflect"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/metric"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
)

// payer is a kind of entity whose L1 validators pay the continuous fee.
type payer struct {
	id, summary, path string
	param             []rest.Param // names the entity, nil for all
	metrics           []metric.FeeMetric
	read              func(*rest.Request) string
	check             func(*rest.Request) error // fails if the entity does not exist
}

func (a *api) fees() []rest.Operation {
	node := func(r *rest.Request) string { id := rest.Value[ids.NodeID](r, "nodeId"); return string(id[:]) }
	id := func(name string) func(*rest.Request) string {
		return func(r *rest.Request) string { id := rest.Value[ids.ID](r, name); return string(id[:]) }
	}
	all := func(*rest.Request) string { return "" }
	var operations []rest.Operation
	for _, p := range []payer{
		{"getTotalL1ValidatorMetrics", "Get given metric for all validators", "/v2/validators/metrics/{metric}",
			nil, metric.TotalFeeMetrics, all, func(*rest.Request) error { return nil }},
		{"getMetricsByValidationId", "Get metric values with given validationId and timestamp range", "/v2/validation/{l1ValidationId}/metrics/{metric}",
			[]rest.Param{{Name: "l1ValidationId", Kind: schema.KindIDOrHex}}, metric.ValidationFeeMetrics, id("l1ValidationId"), a.checkValidation},
		{"getMetricsByNodeId", "Get metric values with given nodeId and timestamp range", "/v2/validator/{nodeId}/metrics/{metric}",
			[]rest.Param{{Name: "nodeId", Kind: schema.KindNodeID}}, metric.NodeFeeMetrics, node, a.checkNode},
		{"getMetricsBySubnetId", "Get metric values with given subnetId and timestamp range", "/v2/subnet/{subnetId}/metrics/{metric}",
			[]rest.Param{{Name: "subnetId", Kind: schema.KindID}}, metric.SubnetFeeMetrics, id("subnetId"), a.checkSubnet},
	} {
		operations = append(operations, a.feesOf(p))
	}
	return operations
}

func (a *api) feesOf(p payer) rest.Operation {
	var names []string
	for _, m := range p.metrics {
		names = append(names, m.Name)
	}
	shown := rest.Param{Name: "metric", Kind: schema.KindEnum, Enum: names,
		Doc: "The fees that L1 validators paid, in nAVAX, or how many validators paid: on each day or, if cumulative, up to its end."}
	return rest.Operation{
		ID: p.id, Path: p.path, Summary: p.summary, Params: append(append(p.param, shown), timeRange...), AllNetworks: true,
		Answer: reflect.TypeFor[Series](),
		Handle: func(r *rest.Request) (any, error) {
			q := query.FeeQuery{Payer: p.read(r), From: r.Int("startTimestamp"), To: end(r)}
			for i := range p.metrics {
				if p.metrics[i].Name == r.Text("metric") {
					q.Metric = &p.metrics[i]
				}
			}
			if err := p.check(r); err != nil {
				return nil, err
			}
			points, err := query.FeeSeries(r.Context(), a.world, q)
			return series(r, points, false), err
		},
	}
}

func (a *api) checkValidation(r *rest.Request) error {
	id := rest.Value[ids.ID](r, "l1ValidationId")
	_, err := a.world.DB.L1Validator(r.Context(), id[:], math.MaxInt64)
	if errors.Is(err, store.ErrNotFound) {
		return rest.NotFound("validation %s does not exist", id)
	}
	return err
}

func (a *api) checkNode(r *rest.Request) error {
	node := rest.Value[ids.NodeID](r, "nodeId")
	for _, n := range a.world.Networks {
		if there, err := n.HasNode(r.Context(), node[:]); there || err != nil {
			return err
		}
	}
	return rest.NotFound("node %s never validated", node)
}

func (a *api) checkSubnet(r *rest.Request) error {
	subnet := rest.Value[ids.ID](r, "subnetId")
	for _, n := range a.world.Networks {
		if there, err := n.HasSubnet(r.Context(), subnet); there || err != nil {
			return err
		}
	}
	return rest.NotFound("subnet %s does not exist", subnet)
}
