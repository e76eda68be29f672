package precompile

import (
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
)

var deployerAllowListAddress = common.HexToAddress("0x0200000000000000000000000000000000000000")

// DeployerAllowList says whose transactions may create contracts.
var DeployerAllowList = declare(deployerAllowListAddress, "contractDeployerAllowListConfig", nil, allowListFunctions(deployerAllowListAddress)...)

// checkDeployer is why the transaction under way may not create contracts, nil when it may.
func (f *Frames) checkDeployer() error {
	if !slices.Contains(f.contracts, DeployerAllowList) || RoleOf(f.evm.StateDB, DeployerAllowList.Address, f.evm.Origin).Enabled() {
		return nil
	}
	return fmt.Errorf("tx.origin %s is not authorized to deploy a contract", f.evm.Origin)
}

// deployerState is a state in which a contract that must not be created finds its address taken: the engine has no other place
// to refuse it with the network's consequences (the nonce moves on, all gas is gone).
type deployerState struct {
	vm.StateDB
	frames *Frames
}

// State is the state as the EVM is to see it.
func (f *Frames) State(states vm.StateDB) vm.StateDB {
	if !slices.Contains(f.contracts, DeployerAllowList) {
		return states
	}
	return deployerState{states, f}
}

func (g deployerState) GetNonce(address common.Address) uint64 {
	if len(g.frames.open) > 0 {
		if top := g.frames.top(); top.refused != nil && top.target == address {
			return 1
		}
	}
	return g.StateDB.GetNonce(address)
}
