package evm

import (
	"maps"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"

	"snowglobe/sim/evm/precompile"
)

// retired are the addresses of the C-Chain's old native-asset contracts and of the coinbase before them: a call to one
// of them reverts.
var retired = []common.Address{
	Blackhole,
	common.HexToAddress("0x0100000000000000000000000000000000000001"),
	common.HexToAddress("0x0100000000000000000000000000000000000002"),
}

// early are the addresses of what a kind of chain has built in beside the engine's own: they are as cheap to reach as those.
// The contracts that keep state are not.
func early(kind Kind) []common.Address {
	all := slices.Collect(maps.Keys(vm.PrecompiledContractsP256Verify))
	if kind == KindC {
		all = append(all, retired...)
	}
	return all
}

// builtinsAt are the contracts that a chain has built in at a time.
func builtinsAt(kind Kind, rules params.Rules, schedule *precompile.Schedule, time uint64) builtins {
	all := builtins{pure: vm.ActivePrecompiledContracts(rules), stateful: map[common.Address]*precompile.Contract{}, early: early(kind)}
	if kind == KindC {
		for _, address := range retired {
			all.pure[address] = deprecated{}
		}
	}
	maps.Copy(all.pure, vm.PrecompiledContractsP256Verify)
	for _, c := range schedule.Active(time) {
		all.stateful[c.Address] = c
	}
	return all
}

// deprecated is a contract that is no longer there: calling it reverts without data.
type deprecated struct{}

func (deprecated) RequiredGas([]byte) uint64  { return 0 }
func (deprecated) Run([]byte) ([]byte, error) { return nil, vm.ErrExecutionReverted }
func (deprecated) Name() string               { return "deprecated" }
