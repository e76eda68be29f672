package metrics

import (
	"encoding/json"
	"reflect"

	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/metric"
	"snowglobe/sim/query"
)

// Rolling is the response with a metric's values over windows that end at the world's clock.
type Rolling struct {
	Result RollingValues `json:"result"`
}

// RollingValues holds the values by window. A window begins on the hour.
type RollingValues struct {
	LastHour   json.Number `json:"lastHour"`
	LastDay    json.Number `json:"lastDay"`
	LastWeek   json.Number `json:"lastWeek"`
	LastMonth  json.Number `json:"lastMonth" doc:"30 days."`
	Last90Days json.Number `json:"last90Days"`
	LastYear   json.Number `json:"lastYear" doc:"365 days."`
	AllTime    json.Number `json:"allTime"`
}

func (a *api) rolling() []rest.Operation {
	return []rest.Operation{{
		ID: "getEvmChainRollingWindowMetrics", Path: "/v2/chains/{chainId}/rollingWindowMetrics/{metric}",
		Summary: "Get rolling window metrics for EVM chains", Answer: reflect.TypeFor[Rolling](), Handle: a.roll,
		Params: []rest.Param{anyScope,
			{Name: "metric", Kind: schema.KindEnum, Enum: metricNames(func(m *metric.Metric) bool { return m.Rolling })}},
	}}
}

func (a *api) roll(r *rest.Request) (any, error) {
	scope, err := a.scope(r)
	if err != nil {
		return nil, err
	}
	values, err := query.Rolling(r.Context(), a.world, metric.ByName(r.Text("metric")), scope)
	if err != nil {
		return nil, err
	}
	n := make([]json.Number, len(values))
	for i := range values {
		n[i] = json.Number(values[i].Append(nil))
	}
	return Rolling{RollingValues{
		LastHour: n[0], LastDay: n[1], LastWeek: n[2], LastMonth: n[3], Last90Days: n[4], LastYear: n[5], AllTime: n[6],
	}}, nil
}
