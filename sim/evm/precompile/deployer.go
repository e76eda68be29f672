package precompile

import (
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
)

var deployersAddress = common.HexToAddress("0x0200000000000000000000000000000000000000")

// Deployers says whose transactions may create contracts.
var Deployers = declare(deployersAddress, "contractDeployerAllowListConfig", nil, permissions(deployersAddress)...)

// mayDeploy is why the transaction under way may not create contracts, nil when it may.
func (f *Frames) mayDeploy() error {
	if !slices.Contains(f.contracts, Deployers) || RoleOf(f.evm.StateDB, Deployers.Address, f.evm.Origin).Enabled() {
		return nil
	}
	return fmt.Errorf("tx.origin %s is not authorized to deploy a contract", f.evm.Origin)
}

// gate is a state in which a contract that must not be created finds its address taken: the engine has no other place
// to refuse it with the network's consequences (the nonce moves on, all gas is gone).
type gate struct {
	vm.StateDB
	frames *Frames
}

// State is the state as the EVM is to see it.
func (f *Frames) State(states vm.StateDB) vm.StateDB {
	if !slices.Contains(f.contracts, Deployers) {
		return states
	}
	return gate{states, f}
}

func (g gate) GetNonce(address common.Address) uint64 {
	if len(g.frames.open) > 0 {
		if top := g.frames.top(); top.refused != nil && top.target == address {
			return 1
		}
	}
	return g.StateDB.GetNonce(address)
}
