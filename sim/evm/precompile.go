package evm

import (
	"maps"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"
)

// retired are the addresses of the C-Chain's old native-asset contracts and of the coinbase before them: a call to one
// of them reverts.
var retired = []common.Address{
	Blackhole,
	common.HexToAddress("0x0100000000000000000000000000000000000001"),
	common.HexToAddress("0x0100000000000000000000000000000000000002"),
}

// precompiles are the contracts that a kind of chain has built in.
func precompiles(kind Kind, rules params.Rules) vm.PrecompiledContracts {
	all := maps.Clone(vm.ActivePrecompiledContracts(rules))
	if kind == KindC {
		for _, address := range retired {
			all[address] = deprecated{}
		}
	}
	return all
}

// deprecated is a contract that is no longer there: calling it reverts without data.
type deprecated struct{}

func (deprecated) RequiredGas([]byte) uint64  { return 0 }
func (deprecated) Run([]byte) ([]byte, error) { return nil, vm.ErrExecutionReverted }
func (deprecated) Name() string               { return "deprecated" }
