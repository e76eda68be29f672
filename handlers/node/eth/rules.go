package eth

import (
	"context"
	"encoding/json"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
)

// rulesAPI implements an L1's eth methods about its configuration at any block or time: subnet-evm's internal/ethapi/api_extra.go.
type rulesAPI struct{ *api }

type feeConfigResult struct {
	FeeConfig     precompile.FeeConfig `json:"feeConfig"`
	LastChangedAt *big.Int             `json:"lastChangedAt"`
}

// FeeConfig returns the fee configuration after a block, and the block that last changed it.
func (a *rulesAPI) FeeConfig(ctx context.Context, ref *BlockRef) (*feeConfigResult, error) {
	b, err := a.block(ctx, ref)
	if err != nil {
		return nil, err
	}
	config, changed, err := a.chain.FeeConfigAt(ctx, b)
	if err != nil {
		return nil, err
	}
	return &feeConfigResult{config, changed}, nil
}

// at returns the time that a client names, or the newest block's.
func (a *rulesAPI) at(ctx context.Context, time *uint64) (uint64, error) {
	if time != nil {
		return *time, nil
	}
	head, err := a.chain.Head(ctx)
	if err != nil {
		return 0, err
	}
	return head.Header.Time, nil
}

// GetActivePrecompilesAt returns the settings of the precompiles active at a time, by their keys.
func (a *rulesAPI) GetActivePrecompilesAt(ctx context.Context, time *uint64) (precompile.Configs, error) {
	at, err := a.at(ctx, time)
	if err != nil {
		return nil, err
	}
	return a.chain.Genesis.Precompiles.At(at), nil
}

// activeRules lists the rule changes in force, under the network's names.
type activeRules struct {
	Eth         ethRules                    `json:"ethRules"`
	Avalanche   avalancheRules              `json:"avalancheRules"`
	Precompiles map[string]activePrecompile `json:"precompiles"`
}

type ethRules struct {
	ChainID                                                 *big.Int
	IsHomestead, IsEIP150, IsEIP155, IsEIP158               bool
	IsByzantium, IsConstantinople, IsPetersburg, IsIstanbul bool
	IsBerlin, IsLondon                                      bool
	IsMerge, IsShanghai, IsCancun, IsPrague                 bool
	IsVerkle                                                bool
}

// avalancheRules never include Fortuna, which changed only the C-Chain.
type avalancheRules struct {
	IsSubnetEVM, IsDurango, IsEtna, IsFortuna, IsGranite, IsHelicon bool
}

type activePrecompile struct {
	Timestamp uint64 `json:"timestamp"`
}

// GetActiveRulesAt returns the rules in force at a time.
func (a *rulesAPI) GetActiveRulesAt(ctx context.Context, time *uint64) (*activeRules, error) {
	at, err := a.at(ctx, time)
	if err != nil {
		return nil, err
	}
	u := a.chain.Upgrades
	since := func(upgrade int64) bool { return at >= uint64(upgrade) }
	rules := &activeRules{
		Eth: ethRules{
			ChainID: new(big.Int).SetUint64(a.chain.Genesis.ChainID), IsHomestead: true, IsEIP150: true, IsEIP155: true, IsEIP158: true,
			IsByzantium: true, IsConstantinople: true, IsPetersburg: true, IsIstanbul: true, IsBerlin: true, IsLondon: true,
			IsMerge: true, IsShanghai: since(u.Durango), IsCancun: since(u.Etna),
		},
		Avalanche: avalancheRules{
			IsSubnetEVM: true, IsDurango: since(u.Durango), IsEtna: since(u.Etna), IsGranite: since(u.Granite), IsHelicon: since(u.Helicon),
		},
		Precompiles: map[string]activePrecompile{},
	}
	for key, setting := range a.chain.Genesis.Precompiles.At(at) {
		rules.Precompiles[key] = activePrecompile{*setting.BlockTimestamp}
	}
	return rules, nil
}

// configOfL1 writes the upgrades after the sorted keys, as a node does.
func configOfL1(g *evm.Genesis, u fixtures.Upgrades) (json.RawMessage, error) {
	config := forks(g, u)
	config["feeConfig"] = g.Precompiles.FeeConfig
	config["allowFeeRecipients"] = false
	config["eip150Hash"] = common.Hash{} // zero: every chain begins with the rules of EIP-150
	config["subnetEVMTimestamp"] = 0
	config["durangoTimestamp"] = u.Durango
	sorted, err := g.Precompiles.Genesis.MarshalWith(config)
	if err != nil {
		return nil, err
	}
	upgrades, err := g.Precompiles.EncodeUpgrades()
	if err != nil {
		return nil, err
	}
	return append(append(append(sorted[:len(sorted)-1], `,"upgrades":`...), upgrades...), '}'), nil
}
