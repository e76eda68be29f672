package txs

import (
	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/warp"
)

// ConvertSubnetToL1Tx makes a contract the manager of a subnet's validators (ACP-77).
type ConvertSubnetToL1Tx struct {
	BaseTx     `serialize:"true"`
	SubnetID   ids.ID                 `serialize:"true" json:"subnetID"`
	ChainID    ids.ID                 `serialize:"true" json:"chainID"`
	Address    HexBytes               `serialize:"true" json:"address"`
	Validators []*ConversionValidator `serialize:"true" json:"validators"`
	SubnetAuth Auth                   `serialize:"true" json:"subnetAuthorization"`
}

// ConversionValidator is an initial validator of an L1.
type ConversionValidator struct {
	NodeID                HexBytes          `serialize:"true" json:"nodeID"`
	Weight                uint64            `serialize:"true" json:"weight"`
	Balance               uint64            `serialize:"true" json:"balance"`
	Signer                ProofOfPossession `serialize:"true" json:"signer"`
	RemainingBalanceOwner warp.PChainOwner  `serialize:"true" json:"remainingBalanceOwner"`
	DeactivationOwner     warp.PChainOwner  `serialize:"true" json:"deactivationOwner"`
}

// RegisterL1ValidatorTx adds a validator to an L1. Message is the signed RegisterL1Validator message of the L1's
// manager (ACP-77); ProofOfPossession is of the BLS key in that message.
type RegisterL1ValidatorTx struct {
	BaseTx            `serialize:"true"`
	Balance           uint64   `serialize:"true" json:"balance"`
	ProofOfPossession [96]byte `serialize:"true" json:"proofOfPossession"`
	Message           HexBytes `serialize:"true" json:"message"`
}

// SetL1ValidatorWeightTx changes an L1 validator's weight to that in a signed warp message; weight 0 removes it.
type SetL1ValidatorWeightTx struct {
	BaseTx  `serialize:"true"`
	Message HexBytes `serialize:"true" json:"message"`
}

// IncreaseL1ValidatorBalanceTx tops up the balance from which an L1 validator pays its continuous fee. Anyone can issue it.
type IncreaseL1ValidatorBalanceTx struct {
	BaseTx       `serialize:"true"`
	ValidationID ids.ID `serialize:"true" json:"validationID"`
	Balance      uint64 `serialize:"true" json:"balance"`
}

// DisableL1ValidatorTx deactivates an L1 validator and returns its balance.
type DisableL1ValidatorTx struct {
	BaseTx       `serialize:"true"`
	ValidationID ids.ID `serialize:"true" json:"validationID"`
	DisableAuth  Auth   `serialize:"true" json:"disableAuthorization"`
}

// ConversionID returns the id that the P-Chain signs and the manager contract checks (ACP-77): the hash of the subnet, its manager and its
// initial validators.
func (tx *ConvertSubnetToL1Tx) ConversionID() (ids.ID, error) {
	data := &warp.SubnetToL1ConversionData{SubnetID: tx.SubnetID, ManagerChainID: tx.ChainID, ManagerAddress: tx.Address}
	for _, v := range tx.Validators {
		data.Validators = append(data.Validators, warp.SubnetToL1ConversionValidatorData{NodeID: v.NodeID, PublicKey: v.Signer.PublicKey, Weight: v.Weight})
	}
	return data.ID()
}
