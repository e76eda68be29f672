package metrics

import (
	"reflect"
	"strings"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
)

// Chain is an EVM chain with metrics.
type Chain struct {
	EVMChainID   uint64 `json:"evmChainId"`
	ChainName    string `json:"chainName" doc:"c_chain, or the chain's name in lower case with underscores."`
	BlockchainID string `json:"blockchainId" format:"cb58"`
	SubnetID     string `json:"subnetId" format:"cb58"`
	Network      string `json:"network" enum:"mainnet,testnet"`
}

// Chains is a page of chains.
type Chains struct {
	Chains        []Chain `json:"chains"`
	NextPageToken string  `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
}

func (a *api) chains() []rest.Operation {
	return []rest.Operation{
		{ID: "listMetricsChains", Path: "/v2/chains", Summary: "Get a list of supported blockchains",
			Params: []rest.Param{
				rest.Paging(pageSize, mostSize)[0],
				{Name: "network", Kind: schema.KindNetwork, Doc: "Only the chains of this network."}},
			Answer: reflect.TypeFor[Chains](), Handle: a.listChains},
		{ID: "getMetricsChain", Path: "/v2/chains/{chainId}", Summary: "Get chain information for supported blockchain",
			Params: []rest.Param{{Name: "chainId", Kind: schema.KindChain}},
			Answer: reflect.TypeFor[Chain](), Handle: a.getChain},
	}
}

// listChains pages by row id, with a fixed number of chains to a page.
func (a *api) listChains(r *rest.Request) (any, error) {
	answer := Chains{Chains: []Chain{}}
	after, _ := r.PositionNumber()
	last := after
	for _, c := range a.world.Chains {
		if uint64(c.Row.ID) <= after || r.Given("network") && c.Row.Network != r.Text("network") {
			continue
		}
		if len(answer.Chains) == pageSize {
			answer.NextPageToken = r.NextPageToken(rest.Position(last))
			break
		}
		answer.Chains = append(answer.Chains, a.shown[c.Row.ID])
		last = uint64(c.Row.ID)
	}
	return answer, nil
}

func (a *api) getChain(r *rest.Request) (any, error) {
	c, err := a.chain(r.Chain("chainId"))
	if err != nil {
		return nil, err
	}
	return a.shown[c.Row.ID], nil
}

func describe(c *reader.Chain) Chain {
	network, name := mainnet, "c_chain"
	if c.Row.Network == fixtures.FujiName {
		network = testnet
	}
	if c.Kind == evm.KindL1 {
		name = strings.ReplaceAll(strings.ToLower(c.Row.Name), " ", "_")
	}
	return Chain{EVMChainID: c.Row.EVMID, ChainName: name, BlockchainID: ids.ID(c.Row.BlockchainID).String(),
		SubnetID: ids.ID(c.Row.SubnetID).String(), Network: network}
}
