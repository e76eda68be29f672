package pchain

import (
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// Reasons for refusing to change a subnet, in the node's words.
var (
	errImmutable = errors.New("is immutable") // because it is an L1
	errNotSubnet = errors.New("is not a subnet")
)

// verifySubnetAuth demands the signatures of a subnet's owner. It tells a blockchain's id, which clients often pass by mistake, from an unknown one.
func (e *txExecutor) verifySubnetAuth(subnetID ids.ID, auth txs.Auth) (*Subnet, error) {
	subnet, found := e.subnets[subnetID]
	if _, chain := e.blockchains[subnetID]; chain {
		return nil, fmt.Errorf("%q %w", subnetID, errNotSubnet)
	}
	if !found {
		return nil, utxo.ErrNotFound
	}
	return subnet, e.verifyAuthorization(auth, &subnet.Owner)
}

// verifyPoASubnetAuth does the same for actions that an L1's owner has lost the right to.
func (e *txExecutor) verifyPoASubnetAuth(subnetID ids.ID, auth txs.Auth) (*Subnet, error) {
	subnet, err := e.verifySubnetAuth(subnetID, auth)
	if err == nil && subnet.Conversion != nil {
		return nil, fmt.Errorf("%q %w", subnetID, errImmutable)
	}
	return subnet, err
}

func (e *txExecutor) createSubnetTx(u *txs.CreateSubnetTx) (*execution, error) {
	return &execution{run: func() { e.putSubnet(&Subnet{ID: e.tx.ID(), Owner: *u.Owner.Owners()}) }}, nil
}

func (e *txExecutor) transferSubnetOwnershipTx(u *txs.TransferSubnetOwnershipTx) (*execution, error) {
	subnet, err := e.verifySubnetAuth(u.SubnetID, u.SubnetAuth)
	if err != nil {
		return nil, err
	}
	return &execution{run: func() {
		transferred := *subnet
		transferred.Owner = *u.Owner.Owners()
		e.putSubnet(&transferred)
	}}, nil
}

func (e *txExecutor) createChainTx(u *txs.CreateChainTx) (*execution, error) {
	if _, err := e.verifyPoASubnetAuth(u.SubnetID, u.SubnetAuth); err != nil {
		return nil, err
	}
	return &execution{run: func() {
		e.addBlockchain(&Blockchain{ID: e.tx.ID(), SubnetID: u.SubnetID, Name: u.ChainName, VMID: u.VMID})
	}}, nil
}

// addSubnetValidatorTx verifies that a validator of the primary network can validate a permissioned subnet.
func (e *txExecutor) addSubnetValidatorTx(u *txs.AddSubnetValidatorTx) (*execution, error) {
	v := u.Validator
	if err := e.verifyDuration(v.End, e.staking().MinDelegationDuration); err != nil {
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
	if _, err := e.verifyPoASubnetAuth(v.SubnetID, u.SubnetAuth); err != nil {
		return nil, err
	}
	return e.newStaker(nil)
}

func (e *txExecutor) removeSubnetValidatorTx(u *txs.RemoveSubnetValidatorTx) (*execution, error) {
	v, found := e.current.validators[stakerKey{u.SubnetID, u.NodeID}]
	if !found {
		return nil, fmt.Errorf("%s %w of %s: %w", u.NodeID, errNotValidator, u.SubnetID, utxo.ErrNotFound)
	}
	if _, err := e.verifySubnetAuth(u.SubnetID, u.SubnetAuth); err != nil {
		return nil, err
	}
	return &execution{run: func() { e.deleteStaker(v, Removed, false) }}, nil
}
