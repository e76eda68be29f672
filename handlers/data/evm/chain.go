package evm

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/evm/reader"
)

// nativeDecimals holds for the native token of every chain.
const nativeDecimals = 18

// Chain describes an EVM chain.
type Chain struct {
	ChainID          string           `json:"chainId" format:"uint"`
	Status           string           `json:"status" enum:"OK,UNAVAILABLE"`
	ChainName        string           `json:"chainName"`
	Description      string           `json:"description"`
	PlatformChainID  string           `json:"platformChainId" format:"cb58"`
	SubnetID         string           `json:"subnetId" format:"cb58"`
	VMID             string           `json:"vmId" format:"cb58"`
	VMName           string           `json:"vmName" enum:"EVM,BITCOIN,ETHEREUM"`
	ExplorerURL      string           `json:"explorerUrl" format:"url"`
	RPCURL           string           `json:"rpcUrl" format:"url"`
	WSURL            string           `json:"wsUrl" format:"url"`
	IsTestnet        bool             `json:"isTestnet"`
	UtilityAddresses UtilityAddresses `json:"utilityAddresses"`
	NetworkToken     NetworkToken     `json:"networkToken"`
	ChainLogoURI     string           `json:"chainLogoUri" format:"url"`
	Private          bool             `json:"private"`
	EnabledFeatures  []string         `json:"enabledFeatures" enum:"nftIndexing,webhooks,teleporter"`
}

// UtilityAddresses lists the contracts that every chain has.
type UtilityAddresses struct {
	Multicall string `json:"multicall" format:"address"`
}

// NetworkToken is a chain's native token.
type NetworkToken struct {
	Name        string `json:"name"`
	Symbol      string `json:"symbol"`
	Decimals    int    `json:"decimals"`
	LogoURI     string `json:"logoUri" format:"url"`
	Description string `json:"description"`
}

// features lists the features that the simulator offers on every chain.
var features = []string{"nftIndexing", "webhooks", "teleporter"}

type chains struct {
	Chains []Chain `json:"chains"`
}

func (a *chainAPI) chainOperations() []rest.Operation {
	return []rest.Operation{
		{ID: "listChains", Path: "/v1/chains", Summary: "List the EVM chains", Answer: reflect.TypeFor[chains](), Handle: a.listChains,
			Params: data.JoinParams(data.NetworkParam, rest.Param{Name: "feature", Kind: schema.KindEnum,
				Enum: []string{"nftIndexing", "webhooks", "teleporter"}, Doc: "Only chains with this feature."})},
		{ID: "getChain", Path: "/v1/chains/{chainId}", Summary: "Describe an EVM chain", Spec: "Chains",
			Params: data.JoinParams(data.ChainParam), Answer: reflect.TypeFor[Chain](),
			Handle: a.OnChain(func(r *rest.Request, c *reader.Chain) (any, error) { return describe(r, c), nil })},
	}
}

func (a *chainAPI) listChains(r *rest.Request) (any, error) {
	answer := chains{Chains: []Chain{}}
	if r.Given("feature") && !slices.Contains(features, r.Text("feature")) {
		return answer, nil
	}
	for _, c := range a.ChainsOf(r) {
		answer.Chains = append(answer.Chains, describe(r, c))
	}
	return answer, nil
}

func describe(r *rest.Request, c *reader.Chain) Chain {
	row, base := &c.Row, r.BaseURL()
	number, blockchain := strconv.FormatUint(row.EVMID, 10), ids.ID(row.BlockchainID).String()
	node := base + "/ext/bc/" + blockchain
	return Chain{
		ChainID: number, Status: "OK", ChainName: row.Name, Description: row.Description, PlatformChainID: blockchain,
		SubnetID: ids.ID(row.SubnetID).String(), VMID: ids.ID(row.VMID).String(), VMName: "EVM",
		ExplorerURL: base + "/sim/explorer/" + number, RPCURL: node + "/rpc",
		WSURL: "ws" + strings.TrimPrefix(node, "http") + "/ws", IsTestnet: row.Network != fixtures.MainnetName,
		UtilityAddresses: UtilityAddresses{fixtures.Multicall.Hex()}, NetworkToken: networkToken(r, c), ChainLogoURI: data.LogoURL(r, row.Name),
		EnabledFeatures: features,
	}
}

func networkToken(r *rest.Request, c *reader.Chain) NetworkToken {
	return NetworkToken{Name: c.Row.TokenName, Symbol: c.Row.TokenSymbol, Decimals: nativeDecimals,
		LogoURI: data.LogoURL(r, c.Row.TokenSymbol), Description: "The token that pays for gas on " + c.Row.Name + "."}
}
