package main

import (
	"context"
	"fmt"

	"github.com/ava-labs/avalanchego/api"
	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"
	"github.com/ava-labs/avalanchego/vms/components/avax"
	"github.com/ava-labs/avalanchego/vms/platformvm/txs"
	"github.com/ava-labs/avalanchego/vms/secp256k1fx"
)

// notePlatform notes the outputs that a transaction spends and creates, and checks its other authorizations.
func (n *network) notePlatform(ctx context.Context, tx *txs.Tx, now uint64) error {
	for _, u := range tx.UTXOs() {
		n.note(u)
	}
	if reward, ok := tx.Unsigned.(*txs.RewardValidatorTx); ok {
		return n.noteReward(ctx, reward.TxID, reward.TxID)
	}
	if reward, ok := tx.Unsigned.(*txs.RewardAutoRenewedValidatorTx); ok {
		return n.noteReward(ctx, reward.TxID, tx.ID())
	}
	base, ok := tx.Unsigned.(interface {
		Outputs() []*avax.TransferableOutput
	})
	if !ok {
		return fmt.Errorf("%T has no outputs", tx.Unsigned)
	}
	ins, err := platformInputs(tx.Unsigned)
	if err != nil {
		return err
	}
	for i, in := range ins {
		n.spends = append(n.spends, spend{tx.Unsigned, in, tx.Creds[i], now})
	}
	if export, ok := tx.Unsigned.(*txs.ExportTx); ok {
		n.noteExport(tx.ID(), len(base.Outputs()), export.ExportedOutputs)
	}
	if len(tx.Creds) > len(ins) {
		return n.checkAuth(tx, tx.Creds[len(ins)], now)
	}
	n.noteSubnet(tx)
	return nil
}

// noteReward notes the outputs at the end of a stake: the stake, and rewards if any. The end of a cycle makes these or fewer.
func (n *network) noteReward(ctx context.Context, stakerID, rewardID ids.ID) error {
	for _, tx := range n.pTxs {
		staker, ok := tx.Unsigned.(txs.PermissionlessStaker)
		if !ok || tx.ID() != stakerID {
			continue
		}
		base, ok := tx.Unsigned.(interface {
			Outputs() []*avax.TransferableOutput
		})
		if !ok {
			return fmt.Errorf("%T has no outputs", tx.Unsigned)
		}
		n.noteExport(stakerID, len(base.Outputs()), staker.Stake())
	}
	rewards, err := n.p.GetRewardUTXOs(ctx, &api.GetTxArgs{TxID: rewardID, Encoding: formatting.Hex})
	if err != nil {
		return err
	}
	for _, raw := range rewards {
		u := &avax.UTXO{}
		if _, err := txs.GenesisCodec.Unmarshal(raw, u); err != nil {
			return err
		}
		n.note(u)
	}
	return nil
}

func (n *network) noteSubnet(tx *txs.Tx) {
	switch u := tx.Unsigned.(type) {
	case *txs.CreateSubnetTx:
		n.owners[tx.ID()], _ = u.Owner.(*secp256k1fx.OutputOwners)
	case *txs.TransferSubnetOwnershipTx:
		n.owners[u.Subnet], _ = u.Owner.(*secp256k1fx.OutputOwners)
	case *txs.AddAutoRenewedValidatorTx:
		n.owners[tx.ID()], _ = u.ValidatorAuthority.(*secp256k1fx.OutputOwners)
	}
}

// checkAuth asks the real node whether a credential is that of the owners of a subnet, or of who may disable or configure a validator.
func (n *network) checkAuth(tx *txs.Tx, credential any, now uint64) error {
	var auth any
	var subnet ids.ID
	switch u := tx.Unsigned.(type) {
	case *txs.CreateChainTx:
		auth, subnet = u.SubnetAuth, u.SubnetID
	case *txs.AddSubnetValidatorTx:
		auth, subnet = u.SubnetAuth, u.SubnetValidator.Subnet
	case *txs.RemoveSubnetValidatorTx:
		auth, subnet = u.SubnetAuth, u.Subnet
	case *txs.TransferSubnetOwnershipTx:
		auth, subnet = u.SubnetAuth, u.Subnet
	case *txs.ConvertSubnetToL1Tx:
		auth, subnet = u.SubnetAuth, u.Subnet
	case *txs.DisableL1ValidatorTx:
		auth, subnet = u.DisableAuth, u.ValidationID
	case *txs.SetAutoRenewedValidatorConfigTx:
		auth, subnet = u.Auth, u.TxID
	default:
		return fmt.Errorf("%T has a credential too many", tx.Unsigned)
	}
	fx, err := extension(now)
	if err != nil {
		return err
	}
	n.seen.signatures++
	if err := fx.VerifyPermission(tx.Unsigned, auth, credential, n.owners[subnet]); err != nil {
		return err
	}
	n.noteSubnet(tx)
	return nil
}

func platformInputs(unsigned txs.UnsignedTx) ([]*avax.TransferableInput, error) {
	var imported []*avax.TransferableInput
	base, err := baseOf(unsigned)
	if u, ok := unsigned.(*txs.ImportTx); ok {
		imported = u.ImportedInputs
	}
	if err != nil {
		return nil, err
	}
	return append(base.Ins[:len(base.Ins):len(base.Ins)], imported...), nil
}

// baseOf returns the part that all types begin with.
func baseOf(unsigned txs.UnsignedTx) (*txs.BaseTx, error) {
	switch u := unsigned.(type) {
	case *txs.BaseTx:
		return u, nil
	case *txs.AddValidatorTx:
		return &u.BaseTx, nil
	case *txs.AddDelegatorTx:
		return &u.BaseTx, nil
	case *txs.AddPermissionlessValidatorTx:
		return &u.BaseTx, nil
	case *txs.AddPermissionlessDelegatorTx:
		return &u.BaseTx, nil
	case *txs.AddSubnetValidatorTx:
		return &u.BaseTx, nil
	case *txs.RemoveSubnetValidatorTx:
		return &u.BaseTx, nil
	case *txs.CreateSubnetTx:
		return &u.BaseTx, nil
	case *txs.CreateChainTx:
		return &u.BaseTx, nil
	case *txs.TransferSubnetOwnershipTx:
		return &u.BaseTx, nil
	case *txs.ImportTx:
		return &u.BaseTx, nil
	case *txs.ExportTx:
		return &u.BaseTx, nil
	case *txs.ConvertSubnetToL1Tx:
		return &u.BaseTx, nil
	case *txs.RegisterL1ValidatorTx:
		return &u.BaseTx, nil
	case *txs.SetL1ValidatorWeightTx:
		return &u.BaseTx, nil
	case *txs.IncreaseL1ValidatorBalanceTx:
		return &u.BaseTx, nil
	case *txs.DisableL1ValidatorTx:
		return &u.BaseTx, nil
	case *txs.AddAutoRenewedValidatorTx:
		return &u.BaseTx, nil
	case *txs.SetAutoRenewedValidatorConfigTx:
		return &u.BaseTx, nil
	}
	return nil, fmt.Errorf("%T was not expected", unsigned)
}
