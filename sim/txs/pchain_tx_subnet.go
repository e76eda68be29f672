package txs

import (
	"github.com/ava-labs/avalanchego/ids"
)

// SubnetValidator is a validator of a permissioned subnet.
type SubnetValidator struct {
	Validator `serialize:"true"`
	SubnetID  ids.ID `serialize:"true" json:"subnetID"`
}

// AddSubnetValidatorTx lets a node that already validates the primary network validate a permissioned subnet.
type AddSubnetValidatorTx struct {
	BaseTx     `serialize:"true"`
	Validator  SubnetValidator `serialize:"true" json:"validator"`
	SubnetAuth Auth            `serialize:"true" json:"subnetAuthorization"`
}

// RemoveSubnetValidatorTx removes a validator from a permissioned subnet early.
type RemoveSubnetValidatorTx struct {
	BaseTx     `serialize:"true"`
	NodeID     ids.NodeID `serialize:"true" json:"nodeID"`
	SubnetID   ids.ID     `serialize:"true" json:"subnetID"`
	SubnetAuth Auth       `serialize:"true" json:"subnetAuthorization"`
}

// CreateSubnetTx creates a subnet with the transaction's id.
type CreateSubnetTx struct {
	BaseTx `serialize:"true"`
	Owner  Owner `serialize:"true" json:"owner"`
}

// CreateChainTx creates a blockchain in a subnet, with the transaction's id.
type CreateChainTx struct {
	BaseTx      `serialize:"true"`
	SubnetID    ids.ID   `serialize:"true" json:"subnetID"`
	ChainName   string   `serialize:"true" json:"chainName"`
	VMID        ids.ID   `serialize:"true" json:"vmID"`
	FxIDs       []ids.ID `serialize:"true" json:"fxIDs"`
	GenesisData []byte   `serialize:"true" json:"genesisData"`
	SubnetAuth  Auth     `serialize:"true" json:"subnetAuthorization"`
}

// TransferSubnetOwnershipTx gives a subnet a new owner.
type TransferSubnetOwnershipTx struct {
	BaseTx     `serialize:"true"`
	SubnetID   ids.ID `serialize:"true" json:"subnetID"`
	SubnetAuth Auth   `serialize:"true" json:"subnetAuthorization"`
	Owner      Owner  `serialize:"true" json:"newOwner"`
}

// TransformSubnetTx made a subnet permissionless before Etna. The network refuses it, and no world has one.
type TransformSubnetTx struct {
	BaseTx                   `serialize:"true"`
	SubnetID                 ids.ID `serialize:"true" json:"subnetID"`
	AssetID                  ids.ID `serialize:"true" json:"assetID"`
	InitialSupply            uint64 `serialize:"true" json:"initialSupply"`
	MaximumSupply            uint64 `serialize:"true" json:"maximumSupply"`
	MinConsumptionRate       uint64 `serialize:"true" json:"minConsumptionRate"`
	MaxConsumptionRate       uint64 `serialize:"true" json:"maxConsumptionRate"`
	MinValidatorStake        uint64 `serialize:"true" json:"minValidatorStake"`
	MaxValidatorStake        uint64 `serialize:"true" json:"maxValidatorStake"`
	MinStakeDuration         uint32 `serialize:"true" json:"minStakeDuration"`
	MaxStakeDuration         uint32 `serialize:"true" json:"maxStakeDuration"`
	MinDelegationFee         uint32 `serialize:"true" json:"minDelegationFee"`
	MinDelegatorStake        uint64 `serialize:"true" json:"minDelegatorStake"`
	MaxValidatorWeightFactor uint8  `serialize:"true" json:"maxValidatorWeightFactor"`
	UptimeRequirement        uint32 `serialize:"true" json:"uptimeRequirement"`
	SubnetAuth               Auth   `serialize:"true" json:"subnetAuthorization"`
}
