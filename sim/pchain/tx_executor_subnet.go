package pchain

import (
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// errImmutable is the node's error for a subnet that is an L1.
var errImmutable = errors.New("is immutable")

// verifySubnetAuth demands the signatures of a subnet's owner.
func (e *txExecutor) verifySubnetAuth(subnetID ids.ID, auth txs.Auth) (*Subnet, *execution, error) {
	subnet, found := e.subnets[subnetID]
	if !found {
		return nil, nil, utxo.ErrNotFound
	}
	return subnet, &execution{auth: auth.Authorization(), owners: &subnet.Owner}, nil
}

// verifyPoASubnetAuth does the same for actions that an L1's owner has lost the right to.
func (e *txExecutor) verifyPoASubnetAuth(subnetID ids.ID, auth txs.Auth) (*Subnet, *execution, error) {
	subnet, exec, err := e.verifySubnetAuth(subnetID, auth)
	if err == nil && subnet.Conversion != nil {
		return nil, nil, fmt.Errorf("%q %w", subnetID, errImmutable)
	}
	return subnet, exec, err
}

func (e *txExecutor) createSubnetTx(u *txs.CreateSubnetTx) (*execution, error) {
	return &execution{run: func() { e.putSubnet(&Subnet{ID: e.tx.ID(), Owner: *u.Owner.Owners()}) }}, nil
}

func (e *txExecutor) transferSubnetOwnershipTx(u *txs.TransferSubnetOwnershipTx) (*execution, error) {
	subnet, exec, err := e.verifySubnetAuth(u.SubnetID, u.SubnetAuth)
	if err != nil {
		return nil, err
	}
	exec.run = func() {
		transferred := *subnet
		transferred.Owner = *u.Owner.Owners()
		e.putSubnet(&transferred)
	}
	return exec, nil
}

func (e *txExecutor) createChainTx(u *txs.CreateChainTx) (*execution, error) {
	_, exec, err := e.verifyPoASubnetAuth(u.SubnetID, u.SubnetAuth)
	if err != nil {
		return nil, err
	}
	exec.run = func() {
		e.addBlockchain(&Blockchain{ID: e.tx.ID(), SubnetID: u.SubnetID, Name: u.ChainName, VMID: u.VMID})
	}
	return exec, nil
}

// addSubnetValidatorTx verifies that a validator of the primary network can validate a permissioned subnet.
func (e *txExecutor) addSubnetValidatorTx(u *txs.AddSubnetValidatorTx) (*execution, error) {
	v := u.Validator
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

// removeSubnetValidatorTx verifies that a validator of a permissioned subnet can be removed.
func (e *txExecutor) removeSubnetValidatorTx(u *txs.RemoveSubnetValidatorTx) (*execution, error) {
	v, found := e.current.validators[stakerKey{u.SubnetID, u.NodeID}]
	if !found {
		return nil, fmt.Errorf("%s %w of %s: %w", u.NodeID, errNotValidator, u.SubnetID, utxo.ErrNotFound)
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
