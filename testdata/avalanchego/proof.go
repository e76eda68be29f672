package main

import (
	"context"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/snow/validators"
	"github.com/ava-labs/avalanchego/vms/platformvm/api"
	"github.com/ava-labs/avalanchego/vms/platformvm/signer"
	"github.com/ava-labs/avalanchego/vms/platformvm/txs"
	"github.com/ava-labs/avalanchego/vms/platformvm/warp"
	"github.com/ava-labs/avalanchego/vms/platformvm/warp/message"
	"github.com/ava-labs/avalanchego/vms/platformvm/warp/payload"
	"github.com/ava-labs/avalanchego/vms/secp256k1fx"
)

// The quorum of messages to the P-Chain.
const quorumNumerator, quorumDenominator = 67, 100

// checkProofs verifies the BLS proofs and signatures in a transaction.
func (n *network) checkProofs(ctx context.Context, tx *txs.Tx, height uint64) error {
	switch u := tx.Unsigned.(type) {
	case *txs.AddPermissionlessValidatorTx:
		return n.checkProof(u.Signer)
	case *txs.AddAutoRenewedValidatorTx:
		return n.checkProof(u.Signer)
	case *txs.ConvertSubnetToL1Tx:
		for i, v := range u.Validators {
			if err := n.checkProof(&v.Signer); err != nil {
				return err
			}
			n.noteDeactivation(u.Subnet.Append(uint32(i)), v.DeactivationOwner)
		}
	case *txs.RegisterL1ValidatorTx:
		return n.checkRegistration(ctx, u, height)
	case *txs.SetL1ValidatorWeightTx:
		m, err := warp.ParseMessage(u.Message)
		if err != nil {
			return err
		}
		n.changes = append(n.changes, change{m.SourceChainID, height})
		_, err = n.checkMessage(ctx, u.Message, height)
		return err
	}
	return nil
}

// noteDeactivation remembers who may disable a validator.
func (n *network) noteDeactivation(validationID ids.ID, owner message.PChainOwner) {
	n.owners[validationID] = &secp256k1fx.OutputOwners{Threshold: owner.Threshold, Addrs: owner.Addresses}
}

func (n *network) checkProof(s signer.Signer) error {
	if _, none := s.(*signer.Empty); none {
		return nil
	}
	n.seen.proofs++
	if proof, ok := s.(*signer.ProofOfPossession); ok {
		return proof.Verify()
	}
	return s.Verify()
}

func (n *network) checkRegistration(ctx context.Context, tx *txs.RegisterL1ValidatorTx, height uint64) error {
	body, err := n.checkMessage(ctx, tx.Message, height)
	if err != nil {
		return err
	}
	registration, err := message.ParseRegisterL1Validator(body)
	if err != nil {
		return err
	}
	if err := registration.Verify(); err != nil {
		return err
	}
	n.noteDeactivation(registration.ValidationID(), registration.DisableOwner)
	return n.checkProof(&signer.ProofOfPossession{PublicKey: registration.BLSPublicKey, ProofOfPossession: tx.ProofOfPossession})
}

// checkMessage verifies the aggregate signature of a message against the validators before the block.
func (n *network) checkMessage(ctx context.Context, raw []byte, height uint64) ([]byte, error) {
	m, err := warp.ParseMessage(raw)
	if err != nil {
		return nil, err
	}
	subnet, err := n.p.ValidatedBy(ctx, m.SourceChainID)
	if err != nil {
		return nil, err
	}
	members, err := n.p.GetValidatorsAt(ctx, subnet, api.Height(height-1))
	if err != nil {
		return nil, err
	}
	set, err := validators.FlattenValidatorSet(members)
	if err != nil {
		return nil, err
	}
	if err := m.Signature.Verify(&m.UnsignedMessage, n.id, set, quorumNumerator, quorumDenominator); err != nil {
		return nil, fmt.Errorf("message from %s (subnet %s): %w", m.SourceChainID, subnet, err)
	}
	n.seen.messages++
	call, err := payload.ParseAddressedCall(m.Payload)
	if err != nil {
		return nil, err
	}
	return call.Payload, nil
}
