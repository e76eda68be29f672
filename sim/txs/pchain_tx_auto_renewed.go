package txs

import (
	"math/bits"

	"github.com/ava-labs/avalanchego/ids"
)

// AddAutoRenewedValidatorTx stakes to validate the primary network in cycles of Period seconds, each of which begins when the one before ends
// (ACP-236).
type AddAutoRenewedValidatorTx struct {
	BaseTx                   `serialize:"true"`
	ValidatorNodeID          HexBytes              `serialize:"true" json:"nodeID"`
	Signer                   Signer                `serialize:"true" json:"signer"`
	StakeOuts                []*TransferableOutput `serialize:"true" json:"stake"`
	ValidationOwner          Owner                 `serialize:"true" json:"validationRewardsOwner"`
	DelegationOwner          Owner                 `serialize:"true" json:"delegationRewardsOwner"`
	ValidatorAuthority       Owner                 `serialize:"true" json:"validatorAuthority"` // who may change the configuration
	DelegationShares         uint32                `serialize:"true" json:"delegationShares"`
	AutoCompoundRewardShares uint32                `serialize:"true" json:"autoCompoundRewardShares"` // of a million of the rewards
	Period                   uint64                `serialize:"true" json:"period"`
}

// NodeID returns the validator's node; the zero id if the bytes are none.
func (tx *AddAutoRenewedValidatorTx) NodeID() ids.NodeID {
	node, _ := ids.ToNodeID(tx.ValidatorNodeID)
	return node
}

// Weight adds up the stake. It is 0 where that overflows.
func (tx *AddAutoRenewedValidatorTx) Weight() uint64 {
	var total, carry uint64
	for _, out := range tx.StakeOuts {
		if total, carry = bits.Add64(total, AmountOf(out.Out), 0); carry != 0 {
			return 0
		}
	}
	return total
}

// SetAutoRenewedValidatorConfigTx changes how an auto-renewed validator goes on after its present cycle: a Period of 0 ends it.
type SetAutoRenewedValidatorConfigTx struct {
	BaseTx                   `serialize:"true"`
	TxID                     ids.ID `serialize:"true" json:"txID"` // of the AddAutoRenewedValidatorTx
	Auth                     Auth   `serialize:"true" json:"auth"`
	AutoCompoundRewardShares uint32 `serialize:"true" json:"autoCompoundRewardShares"`
	Period                   uint64 `serialize:"true" json:"period"`
}

// RewardAutoRenewedValidatorTx ends a cycle of an auto-renewed validator and begins the next, or ends its staking. A proposal block carries it,
// as it does a RewardValidatorTx.
type RewardAutoRenewedValidatorTx struct {
	TxID      ids.ID `serialize:"true" json:"txID"`      // of the AddAutoRenewedValidatorTx
	Timestamp uint64 `serialize:"true" json:"timestamp"` // the end of the cycle
}

// Base is nil: there are no inputs, outputs or memo.
func (*RewardAutoRenewedValidatorTx) Base() *BaseTx { return nil }

// Rewarded returns the transaction of the staker that a reward transaction of either kind is about.
func Rewarded(unsigned Unsigned) (staker ids.ID, is bool) {
	switch tx := unsigned.(type) {
	case *RewardValidatorTx:
		return tx.TxID, true
	case *RewardAutoRenewedValidatorTx:
		return tx.TxID, true
	}
	return ids.Empty, false
}
