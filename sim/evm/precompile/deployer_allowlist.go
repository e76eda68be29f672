package precompile

import (
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
)

var deployerAllowListAddress = common.HexToAddress("0x0200000000000000000000000000000000000000")

// DeployerAllowList is subnet-evm's contract deployer allow list: only listed senders' transactions may create contracts.
var DeployerAllowList = declare(deployerAllowListAddress, "contractDeployerAllowListConfig", nil, allowListFunctions(deployerAllowListAddress)...)

// checkDeployer returns why the current transaction may not create contracts, nil if it may (subnet-evm params.RulesExtra.CanCreateContract).
func (f *Frames) checkDeployer() error {
	if !slices.Contains(f.contracts, DeployerAllowList) || RoleOf(f.evm.StateDB, DeployerAllowList.Address, f.evm.Origin).Enabled() {
		return nil
	}
	return fmt.Errorf("tx.origin %s is not authorized to deploy a contract", f.evm.Origin)
}

// deployerState gives a nonce to the address of a contract that must not be created: the resulting address collision has the same effects
// as in subnet-evm (the nonce is used, all gas is used), and go-ethereum has no other hook.
type deployerState struct {
	vm.StateDB
	frames *Frames
}

// State returns the part of the EVM's state that precompiles use.
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
