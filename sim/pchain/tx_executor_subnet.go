package pchain

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// The sizes that a chain's name and genesis may have.
const (
	maxChainName = 128
	maxGenesis   = 1 << 20
)

// The reasons why a subnet's transaction is refused, in the node's words.
var (
	errImmutable            = errors.New("is immutable")
	errPrimaryHasNoChains   = errors.New("new blockchain can't be validated by primary network")
	errRemovePermissioned   = errors.New("attempting to remove permissionless validator")
	errChainNameTooLong     = errors.New("name too long")
	errChainNameCharacter   = errors.New("illegal name character")
	errInvalidVMID          = errors.New("invalid VM ID")
	errGenesisTooLong       = errors.New("genesis too long")
	errFxIDsOrder           = errors.New("feature extensions IDs must be sorted and unique")
	errTransferToPrimary    = errors.New("can't transfer ownership of permissionless subnet")
	errSubnetOwnerMalformed = errors.New("invalid subnet owner")
)

// verifySubnetAuth demands the signatures of a subnet's owner.
func (e *txExecutor) verifySubnetAuth(subnetID ids.ID, auth txs.Auth) (*Subnet, *execution, error) {
	subnet, found := e.subnets[subnetID]
	if !found {
		return nil, nil, utxo.ErrNotFound
	}
	in, err := utxo.VerifyAuth(auth)
	return subnet, &execution{auth: in, owners: &subnet.Owner}, err
}

// verifyPoASubnetAuth is verifySubnetAuth for what the owner of an L1 may no longer do.
func (e *txExecutor) verifyPoASubnetAuth(subnetID ids.ID, auth txs.Auth) (*Subnet, *execution, error) {
	subnet, exec, err := e.verifySubnetAuth(subnetID, auth)
	if err == nil && subnet.Conversion != nil {
		return nil, nil, fmt.Errorf("%q %w", subnetID, errImmutable)
	}
	return subnet, exec, err
}

func (e *txExecutor) createSubnetTx(u *txs.CreateSubnetTx) (*execution, error) {
	owner, err := utxo.VerifyOwner(u.Owner)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSubnetOwnerMalformed, err)
	}
	return &execution{run: func() { e.putSubnet(&Subnet{ID: e.tx.ID(), Owner: *owner}) }}, nil
}

func (e *txExecutor) transferSubnetOwnershipTx(u *txs.TransferSubnetOwnershipTx) (*execution, error) {
	if u.SubnetID == ids.Empty {
		return nil, errTransferToPrimary
	}
	owner, err := utxo.VerifyOwner(u.Owner)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSubnetOwnerMalformed, err)
	}
	subnet, exec, err := e.verifySubnetAuth(u.SubnetID, u.SubnetAuth)
	if err != nil {
		return nil, err
	}
	exec.run = func() {
		transferred := *subnet
		transferred.Owner = *owner
		e.putSubnet(&transferred)
	}
	return exec, nil
}

func (e *txExecutor) createChainTx(u *txs.CreateChainTx) (*execution, error) {
	if err := verifyChain(u); err != nil {
		return nil, err
	}
	_, exec, err := e.verifyPoASubnetAuth(u.SubnetID, u.SubnetAuth)
	if err != nil {
		return nil, err
	}
	exec.run = func() {
		e.addBlockchain(&Blockchain{ID: e.tx.ID(), SubnetID: u.SubnetID, Name: u.ChainName, VMID: u.VMID})
	}
	return exec, nil
}

func verifyChain(u *txs.CreateChainTx) error {
	switch {
	case u.SubnetID == ids.Empty:
		return errPrimaryHasNoChains
	case len(u.ChainName) > maxChainName:
		return errChainNameTooLong
	case strings.ContainsFunc(u.ChainName, utxo.IllegalNameCharacter):
		return errChainNameCharacter
	case u.VMID == ids.Empty:
		return errInvalidVMID
	case len(u.GenesisData) > maxGenesis:
		return errGenesisTooLong
	case !txs.SortedUnique(u.FxIDs, ids.ID.Compare):
		return errFxIDsOrder
	}
	return nil
}

// addSubnetValidatorTx verifies that a validator of the primary network may validate a permissioned subnet.
func (e *txExecutor) addSubnetValidatorTx(u *txs.AddSubnetValidatorTx) (*execution, error) {
	v := u.Validator
	if v.Weight == 0 {
		return nil, errWeightTooSmall
	}
	if err := e.verifyDuration(v.End); err != nil {
		return nil, err
	}
	if _, found := e.Validator(v.SubnetID, v.NodeID); found {
		return nil, fmt.Errorf("attempted to issue %w for %s on subnet %s", errDuplicate, v.NodeID, v.SubnetID)
	}
	primary, found := e.Validator(ids.Empty, v.NodeID)
	if !found {
		return nil, fmt.Errorf("%s %w of the primary network", v.NodeID, errNotValidator)
	}
	if err := e.verifyWithin(primary, v.End); err != nil {
		return nil, err
	}
	_, exec, err := e.verifyPoASubnetAuth(v.SubnetID, u.SubnetAuth)
	if err != nil {
		return nil, err
	}
	staker, err := e.newStaker(nil)
	if err != nil {
		return nil, err
	}
	exec.run = staker.run
	return exec, nil
}

// removeSubnetValidatorTx verifies that a validator of a permissioned subnet may be removed.
func (e *txExecutor) removeSubnetValidatorTx(u *txs.RemoveSubnetValidatorTx) (*execution, error) {
	v, found := e.current.validators[stakerKey{u.SubnetID, u.NodeID}]
	if !found {
		return nil, fmt.Errorf("%s %w of %s: %w", u.NodeID, errNotValidator, u.SubnetID, utxo.ErrNotFound)
	}
	if !v.permissioned() {
		return nil, errRemovePermissioned
	}
	_, exec, err := e.verifySubnetAuth(u.SubnetID, u.SubnetAuth)
	if err != nil {
		return nil, err
	}
	exec.run = func() {
		e.deleteStaker(v, Removed, false)
	}
	return exec, nil
}
