package primary

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ava-labs/avalanchego/ids"
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

// subnetAuth demands the signatures of a subnet's owner.
func (p *Platform) subnetAuth(subnetID ids.ID, auth Auth) (*Subnet, *plan, error) {
	subnet, found := p.subnets[subnetID]
	if !found {
		return nil, nil, errNotFound
	}
	in, err := authorization(auth)
	return subnet, &plan{auth: in, owners: &subnet.Owner}, err
}

// permissionedAuth is subnetAuth for what the owner of an L1 may no longer do.
func (p *Platform) permissionedAuth(subnetID ids.ID, auth Auth) (*Subnet, *plan, error) {
	subnet, do, err := p.subnetAuth(subnetID, auth)
	if err == nil && subnet.Conversion != nil {
		return nil, nil, fmt.Errorf("%q %w", subnetID, errImmutable)
	}
	return subnet, do, err
}

func (p *Platform) putSubnet(s *Subnet) error {
	put(&p.journal, p.subnets, s.ID, s)
	p.diff.Subnets = append(p.diff.Subnets, s)
	return nil
}

func (p *Platform) planSubnet(tx *Tx, u *CreateSubnetTx) (*plan, error) {
	owner, err := controlGroup(u.Owner)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSubnetOwnerMalformed, err)
	}
	return &plan{act: func() error { return p.putSubnet(&Subnet{ID: tx.ID(), Owner: *owner}) }}, nil
}

func (p *Platform) planTransfer(u *TransferSubnetOwnershipTx) (*plan, error) {
	if u.SubnetID == ids.Empty {
		return nil, errTransferToPrimary
	}
	owner, err := controlGroup(u.Owner)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSubnetOwnerMalformed, err)
	}
	subnet, do, err := p.subnetAuth(u.SubnetID, u.SubnetAuth)
	if err != nil {
		return nil, err
	}
	do.act = func() error {
		transferred := *subnet
		transferred.Owner = *owner
		return p.putSubnet(&transferred)
	}
	return do, nil
}

func (p *Platform) planChain(tx *Tx, u *CreateChainTx) (*plan, error) {
	if err := chainWellFormed(u); err != nil {
		return nil, err
	}
	_, do, err := p.permissionedAuth(u.SubnetID, u.SubnetAuth)
	if err != nil {
		return nil, err
	}
	do.act = func() error {
		b := &Blockchain{ID: tx.ID(), SubnetID: u.SubnetID, Name: u.ChainName, VMID: u.VMID}
		put(&p.journal, p.blockchains, b.ID, b)
		p.diff.Blockchains = append(p.diff.Blockchains, b)
		return nil
	}
	return do, nil
}

func chainWellFormed(u *CreateChainTx) error {
	switch {
	case u.SubnetID == ids.Empty:
		return errPrimaryHasNoChains
	case len(u.ChainName) > maxChainName:
		return errChainNameTooLong
	case strings.ContainsFunc(u.ChainName, func(r rune) bool { return r != ' ' && !isLetter(r) && (r < '0' || r > '9') }):
		return errChainNameCharacter
	case u.VMID == ids.Empty:
		return errInvalidVMID
	case len(u.GenesisData) > maxGenesis:
		return errGenesisTooLong
	case !sortedUnique(u.FxIDs, ids.ID.Compare):
		return errFxIDsOrder
	}
	return nil
}

// planSubnetValidator verifies that a validator of the primary network may validate a permissioned subnet.
func (p *Platform) planSubnetValidator(tx *Tx, u *AddSubnetValidatorTx) (*plan, error) {
	v := u.Validator
	if v.Weight == 0 {
		return nil, errWeightTooSmall
	}
	if err := p.durationAllowed(v.End); err != nil {
		return nil, err
	}
	if _, found := p.Validator(v.SubnetID, v.NodeID); found {
		return nil, fmt.Errorf("attempted to issue %w for %s on subnet %s", errDuplicate, v.NodeID, v.SubnetID)
	}
	primary, found := p.Validator(ids.Empty, v.NodeID)
	if !found {
		return nil, fmt.Errorf("%s %w of the primary network", v.NodeID, errNotValidator)
	}
	if err := p.bounded(primary, v.End); err != nil {
		return nil, err
	}
	_, do, err := p.permissionedAuth(v.SubnetID, u.SubnetAuth)
	if err != nil {
		return nil, err
	}
	staker, err := p.planStaker(tx, nil)
	if err != nil {
		return nil, err
	}
	do.act = staker.act
	return do, nil
}

// planRemoval verifies that a validator of a permissioned subnet may be removed.
func (p *Platform) planRemoval(u *RemoveSubnetValidatorTx) (*plan, error) {
	v, found := p.current.validators[stakerKey{u.SubnetID, u.NodeID}]
	if !found {
		return nil, fmt.Errorf("%s %w of %s: %w", u.NodeID, errNotValidator, u.SubnetID, errNotFound)
	}
	if !v.permissioned() {
		return nil, errRemovePermissioned
	}
	_, do, err := p.subnetAuth(u.SubnetID, u.SubnetAuth)
	if err != nil {
		return nil, err
	}
	do.act = func() error {
		p.end(v, Removed, false)
		return nil
	}
	return do, nil
}
