package evm

import (
	"maps"
	"math/big"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/fixtures"
	"snowglobe/fixtures/worldfile"
	"snowglobe/seed/population"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/store"
)

// ValidatorManager is the address of the contract that manages an L1's validators, from its chain's genesis on.
var ValidatorManager = common.HexToAddress("0x0Feedc0de0000000000000000000000000000000")

// ChainSpec describes an EVM chain of the world before its history.
type ChainSpec struct {
	Network     string
	kind        evm.Kind
	evmID       uint64 // 0: the network's C-Chain id
	name        string
	description string
	tokenName   string
	tokenSymbol string
	Share       int                  // of the world's transactions
	fees        precompile.FeeConfig // of an L1
	precompiles precompileConfig     // of an L1
	gasTarget   uint64               // gas per second that a C-Chain's validators vote for; 0: no change
	blockDelay  uint64               // milliseconds between blocks that validators vote for; 0: no change

	Tokens []GenesisToken   // a user's, from the genesis on
	Quote  *worldfile.Quote // of a user's L1's native token; nil without a market

	imported *evm.Genesis // of a user's L1 that brings its own; nil for all others
}

// GenesisToken is an ERC-20 without holders.
type GenesisToken struct {
	Role, Name, Symbol string
	Decimals           uint8
	Address, Owner     common.Address
}

// ChainSpecs lists the EVM chains in the order in which profiles add them.
var ChainSpecs = []ChainSpec{
	{"mainnet", evm.KindC, 0, "Avalanche (C-Chain)", "The contract chain of the primary network.", "Avalanche", "AVAX", 5, precompile.FeeConfig{}, precompileConfig{}, 0, 0, nil, nil, nil},
	{"fuji", evm.KindC, 0, "Avalanche (C-Chain)", "The contract chain of the test network.", "Avalanche", "AVAX", 5, precompile.FeeConfig{}, precompileConfig{}, 1_500_000, 1_500, nil, nil, nil},
	l1(0, "An L1 of {company} for games, with fees of its own.", 5, fees(1e9, 200_000), precompileConfig{deployers: true, fees: true, minter: true}, 1_200),
	l1(1, "An L1 of {company}, where teams try things out.", 4, fees(2e9, 150_000), precompileConfig{}, 0),
	l1(2, "An L1 of {company} for payments.", 4, fees(5e9, 180_000), precompileConfig{minter: true, minterEnds: 600}, 0),
}

// l1 returns the chain of the n-th L1 of the built-in profiles.
func l1(n int, description string, share int, fees precompile.FeeConfig, precompiles precompileConfig, delay uint64) ChainSpec {
	of := fixtures.L1s[n]
	return ChainSpec{Network: of.Network, kind: evm.KindL1, evmID: of.EVMID, name: of.Name, description: description, tokenName: of.Name, tokenSymbol: of.Token,
		Share: share, fees: fees, precompiles: precompiles, blockDelay: delay}
}

// OwnChain returns the chain of a user's L1. It takes no share of the profile's transactions: it has its own.
func OwnChain(network, name, tokenName, tokenSymbol string, id uint64) ChainSpec {
	return ChainSpec{Network: network, kind: evm.KindL1, evmID: id, name: name, description: "An L1 of its own.", tokenName: tokenName, tokenSymbol: tokenSymbol,
		fees: fees(1e9, 200_000)}
}

// ImportedChain returns the chain of a user's L1 that starts from a genesis and upgrades as a node of subnet-evm reads them. Nothing happens on it.
func ImportedChain(network, name, tokenName, tokenSymbol string, genesis, upgrades []byte) (ChainSpec, error) {
	parsed, err := evm.ParseGenesis(evm.KindL1, genesis, upgrades)
	if err != nil {
		return ChainSpec{}, err
	}
	spec := OwnChain(network, name, tokenName, tokenSymbol, parsed.ChainID)
	spec.imported = parsed
	return spec, nil
}

// Imported reports whether the chain starts from a genesis of its user's.
func (s *ChainSpec) Imported() bool { return s.imported != nil }

func fees(floor, target int64) precompile.FeeConfig {
	return precompile.NewFeeConfig(20_000_000, floor, target)
}

// An L1's target allows this many times the gas of an average day, at so much gas per transaction. Otherwise the base fee would rise during the
// busy hours of a grown world until no account could pay it.
const (
	roomForBusyHours = 8
	usualGas         = 100_000
	targetSeconds    = 10
)

// roomFor sets a chain's target to leave room for so many transactions.
func (s *ChainSpec) roomFor(size int, span population.Span) *ChainSpec {
	target := int64(size) * usualGas * targetSeconds * roomForBusyHours / int64(span.Until-span.Start)
	if !s.IsL1() || s.Imported() || s.fees.TargetGas.IsInt64() && s.fees.TargetGas.Int64() >= target {
		return s
	}
	wider := *s
	wider.fees.TargetGas = big.NewInt(target)
	return &wider
}

// desired returns the values that the chain's proposers vote for.
func (s *ChainSpec) desired() (d evm.Desired) {
	if s.gasTarget > 0 {
		excess := evm.TargetExcess(s.gasTarget)
		d.TargetExcess = &excess
	}
	if s.blockDelay > 0 {
		excess := evm.DelayExcess(s.blockDelay)
		d.DelayExcess = &excess
	}
	return d
}

// EVMID returns the chain's EVM chain id.
func (s *ChainSpec) EVMID() uint64 {
	if network, err := fixtures.NetworkNamed(s.Network); err == nil && s.kind == evm.KindC {
		return network.CChainEVMID
	}
	return s.evmID
}

// Name returns the chain's name.
func (s *ChainSpec) Name() string { return s.name }

// IsL1 reports whether the chain belongs to an L1; the others are C-Chains.
func (s *ChainSpec) IsL1() bool { return s.kind == evm.KindL1 }

func (s *ChainSpec) genesis(id int, span population.Span, personas *population.Personas, accounts []*population.Account, alloc types.GenesisAlloc, known []knownContract) (store.Chain, *evm.Genesis, error) {
	network, err := fixtures.NetworkNamed(s.Network)
	if err != nil {
		return store.Chain{}, nil, err
	}
	evmID := s.EVMID()
	own := maps.Clone(alloc) // with the network's treasury, so that no two chains start with the same block
	genesis := &evm.Genesis{Kind: s.kind, ChainID: evmID, Timestamp: span.Start, Extra: []byte{0}, Alloc: own}
	if s.Imported() {
		genesis.Extra, genesis.Precompiles = s.imported.Extra, s.imported.Precompiles
	} else {
		genesis.Precompiles = s.precompiles.schedule(s, evmID, span, personas, accounts)
	}
	for _, k := range known {
		if own[k.address], err = k.account(new(big.Int).SetUint64(evmID)); err != nil {
			return store.Chain{}, nil, err
		}
	}
	if !s.precompiles.minter && !s.Imported() {
		own[Treasury(evmID)] = types.Account{Balance: population.Units(1, 18)}
	}
	raw, upgrades, err := genesis.Encode()
	if err != nil {
		return store.Chain{}, nil, err
	}
	blockchain, subnet, vm := network.CChainID, ids.Empty, fixtures.EVMID
	if s.kind == evm.KindL1 { // its ids are those of the transactions that will create it
		blockchain, vm = ids.Empty, fixtures.SubnetEVMID
	}
	return store.Chain{
		ID: id, Network: s.Network, EVMID: evmID, BlockchainID: blockchain[:], SubnetID: subnet[:], VMID: vm[:],
		Kind: string(s.kind), Name: s.name, Description: s.description, TokenName: s.tokenName, TokenSymbol: s.tokenSymbol,
		Genesis: raw, Upgrades: upgrades,
	}, genesis, nil
}

// Treasury returns the address of a chain's treasury: the chain's own id, an address without a key.
func Treasury(id uint64) common.Address {
	return common.BytesToAddress(append([]byte("treasury"), new(big.Int).SetUint64(id).FillBytes(make([]byte, 12))...))
}

// Allocation returns the accounts of a genesis of the user's.
func (s *ChainSpec) Allocation() (types.GenesisAlloc, error) {
	alloc, err := s.imported.Allocation()
	return maps.Clone(alloc), err
}

// GenesisAlloc returns every balance on an EVM chain before the first block. The most active accounts hold the most.
func GenesisAlloc(g population.RNG, personas *population.Personas, accounts []*population.Account) types.GenesisAlloc {
	alloc := types.GenesisAlloc{}
	for _, p := range personas.Funded {
		if p.Genesis.Wei != nil {
			alloc[p.Account.Address] = types.Account{Balance: new(big.Int).Set(p.Genesis.Wei)}
		}
	}
	r := g.For("endowment")
	for i, a := range accounts {
		alloc[a.Address] = types.Account{Balance: population.Units(population.Between(r, 20, 120)+int64(10_000/(i+20)), 18)}
	}
	return alloc
}
