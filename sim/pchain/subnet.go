package pchain

import (
	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

// Subnet is a set of validators with an owner, or since its conversion with a manager. A Subnet is immutable: a new value replaces it.
type Subnet struct {
	ID         ids.ID
	Owner      txs.OutputOwners
	Conversion *Conversion // nil while the subnet is permissioned
}

// Conversion names the contract that manages an L1's validators.
type Conversion struct {
	ID      ids.ID
	ChainID ids.ID
	Address []byte
}

// Blockchain is a chain that a subnet validates.
type Blockchain struct {
	ID       ids.ID
	SubnetID ids.ID
	Name     string
	VMID     ids.ID
}

// L1Validator is a validator of an L1. It is active while it can pay the continuous fee. An L1Validator is immutable: a new value replaces
// it.
type L1Validator struct {
	ValidationID          ids.ID
	SubnetID              ids.ID
	NodeID                ids.NodeID
	PublicKey             [48]byte
	RemainingBalanceOwner warp.PChainOwner
	DeactivationOwner     warp.PChainOwner
	Start                 uint64
	Weight                uint64 // 0 once it is removed
	MinNonce              uint64
	// EndAccumulatedFee is the network's accrued fee at which the balance is used up; 0 when inactive. Storing it instead of a balance
	// means that a passing second changes one number and not every validator.
	EndAccumulatedFee uint64
}

// Active reports whether the validator takes part in consensus.
func (v *L1Validator) Active() bool { return v.Weight > 0 && v.EndAccumulatedFee > 0 }

// Balance returns the rest of the deposit at an accrued fee of the network, in nAVAX.
func (v *L1Validator) Balance(accruedFees uint64) uint64 {
	if v.EndAccumulatedFee <= accruedFees {
		return 0
	}
	return v.EndAccumulatedFee - accruedFees
}
