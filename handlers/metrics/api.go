package metrics

import (
	"slices"

	"snowglobe/fixtures"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/metric"
)

// api serves the Metrics API of a world.
type api struct {
	world *sim.World
	shown map[int]Chain // by row id
}

// Register adds the Metrics API to a server.
func Register(s *rest.Server, world *sim.World) error {
	a := &api{world: world, shown: map[int]Chain{}}
	for _, c := range world.Chains {
		a.shown[c.Row.ID] = describe(c)
	}
	return s.Register(rest.Metrics, slices.Concat(a.series(), a.rolling(), a.chains(), a.networks(), a.fees(), a.icm(), a.lookingGlass(), a.health())...)
}

// Names that stand for several chains.
const (
	total   = "total"
	mainnet = fixtures.MainnetName
	testnet = "testnet"
)

// anyScope is the parameter of operations on one chain or several together.
var anyScope = rest.Param{Name: "chainId", Kind: schema.KindChain, Enum: []string{total, mainnet, testnet},
	Doc: "The chain, or all chains of a network, or all chains."}

// scope returns the chains that the chainId parameter names.
func (a *api) scope(r *rest.Request) (metric.Scope, error) {
	switch id := r.Chain("chainId"); id.Name {
	case total:
		return metric.Total, nil
	case mainnet:
		return metric.Mainnet, nil
	case testnet:
		return metric.Testnet, nil
	default:
		c, err := a.chain(id)
		if err != nil {
			return 0, err
		}
		return metric.Scope(c.Row.ID), nil
	}
}

func (a *api) chain(id schema.ChainID) (*reader.Chain, error) {
	c := a.world.ChainNamed(id.String())
	if c == nil {
		return nil, rest.NotFound("chain %s does not exist: GET /v2/chains lists all chains", id)
	}
	return c, nil
}

// metricNames returns the names of the metrics that pass a test.
func metricNames(pass func(*metric.Metric) bool) []string {
	var names []string
	for i := range metric.Metrics {
		if pass(&metric.Metrics[i]) {
			names = append(names, metric.Metrics[i].Name)
		}
	}
	return names
}
