package txs

import (
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/warp"
)

// Validator names a validator's node, period and weight. Since Durango the network ignores Start: staking begins with the block that
// accepts the transaction.
type Validator struct {
	NodeID ids.NodeID `serialize:"true" json:"nodeID"`
	Start  uint64     `serialize:"true" json:"start"`
	End    uint64     `serialize:"true" json:"end"`
	Weight uint64     `serialize:"true" json:"weight"`
}

// AddValidatorTx added validators before Banff; a genesis still uses it.
type AddValidatorTx struct {
	BaseTx       `serialize:"true"`
	Validator    Validator             `serialize:"true" json:"validator"`
	StakeOuts    []*TransferableOutput `serialize:"true" json:"stake"`
	RewardsOwner Owner                 `serialize:"true" json:"rewardsOwner"`
	Shares       uint32                `serialize:"true" json:"shares"`
}

// AddDelegatorTx added delegators before Banff.
type AddDelegatorTx struct {
	BaseTx       `serialize:"true"`
	Validator    Validator             `serialize:"true" json:"validator"`
	StakeOuts    []*TransferableOutput `serialize:"true" json:"stake"`
	RewardsOwner Owner                 `serialize:"true" json:"rewardsOwner"`
}

// AddPermissionlessValidatorTx stakes to validate the primary network.
type AddPermissionlessValidatorTx struct {
	BaseTx           `serialize:"true"`
	Validator        Validator             `serialize:"true" json:"validator"`
	SubnetID         ids.ID                `serialize:"true" json:"subnetID"`
	Signer           Signer                `serialize:"true" json:"signer"`
	StakeOuts        []*TransferableOutput `serialize:"true" json:"stake"`
	ValidationOwner  Owner                 `serialize:"true" json:"validationRewardsOwner"`
	DelegationOwner  Owner                 `serialize:"true" json:"delegationRewardsOwner"`
	DelegationShares uint32                `serialize:"true" json:"shares"`
}

// AddPermissionlessDelegatorTx adds stake to a validator of the primary network.
type AddPermissionlessDelegatorTx struct {
	BaseTx       `serialize:"true"`
	Validator    Validator             `serialize:"true" json:"validator"`
	SubnetID     ids.ID                `serialize:"true" json:"subnetID"`
	StakeOuts    []*TransferableOutput `serialize:"true" json:"stake"`
	RewardsOwner Owner                 `serialize:"true" json:"rewardsOwner"`
}

// AdvanceTimeTx advanced the chain's time before Banff. The network refuses it, and no world has one.
type AdvanceTimeTx struct {
	Time uint64 `serialize:"true" json:"time"`
}

// Base is nil: there are no inputs, outputs or memo.
func (*AdvanceTimeTx) Base() *BaseTx { return nil }

// RewardValidatorTx ends the staking of a validator or delegator. It has no inputs and no credentials: a proposal block carries it, and the
// following commit or abort block decides the reward.
type RewardValidatorTx struct {
	TxID ids.ID `serialize:"true" json:"txID"`
}

// Base is nil: there are no inputs, outputs or memo.
func (*RewardValidatorTx) Base() *BaseTx { return nil }

// Owner is the owner of a subnet or of rewards in P-Chain transactions (avalanchego's fx.Owner).
type Owner interface {
	Owners() *OutputOwners
	authority()
}

func (*OutputOwners) authority() {}

// Auth lists the owner's addresses that sign (the subnet authorization).
type Auth interface {
	Authorization() *Input
}

func (in *Input) Authorization() *Input { return in }

// Signer is a validator's BLS key, or none.
type Signer interface {
	Key() *ProofOfPossession
}

// EmptySigner is the signer of a subnet validator, which uses the key registered on the primary network.
type EmptySigner struct{}

// ProofOfPossession is a BLS public key with a signature that proves possession of the secret.
type ProofOfPossession struct {
	PublicKey         [48]byte `serialize:"true" json:"publicKey"`
	ProofOfPossession [96]byte `serialize:"true" json:"proofOfPossession"`
}

func (*EmptySigner) Key() *ProofOfPossession         { return nil }
func (p *ProofOfPossession) Key() *ProofOfPossession { return p }

var ErrInvalidPossession = errors.New("invalid proof of possession") // in the node's words

// Verify checks the proof of possession.
func (p *ProofOfPossession) Verify() error {
	key, err := warp.ParsePublicKey(p.PublicKey[:])
	if err != nil {
		return err
	}
	proof, err := warp.ParseSignature(p.ProofOfPossession[:])
	if err != nil {
		return err
	}
	if !key.VerifyPossession(proof) {
		return ErrInvalidPossession
	}
	return nil
}

// NewProofOfPossession returns a key's signer; it takes about a millisecond.
func NewProofOfPossession(key *warp.SecretKey) (*ProofOfPossession, error) {
	public := key.PublicKey().Compressed()
	proof, err := key.Prove(public)
	if err != nil {
		return nil, fmt.Errorf("proof of possession: %w", err)
	}
	return &ProofOfPossession{PublicKey: public, ProofOfPossession: proof.Bytes()}, nil
}
