package seed

import (
	"maps"
	"math/big"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/fixtures"
	"snowglobe/fixtures/contracts"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/store"
)

// Multicall is where every chain has a Multicall3-compatible contract from its first block on.
var Multicall = common.HexToAddress("0xcA11bde05977b3631167028862bE2a173976CA11")

// setting is an EVM chain of the world before anything happened on it.
type chainSpec struct {
	network          string
	kind             evm.Kind
	evmID            uint64 // 0: the network's C-Chain id
	name             string
	description      string
	tokenName        string
	tokenSymbol      string
	share            int // of the world's transactions
	fees             precompile.FeeConfig
	precompileConfig precompileConfig // of an L1
}

// catalogue lists the EVM chains in the order in which profiles take them.
var chainSpecs = []chainSpec{
	{"mainnet", evm.KindC, 0, "Avalanche (C-Chain)", "The contract chain of the primary network.", "Avalanche", "AVAX", 5, feesC, precompileConfig{}},
	{"fuji", evm.KindC, 0, "Avalanche (C-Chain)", "The contract chain of the test network.", "Avalanche", "AVAX", 5, feesC, precompileConfig{}},
	{"mainnet", evm.KindL1, 70411, "Icefall", "An L1 for games, with fees of its own.", "Icefall", "ICE", 5, fees(1e9, 200_000),
		precompileConfig{deployers: true, fees: true, minter: true}},
	{"fuji", evm.KindL1, 70412, "Powder", "An L1 where teams try things out.", "Powder", "PWD", 4, fees(2e9, 150_000), precompileConfig{}},
	{"mainnet", evm.KindL1, 70413, "Cornice", "An L1 for payments.", "Cornice", "CRN", 4, fees(5e9, 180_000),
		precompileConfig{minter: true, minterEnds: 600}},
}

var feesC = fees(25e9, 15_000_000)

func fees(floor, target int64) precompile.FeeConfig {
	return precompile.UsualFees(20_000_000, floor, target)
}

// found makes the chain's row and genesis.
func (s chainSpec) found(id int, start, until time.Time, people map[string]*account, accounts []*account, alloc types.GenesisAlloc) (store.Chain, *evm.Genesis, error) {
	network, err := fixtures.NetworkNamed(s.network)
	if err != nil {
		return store.Chain{}, nil, err
	}
	evmID := s.evmID
	if s.kind == evm.KindC {
		evmID = network.CChainEVMID
	}
	own := maps.Clone(alloc) // with the network's treasury, so that no two chains start with the same block
	genesis := &evm.Genesis{Kind: s.kind, ChainID: evmID, Timestamp: uint64(start.Unix()), Extra: []byte{0}, Alloc: own}
	genesis.Schedule = s.precompileConfig.schedule(s.kind, s.fees, evmID, start, until, people, accounts)
	if s.kind == evm.KindL1 {
		code, err := contracts.Load("ValidatorManager")
		if err != nil {
			return store.Chain{}, nil, err
		}
		own[manager] = types.Account{Code: code.Runtime, Nonce: 1}
	}
	if !s.precompileConfig.minter {
		own[treasury(evmID)] = types.Account{Balance: units(1, 18)}
	}
	raw, upgrades, err := genesis.Encode()
	if err != nil {
		return store.Chain{}, nil, err
	}
	blockchain, subnet, vm := network.CChainID, ids.Empty, fixtures.EVMID
	if s.kind == evm.KindL1 { // its ids are those of the transactions that will make it
		blockchain, vm = ids.Empty, fixtures.SubnetEVMID
	}
	return store.Chain{
		ID: id, Network: s.network, EVMID: evmID, BlockchainID: blockchain[:], SubnetID: subnet[:], VMID: vm[:],
		Kind: string(s.kind), Name: s.name, Description: s.description, TokenName: s.tokenName, TokenSymbol: s.tokenSymbol,
		Genesis: raw, Upgrades: upgrades,
	}, genesis, nil
}

// treasury is the address of a chain's treasury: the chain's own id, where nobody has a key.
func treasury(id uint64) common.Address {
	return common.BytesToAddress(append([]byte("treasury"), new(big.Int).SetUint64(id).FillBytes(make([]byte, 12))...))
}

// endowment is what everyone holds before the first block.
func endowment(d rng, people map[string]*account, accounts []*account) (types.GenesisAlloc, error) {
	multicall, err := contracts.Load("Multicall3")
	if err != nil {
		return nil, err
	}
	alloc := types.GenesisAlloc{Multicall: {Code: multicall.Runtime, Nonce: 1}}
	give := func(a *account, amount *big.Int) {
		alloc[a.address] = types.Account{Balance: amount}
	}
	for _, name := range []string{"alice", "bob", "deployer", "collector", "clumsy", "spammed", "ewoq"} {
		give(people[name], units(20_000, 18))
	}
	give(people["whale"], new(big.Int).Lsh(big.NewInt(3), 96))
	give(people["deployer"], units(5_000_000, 18))
	r := d.For("endowment")
	for i, a := range accounts {
		give(a, units(between(r, 50, 400)+int64(2_000_000/(i+20)), 18))
	}
	return alloc, nil
}
