package evm

import (
	"maps"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"

	"snowglobe/sim/evm/precompile"
)

// deprecatedAddresses are the addresses of the C-Chain's old native-asset contracts and of the coinbase before them: a call to one
// of them reverts.
var deprecatedAddresses = []common.Address{
	Blackhole,
	common.HexToAddress("0x0100000000000000000000000000000000000001"),
	common.HexToAddress("0x0100000000000000000000000000000000000002"),
}

// warmAddresses are the addresses of what a kind of chain has built in beside the engine's own: they are as cheap to reach as those.
// The contracts that keep state are not.
func warmAddresses(kind Kind) []common.Address {
	all := slices.Collect(maps.Keys(vm.PrecompiledContractsP256Verify))
	if kind == KindC {
		all = append(all, deprecatedAddresses...)
	}
	return all
}

// PrecompilesAt are the contracts that a chain has built in at a time.
func PrecompilesAt(kind Kind, rules params.Rules, schedule *precompile.Upgrades, time uint64) Precompiles {
	all := Precompiles{stateless: vm.ActivePrecompiledContracts(rules), stateful: map[common.Address]*precompile.Contract{}, Warm: warmAddresses(kind)}
	if kind == KindC {
		for _, address := range deprecatedAddresses {
			all.stateless[address] = deprecatedContract{}
		}
	}
	maps.Copy(all.stateless, vm.PrecompiledContractsP256Verify)
	for _, c := range schedule.Active(time) {
		all.stateful[c.Address] = c
	}
	return all
}

// deprecatedContract is a contract that is no longer there: calling it reverts without data.
type deprecatedContract struct{}

func (deprecatedContract) RequiredGas([]byte) uint64  { return 0 }
func (deprecatedContract) Run([]byte) ([]byte, error) { return nil, vm.ErrExecutionReverted }
func (deprecatedContract) Name() string               { return "deprecated" }
