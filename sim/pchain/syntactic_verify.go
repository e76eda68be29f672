package pchain

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/rules"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// Limits of a chain's name and genesis, and of a manager contract's address: avalanchego's txs.MaxNameLen, MaxGenesisLen and
// MaxSubnetAddressLength. Not all chains have addresses of 20 bytes.
const (
	maxChainName      = 128
	maxGenesis        = 1 << 20
	maxManagerAddress = 4096
)

// Reasons why a P-Chain transaction is malformed, in the node's words.
var (
	errNoImports          = errors.New("tx has no imported inputs")
	errExportLocktime     = errors.New("wrong locktime reported")
	errEmptyNodeID        = errors.New("validator nodeID cannot be empty")
	errNoStake            = errors.New("no stake")
	errTooManyShares      = fmt.Errorf("a staker can only require at most %d shares from delegators", rules.PercentDenominator)
	errWeightTooSmall     = errors.New("weight of this validator is too low")
	errInvalidSigner      = errors.New("invalid signer")
	errMultipleAssets     = errors.New("multiple staked assets")
	errStakeMismatch      = errors.New("validator weight mismatch")
	errDelegationMismatch = errors.New("delegator weight is not equal to total stake weight")
	errAddPrimary         = errors.New("can't add primary network validator with AddSubnetValidatorTx")
	errRemovePrimary      = errors.New("can't remove primary network validator with RemoveSubnetValidatorTx")
	errTransferPrimary    = errors.New("cannot transfer ownership of a permissionless subnet")
	errPrimaryHasNoChains = errors.New("new blockchain can't be validated by primary network")
	errChainNameTooLong   = errors.New("name too long")
	errChainNameCharacter = errors.New("illegal name character")
	errInvalidVMID        = errors.New("invalid VM ID")
	errGenesisTooLong     = errors.New("genesis too long")
	errFxIDsOrder         = errors.New("feature extensions IDs must be sorted and unique")
	errConvertPrimary     = errors.New("cannot convert a permissionless subnet")
	errManagerAddress     = errors.New("address is too long")
	errConvertEmpty       = errors.New("conversion must include at least one validator")
	errConvertOrder       = errors.New("conversion validators must be sorted and unique")
	errZeroWeight         = errors.New("validator weight must be non-zero")
	errMissingTxID        = errors.New("missing tx id")
	errMissingPeriod      = errors.New("missing period")
	errMissingSigner      = errors.New("missing signer")
	errTooMuchRestaked    = fmt.Errorf("a staker can only restake at most %d shares from rewards", rules.PercentDenominator)
	errInvalidStakedAsset = errors.New("invalid staked asset")
	errZeroBalance        = errors.New("balance must be greater than 0")
)

// syntacticVerify runs the checks that need no state, following the SyntacticVerify methods of avalanchego's vms/platformvm/txs: each type
// has checks that come before those of its BaseTx and others that come after.
func (e *txExecutor) syntacticVerify() error {
	if err := verifyFields(e.tx.Unsigned); err != nil {
		return err
	}
	if err := e.verifyBaseTx(); err != nil {
		switch e.tx.Unsigned.(type) {
		case *txs.AddPermissionlessValidatorTx, *txs.AddPermissionlessDelegatorTx:
			err = fmt.Errorf("failed to verify BaseTx: %w", err)
		case *txs.AddAutoRenewedValidatorTx:
			err = fmt.Errorf("verifying BaseTx: %w", err)
		}
		return err
	}
	if err := e.verifyParts(); err != nil {
		return err
	}
	return utxo.VerifyMemo(e.tx.Unsigned.Base())
}

// verifyFields runs the checks before the BaseTx.
func verifyFields(unsigned txs.Unsigned) error {
	switch u := unsigned.(type) {
	case *txs.ImportTx:
		return refuseIf(len(u.ImportedInputs) == 0, errNoImports)
	case *txs.ExportTx:
		return refuseIf(len(u.ExportedOutputs) == 0, utxo.ErrNoExports)
	case *txs.AddPermissionlessValidatorTx:
		switch {
		case u.Validator.NodeID == ids.EmptyNodeID:
			return errEmptyNodeID
		case len(u.StakeOuts) == 0:
			return errNoStake
		case u.DelegationShares > rules.PercentDenominator:
			return errTooManyShares
		}
	case *txs.AddAutoRenewedValidatorTx:
		return verifyAutoRenewed(u)
	case *txs.SetAutoRenewedValidatorConfigTx:
		return cmp.Or(refuseIf(u.TxID == ids.Empty, errMissingTxID), refuseIf(u.AutoCompoundRewardShares > rules.PercentDenominator, errTooMuchRestaked))
	case *txs.AddPermissionlessDelegatorTx:
		return refuseIf(len(u.StakeOuts) == 0, errNoStake)
	case *txs.AddSubnetValidatorTx:
		return refuseIf(u.Validator.SubnetID == ids.Empty, errAddPrimary)
	case *txs.RemoveSubnetValidatorTx:
		return refuseIf(u.SubnetID == ids.Empty, errRemovePrimary)
	case *txs.TransferSubnetOwnershipTx:
		return refuseIf(u.SubnetID == ids.Empty, errTransferPrimary)
	case *txs.CreateChainTx:
		return verifyChain(u)
	case *txs.ConvertSubnetToL1Tx:
		return verifyConversion(u)
	case *txs.IncreaseL1ValidatorBalanceTx:
		return refuseIf(u.Balance == 0, errZeroBalance)
	}
	return nil
}

func verifyAutoRenewed(u *txs.AddAutoRenewedValidatorTx) error {
	switch {
	case len(u.StakeOuts) == 0:
		return errNoStake
	case u.DelegationShares > rules.PercentDenominator:
		return errTooManyShares
	case u.AutoCompoundRewardShares > rules.PercentDenominator:
		return errTooMuchRestaked
	case u.Period == 0:
		return errMissingPeriod
	}
	node, err := ids.ToNodeID(u.ValidatorNodeID)
	return cmp.Or(err, refuseIf(node == ids.EmptyNodeID, errEmptyNodeID))
}

func refuseIf(refused bool, err error) error {
	if refused {
		return err
	}
	return nil
}

func verifyChain(u *txs.CreateChainTx) error {
	switch {
	case u.SubnetID == ids.Empty:
		return errPrimaryHasNoChains
	case len(u.ChainName) > maxChainName:
		return errChainNameTooLong
	case u.VMID == ids.Empty:
		return errInvalidVMID
	case !txs.SortedUnique(u.FxIDs, ids.ID.Compare):
		return errFxIDsOrder
	case len(u.GenesisData) > maxGenesis:
		return errGenesisTooLong
	case strings.ContainsFunc(u.ChainName, utxo.IllegalNameCharacter):
		return errChainNameCharacter
	}
	return nil
}

func verifyConversion(u *txs.ConvertSubnetToL1Tx) error {
	switch {
	case u.SubnetID == ids.Empty:
		return errConvertPrimary
	case len(u.Address) > maxManagerAddress:
		return errManagerAddress
	case len(u.Validators) == 0:
		return errConvertEmpty
	case !txs.SortedUnique(u.Validators, func(a, b *txs.ConversionValidator) int { return bytes.Compare(a.NodeID, b.NodeID) }):
		return errConvertOrder
	}
	return nil
}

// verifyBaseTx follows BaseTx.SyntacticVerify.
func (e *txExecutor) verifyBaseTx() error {
	base := e.tx.Unsigned.Base()
	if err := e.VerifyMetadata(base); err != nil {
		return fmt.Errorf("metadata failed verification: %w", err)
	}
	if err := verifyOutputs(base.Outs, "output failed verification: %w"); err != nil {
		return err
	}
	if err := verifyInputs(base.Ins); err != nil {
		return err
	}
	switch {
	case !txs.SortedOutputs(txs.PChain, base.Outs):
		return txs.ErrOutputsNotSorted
	case !txs.SortedInputs(base.Ins):
		return txs.ErrInputsNotSorted
	}
	return nil
}

func verifyOutputs(outs []*txs.TransferableOutput, format string) error {
	for _, out := range outs {
		if err := utxo.VerifyOutput(out); err != nil {
			return fmt.Errorf(format, err)
		}
	}
	return nil
}

func verifyInputs(ins []*txs.TransferableInput) error {
	for _, in := range ins {
		if err := utxo.VerifyInput(in); err != nil {
			return fmt.Errorf("input failed verification: %w", err)
		}
	}
	return nil
}

// verifyParts runs the checks after the BaseTx.
func (e *txExecutor) verifyParts() error {
	switch u := e.tx.Unsigned.(type) {
	case *txs.ImportTx:
		if err := verifyInputs(u.ImportedInputs); err != nil {
			return err
		}
		return refuseIf(!txs.SortedInputs(u.ImportedInputs), txs.ErrInputsNotSorted)
	case *txs.ExportTx:
		return verifyExported(u.ExportedOutputs)
	case *txs.AddPermissionlessValidatorTx:
		return e.verifyValidatorParts(u)
	case *txs.AddAutoRenewedValidatorTx:
		return e.verifyAutoRenewedParts(u)
	case *txs.SetAutoRenewedValidatorConfigTx:
		return verifyAuth(u.Auth)
	case *txs.AddPermissionlessDelegatorTx:
		if err := cmp.Or(refuseIf(u.Validator.Weight == 0, errWeightTooSmall), verifyOwner(u.RewardsOwner)); err != nil {
			return fmt.Errorf("failed to verify validator or rewards owner: %w", err)
		}
		total, err := verifyStake(u.StakeOuts)
		if err == nil && total != u.Validator.Weight {
			err = fmt.Errorf("%w, delegator weight %d total stake weight %d", errDelegationMismatch, u.Validator.Weight, total)
		}
		return err
	case *txs.AddSubnetValidatorTx:
		return cmp.Or(refuseIf(u.Validator.Weight == 0, errWeightTooSmall), verifyAuth(u.SubnetAuth))
	case *txs.RemoveSubnetValidatorTx:
		return verifyAuth(u.SubnetAuth)
	case *txs.TransferSubnetOwnershipTx:
		return cmp.Or(verifyAuth(u.SubnetAuth), verifyOwner(u.Owner))
	case *txs.CreateSubnetTx:
		return verifyOwner(u.Owner)
	case *txs.CreateChainTx:
		return verifyAuth(u.SubnetAuth)
	case *txs.ConvertSubnetToL1Tx:
		return e.verifyConversionParts(u)
	case *txs.DisableL1ValidatorTx:
		return verifyAuth(u.DisableAuth)
	}
	return nil
}

// verifyExported refuses outputs under a stakeable lock, which other chains do not know.
func verifyExported(outs []*txs.TransferableOutput) error {
	for _, out := range outs {
		if err := verifyOutputs([]*txs.TransferableOutput{out}, "output failed verification: %w"); err != nil {
			return err
		}
		if _, locked := out.Out.(*txs.StakeableLockOut); locked {
			return errExportLocktime
		}
	}
	return refuseIf(!txs.SortedOutputs(txs.PChain, outs), txs.ErrOutputsNotSorted)
}

func (e *txExecutor) verifyValidatorParts(u *txs.AddPermissionlessValidatorTx) error {
	err := cmp.Or(
		refuseIf(u.Validator.Weight == 0, errWeightTooSmall), e.verifySigner(u.Signer.Key()),
		verifyOwner(u.ValidationOwner), verifyOwner(u.DelegationOwner),
	)
	if err != nil {
		return fmt.Errorf("failed to verify validator, signer, or rewards owners: %w", err)
	}
	if hasKey, primary := u.Signer.Key() != nil, u.SubnetID == ids.Empty; hasKey != primary {
		return fmt.Errorf("%w: hasKey=%v != isPrimaryNetwork=%v", errInvalidSigner, hasKey, primary)
	}
	total, err := verifyStake(u.StakeOuts)
	if err == nil && total != u.Validator.Weight {
		err = fmt.Errorf("%w: weight %d != stake %d", errStakeMismatch, u.Validator.Weight, total)
	}
	return err
}

func (e *txExecutor) verifyAutoRenewedParts(u *txs.AddAutoRenewedValidatorTx) error {
	err := cmp.Or(e.verifySigner(u.Signer.Key()), verifyOwner(u.ValidationOwner), verifyOwner(u.DelegationOwner), verifyOwner(u.ValidatorAuthority))
	if err != nil {
		return fmt.Errorf("verifying signer, rewards owners or validator authority: %w", err)
	}
	if u.Signer.Key() == nil {
		return errMissingSigner
	}
	if err := verifyOutputs(u.StakeOuts, "verifying output: %w"); err != nil {
		return err
	}
	for _, out := range u.StakeOuts {
		if out.AssetID != e.Network.AVAXAssetID {
			return errInvalidStakedAsset
		}
	}
	_, err = verifyStake(u.StakeOuts)
	return err
}

// verifySigner checks a proof of possession. That takes milliseconds, so it trusts the ones this process made.
func (e *txExecutor) verifySigner(signer *txs.ProofOfPossession) error {
	if signer == nil || e.trusted() {
		return nil
	}
	return signer.Verify()
}

// verifyStake adds up the outputs that a staker locks, which must all be of one asset.
func verifyStake(outs []*txs.TransferableOutput) (uint64, error) {
	if err := verifyOutputs(outs, "failed to verify output: %w"); err != nil {
		return 0, err
	}
	var total, carry uint64
	for _, out := range outs {
		if total, carry = bits.Add64(total, txs.AmountOf(out.Out), 0); carry != 0 {
			return 0, utxo.ErrOverflow
		}
		if out.AssetID != outs[0].AssetID {
			return 0, fmt.Errorf("%w: %q and %q", errMultipleAssets, outs[0].AssetID, out.AssetID)
		}
	}
	return total, refuseIf(!txs.SortedOutputs(txs.PChain, outs), txs.ErrOutputsNotSorted)
}

func (e *txExecutor) verifyConversionParts(u *txs.ConvertSubnetToL1Tx) error {
	for _, v := range u.Validators {
		if v.Weight == 0 {
			return errZeroWeight
		}
		nodeID, err := ids.ToNodeID(v.NodeID)
		if err != nil {
			return err
		}
		if nodeID == ids.EmptyNodeID {
			return errEmptyNodeID
		}
		balance, deactivation := txs.FromWarpOwner(v.RemainingBalanceOwner), txs.FromWarpOwner(v.DeactivationOwner)
		if err := cmp.Or(e.verifySigner(&v.Signer), balance.Verify(), deactivation.Verify()); err != nil {
			return err
		}
	}
	return verifyAuth(u.SubnetAuth)
}

// verifyOwner checks the form of owners. Other types embed owners and so decode in their place.
func verifyOwner(o txs.Owner) error {
	_, err := utxo.VerifyOwner(o)
	return err
}

// verifyAuth checks the form of an authorization, whose type its complexity has checked.
func verifyAuth(a txs.Auth) error { return a.Authorization().Verify() }
