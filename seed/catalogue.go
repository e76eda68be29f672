package seed

import (
	"maps"
	"math/big"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/fixtures"
	"snowglobe/fixtures/contracts"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/store"
	"snowglobe/sim/warp"
)

// Multicall is where every chain has a Multicall3-compatible contract from its first block on.
var Multicall = common.HexToAddress("0xcA11bde05977b3631167028862bE2a173976CA11")

// setting is an EVM chain of the world before anything happened on it.
type setting struct {
	network     string
	kind        evm.Kind
	evmID       uint64 // 0: the network's C-Chain id
	name        string
	description string
	tokenName   string
	tokenSymbol string
	share       int // of the world's transactions
	fees        evm.FeeConfig
}

// catalogue lists the EVM chains in the order in which profiles take them.
var catalogue = []setting{
	{"mainnet", evm.KindC, 0, "Avalanche (C-Chain)", "The contract chain of the primary network.", "Avalanche", "AVAX", 5, feesC},
	{"fuji", evm.KindC, 0, "Avalanche (C-Chain)", "The contract chain of the test network.", "Avalanche", "AVAX", 5, feesC},
	{"mainnet", evm.KindL1, 70411, "Icefall", "An L1 for games, with fees of its own.", "Icefall", "ICE", 4, feesL1(1e9, 200_000)},
	{"fuji", evm.KindL1, 70412, "Powder", "An L1 where teams try things out.", "Powder", "PWD", 4, feesL1(2e9, 150_000)},
	{"mainnet", evm.KindL1, 70413, "Cornice", "An L1 for payments.", "Cornice", "CRN", 4, feesL1(5e9, 180_000)},
}

var feesC = evm.FeeConfig{GasLimit: 20_000_000, TargetBlockRate: 2, MinBaseFee: 25e9, TargetGas: 15_000_000,
	BaseFeeChangeDenominator: 36, MaxBlockGasCost: 1_000_000, BlockGasCostStep: 200_000}

func feesL1(floor, target uint64) evm.FeeConfig {
	return evm.FeeConfig{GasLimit: 20_000_000, TargetBlockRate: 2, MinBaseFee: floor, TargetGas: target,
		BaseFeeChangeDenominator: 36, MaxBlockGasCost: 1_000_000, BlockGasCostStep: 200_000}
}

// found makes the chain's row and genesis.
func (s setting) found(id int, start time.Time, alloc map[common.Address]evm.GenesisAccount) (store.Chain, *evm.Genesis, error) {
	network, err := fixtures.NetworkNamed(s.network)
	if err != nil {
		return store.Chain{}, nil, err
	}
	evmID := s.evmID
	if s.kind == evm.KindC {
		evmID = network.CChainEVMID
	}
	own := maps.Clone(alloc) // with the network's treasury, so that no two chains start with the same block
	own[treasury(evmID)] = evm.GenesisAccount{Balance: (*hexutil.Big)(units(1, 18))}
	at := uint64(start.Unix())
	genesis := &evm.Genesis{Kind: s.kind, ChainID: evmID, Timestamp: at, FeeConfig: s.fees, Alloc: own}
	genesis.Precompiles.Genesis = precompile.Settings{precompile.WarpKey: {
		BlockTimestamp: &at, QuorumNumerator: warp.DefaultQuorumNumerator, RequirePrimaryNetworkSigners: s.kind == evm.KindL1,
	}}
	raw, err := genesis.Encode()
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
		Genesis: raw,
	}, genesis, nil
}

// treasury is the address of a chain's treasury: the chain's own id, where nobody has a key.
func treasury(id uint64) common.Address {
	return common.BytesToAddress(append([]byte("treasury"), new(big.Int).SetUint64(id).FillBytes(make([]byte, 12))...))
}

// endowment is what everyone holds before the first block.
func endowment(d dice, people map[string]*actor, others []*actor) (map[common.Address]evm.GenesisAccount, error) {
	multicall, err := contracts.Load("Multicall3")
	if err != nil {
		return nil, err
	}
	alloc := map[common.Address]evm.GenesisAccount{Multicall: {Code: multicall.Runtime, Nonce: 1}}
	give := func(a *actor, amount *big.Int) {
		alloc[a.address] = evm.GenesisAccount{Balance: (*hexutil.Big)(amount)}
	}
	for _, name := range []string{"alice", "bob", "deployer", "collector", "clumsy", "spammed", "ewoq"} {
		give(people[name], units(20_000, 18))
	}
	give(people["whale"], new(big.Int).Lsh(big.NewInt(3), 96))
	give(people["deployer"], units(5_000_000, 18))
	r := d.For("endowment")
	for i, a := range others {
		give(a, units(between(r, 50, 400)+int64(2_000_000/(i+20)), 18))
	}
	return alloc, nil
}
