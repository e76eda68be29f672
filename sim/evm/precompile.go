package evm

import (
	"maps"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"

	"snowglobe/sim/evm/precompile"
)

// deprecatedAddresses are the addresses of the C-Chain's deprecated precompiles, as in coreth: genesis, native asset balance and native
// asset call. A call to one of them reverts.
var deprecatedAddresses = []common.Address{
	Blackhole,
	common.HexToAddress("0x0100000000000000000000000000000000000001"),
	common.HexToAddress("0x0100000000000000000000000000000000000002"),
}

// warmAddresses are the precompiles of a kind of chain that are warm at the beginning of a transaction (EIP-2929), beside
// go-ethereum's own. Stateful precompiles are not.
func warmAddresses(kind Kind) []common.Address {
	all := slices.Collect(maps.Keys(vm.PrecompiledContractsP256Verify))
	if kind == KindC {
		all = append(all, deprecatedAddresses...)
	}
	return all
}

// PrecompilesAt are the precompiles of a chain at a time.
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

// deprecatedContract is coreth's deprecatedContract: a call reverts without data.
type deprecatedContract struct{}

func (deprecatedContract) RequiredGas([]byte) uint64  { return 0 }
func (deprecatedContract) Run([]byte) ([]byte, error) { return nil, vm.ErrExecutionReverted }
func (deprecatedContract) Name() string               { return "deprecated" }
