package pchain

import (
	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

// Subnet is a set of validators with an owner, or since its conversion with a manager. A Subnet is never changed: a new
// value replaces it.
type Subnet struct {
	ID         ids.ID
	Owner      txs.OutputOwners
	Conversion *Conversion // nil while the subnet is permissioned
}

// Conversion says which contract manages the validators of an L1.
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

// L1Validator is a validator of an L1. It is active while it can pay the continuous fee. An L1Validator is never changed:
// a new value replaces it.
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
	// EndAccumulatedFee is the network's accrued fee at which the balance is used up; 0 when inactive. Storing that
	// instead of a balance means that a passing second changes one number and not every validator.
	EndAccumulatedFee uint64
}

// Active tells whether the validator takes part in consensus.
func (v *L1Validator) Active() bool { return v.Weight > 0 && v.EndAccumulatedFee > 0 }

// Balance is what remains of the deposit at an accrued fee of the network, in nAVAX.
func (v *L1Validator) Balance(accruedFees uint64) uint64 {
	if v.EndAccumulatedFee <= accruedFees {
		return 0
	}
	return v.EndAccumulatedFee - accruedFees
}
