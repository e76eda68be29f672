package primary

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/warp"
)

// registrationWindow is how far ahead a registration message may expire.
const registrationWindow = day

// maxManagerAddress is how long the address of a manager contract may be; not all chains have addresses of 20 bytes.
const maxManagerAddress = 4096

// The reasons why a transaction about L1 validators is refused, in the node's words.
var (
	errConvertPrimary = errors.New("cannot convert a permissionless subnet")
	errConvertEmpty   = errors.New("conversion must include at least one validator")
	errConvertOrder   = errors.New("conversion validators must be sorted and unique")
	errManagerAddress = errors.New("address is too long")
	errZeroWeight     = errors.New("validator weight must be non-zero")
	errZeroBalance    = errors.New("balance must be greater than 0")
	errMaxActive      = errors.New("already at the max number of active validators")
	errNoConversion   = errors.New("could not load subnet conversion")
	errSourceChain    = errors.New("wrong warp message source chain ID")
	errSourceAddress  = errors.New("wrong warp message source address")
	errMessageExpired = errors.New("warp message expired")
	errMessageEarly   = errors.New("warp message not yet allowed")
	errMessageIssued  = errors.New("warp message already issued")
	errMessageType    = errors.New("wrong payload type")
	errNoL1Validator  = errors.New("could not load L1 validator")
	errStaleNonce     = errors.New("warp message contains stale nonce")
	errLastValidator  = errors.New("attempting to remove the last L1 validator from a converted subnet")
	errDuplicateL1    = errors.New("L1 validator contains duplicate subnetID + nodeID pair")
)

// planConversion verifies that a subnet may become an L1.
func (p *Platform) planConversion(tx *Tx, u *ConvertSubnetToL1Tx) (*plan, error) {
	if err := conversionWellFormed(u); err != nil {
		return nil, err
	}
	subnet, do, err := p.permissionedAuth(u.SubnetID, u.SubnetAuth)
	if err != nil {
		return nil, err
	}
	for i, v := range u.Validators {
		if err := p.conversionValidator(tx, v); err != nil {
			return nil, fmt.Errorf("validator %d: %w", i, err)
		}
		do.deposit += v.Balance
	}
	if p.full(len(u.Validators)) {
		return nil, errMaxActive
	}
	conversionID, err := u.conversion().ID()
	if err != nil {
		return nil, err
	}
	do.act = func() error { return p.convert(subnet, conversionID, u) }
	return do, nil
}

func conversionWellFormed(u *ConvertSubnetToL1Tx) error {
	switch {
	case u.SubnetID == ids.Empty:
		return errConvertPrimary
	case len(u.Address) > maxManagerAddress:
		return errManagerAddress
	case len(u.Validators) == 0:
		return errConvertEmpty
	case !sortedUnique(u.Validators, func(a, b *ConversionValidator) int { return bytes.Compare(a.NodeID, b.NodeID) }):
		return errConvertOrder
	}
	return nil
}

func (p *Platform) conversionValidator(tx *Tx, v *ConversionValidator) error {
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
	for _, owner := range []warp.Owner{v.RemainingBalanceOwner, v.DeactivationOwner} {
		owners := Owners(owner)
		if err := owners.verify(); err != nil {
			return err
		}
	}
	if p.trusts(tx) {
		return nil
	}
	return v.Signer.Verify()
}

// full tells whether so many more active validators would be too many.
func (p *Platform) full(more int) bool {
	return uint64(len(p.active)+more) > p.Network.ValidatorFees.Capacity
}

// conversion is what the id of the conversion is the hash of.
func (u *ConvertSubnetToL1Tx) conversion() *warp.ConversionData {
	data := &warp.ConversionData{SubnetID: u.SubnetID, ManagerChainID: u.ChainID, ManagerAddress: u.Address}
	for _, v := range u.Validators {
		data.Validators = append(data.Validators, warp.ConvertedMember{NodeID: v.NodeID, PublicKey: v.Signer.PublicKey, Weight: v.Weight})
	}
	return data
}

// ConversionID is the id that the P-chain signs and the manager contract checks.
func (u *ConvertSubnetToL1Tx) ConversionID() (ids.ID, error) { return u.conversion().ID() }

func (p *Platform) convert(subnet *Subnet, conversionID ids.ID, u *ConvertSubnetToL1Tx) error {
	for i, v := range u.Validators {
		p.putL1(&L1Validator{
			ValidationID:          warp.ConversionValidationID(u.SubnetID, uint32(i)),
			SubnetID:              u.SubnetID,
			NodeID:                ids.NodeID(v.NodeID),
			PublicKey:             v.Signer.PublicKey,
			RemainingBalanceOwner: v.RemainingBalanceOwner,
			DeactivationOwner:     v.DeactivationOwner,
			Start:                 p.time,
			Weight:                v.Weight,
			EndAccumulatedFee:     p.paidUntil(v.Balance),
		})
	}
	converted := *subnet
	converted.Conversion = &Conversion{ID: conversionID, ChainID: u.ChainID, Address: u.Address}
	return p.putSubnet(&converted)
}

// paidUntil is the accrued fee at which a new balance is used up; 0 for none.
func (p *Platform) paidUntil(balance uint64) uint64 {
	if balance == 0 {
		return 0
	}
	return balance + p.accrued
}

// manager checks that a message comes from the contract that manages an L1.
func (p *Platform) manager(subnetID, sourceChain ids.ID, sender []byte) error {
	subnet, found := p.subnets[subnetID]
	switch {
	case !found || subnet.Conversion == nil:
		return fmt.Errorf("%w for %s with: %w", errNoConversion, subnetID, errNotFound)
	case sourceChain != subnet.Conversion.ChainID:
		return fmt.Errorf("%w expected %s but got %s", errSourceChain, subnet.Conversion.ChainID, sourceChain)
	case !bytes.Equal(sender, subnet.Conversion.Address):
		return fmt.Errorf("%w expected 0x%x but got 0x%x", errSourceAddress, subnet.Conversion.Address, sender)
	}
	return nil
}

// message reads the signed message of a transaction and checks its signature against the validators of its source.
func (p *Platform) message(tx *Tx, b []byte) (source ids.ID, sender []byte, event warp.Event, err error) {
	m, err := warp.ParseMessage(b)
	if err != nil {
		return source, nil, nil, err
	}
	if !p.trusts(tx) {
		if err := p.VerifyMessage(m); err != nil {
			return source, nil, nil, err
		}
	}
	sender, event, err = m.Event()
	return m.SourceChainID, sender, event, err
}

func (p *Platform) planRegistration(tx *Tx, u *RegisterL1ValidatorTx) (*plan, error) {
	source, sender, event, err := p.message(tx, u.Message)
	if err != nil {
		return nil, err
	}
	r, ok := event.(*warp.RegisterL1Validator)
	if !ok {
		return nil, errMessageType
	}
	if err := p.registrable(tx, u, r); err != nil {
		return nil, err
	}
	if err := p.manager(r.SubnetID, source, sender); err != nil {
		return nil, err
	}
	validationID, err := r.ValidationID()
	if err != nil {
		return nil, err
	}
	if _, used := p.registered[validationID]; used {
		return nil, fmt.Errorf("%w for validationID %s", errMessageIssued, validationID)
	}
	act := func() error { return p.register(validationID, u.Balance, r) }
	return &plan{deposit: u.Balance, act: act}, nil
}

// registrable checks a registration's own contents.
func (p *Platform) registrable(tx *Tx, u *RegisterL1ValidatorTx, r *warp.RegisterL1Validator) error {
	if err := r.Verify(); err != nil {
		return err
	}
	switch {
	case r.Expiry <= p.time:
		return fmt.Errorf("%w at %d and it is currently %d", errMessageExpired, r.Expiry, p.time)
	case r.Expiry-p.time > registrationWindow:
		return fmt.Errorf("%w because time is %d seconds in the future but the limit is %d", errMessageEarly, r.Expiry-p.time, registrationWindow)
	case u.Balance != 0 && p.full(1):
		return errMaxActive
	case p.isMember(r.SubnetID, ids.NodeID(r.NodeID)):
		return errDuplicateL1
	case p.trusts(tx):
		return nil
	}
	signer := ProofOfPossession{PublicKey: r.PublicKey, ProofOfPossession: u.ProofOfPossession}
	return signer.Verify()
}

func (p *Platform) isMember(subnetID ids.ID, nodeID ids.NodeID) bool {
	for _, v := range p.members[subnetID] {
		if v.NodeID == nodeID {
			return true
		}
	}
	return false
}

func (p *Platform) register(validationID ids.ID, balance uint64, r *warp.RegisterL1Validator) error {
	put(&p.journal, p.registered, validationID, r.Expiry)
	p.putL1(&L1Validator{
		ValidationID:          validationID,
		SubnetID:              r.SubnetID,
		NodeID:                ids.NodeID(r.NodeID),
		PublicKey:             r.PublicKey,
		RemainingBalanceOwner: r.RemainingBalanceOwner,
		DeactivationOwner:     r.DisableOwner,
		Start:                 p.time,
		Weight:                r.Weight,
		EndAccumulatedFee:     p.paidUntil(balance),
	})
	return nil
}

func (p *Platform) planWeight(tx *Tx, u *SetL1ValidatorWeightTx) (*plan, error) {
	source, sender, event, err := p.message(tx, u.Message)
	if err != nil {
		return nil, err
	}
	w, ok := event.(*warp.L1ValidatorWeight)
	if !ok {
		return nil, errMessageType
	}
	if err := w.Verify(); err != nil {
		return nil, err
	}
	v, found := p.l1[w.ValidationID]
	switch {
	case !found:
		return nil, fmt.Errorf("%w: %w", errNoL1Validator, errNotFound)
	case w.Nonce < v.MinNonce:
		return nil, fmt.Errorf("%w %d must be at least %d", errStaleNonce, w.Nonce, v.MinNonce)
	case w.Weight == 0 && len(p.members[v.SubnetID]) == 1:
		return nil, errLastValidator
	}
	if err := p.manager(v.SubnetID, source, sender); err != nil {
		return nil, err
	}
	return &plan{act: func() error { return p.setWeight(tx, v, w) }}, nil
}

func (p *Platform) setWeight(tx *Tx, v *L1Validator, w *warp.L1ValidatorWeight) error {
	updated := *v
	updated.Weight, updated.MinNonce = w.Weight, w.Nonce+1
	if w.Weight == 0 {
		p.refund(tx, v)
		updated.EndAccumulatedFee = 0
	}
	p.putL1(&updated)
	return nil
}

// refund returns what remains of an L1 validator's deposit as the transaction's next output.
func (p *Platform) refund(tx *Tx, v *L1Validator) {
	balance := v.Balance(p.accrued)
	if balance == 0 {
		return
	}
	out := &TransferOutput{Amount: balance, OutputOwners: Owners(v.RemainingBalanceOwner)}
	p.create(tx.output(len(tx.Unsigned.Base().Outs), p.Network.AVAXAssetID, out))
}

func (p *Platform) planBalance(u *IncreaseL1ValidatorBalanceTx) (*plan, error) {
	v, found := p.l1[u.ValidationID]
	switch {
	case u.Balance == 0:
		return nil, errZeroBalance
	case !found:
		return nil, errNotFound
	case !v.Active() && p.full(1):
		return nil, errMaxActive
	}
	end := max(v.EndAccumulatedFee, p.accrued)
	if _, carry := bits.Add64(end, u.Balance, 0); carry != 0 || end+u.Balance == math.MaxUint64 {
		return nil, errOverflow
	}
	act := func() error {
		updated := *v
		updated.EndAccumulatedFee = end + u.Balance
		p.putL1(&updated)
		return nil
	}
	return &plan{deposit: u.Balance, act: act}, nil
}

func (p *Platform) planDisabling(tx *Tx, u *DisableL1ValidatorTx) (*plan, error) {
	v, found := p.l1[u.ValidationID]
	if !found {
		return nil, fmt.Errorf("%w: %w", errNoL1Validator, errNotFound)
	}
	auth, err := authorization(u.DisableAuth)
	if err != nil {
		return nil, err
	}
	owners := Owners(v.DeactivationOwner)
	act := func() error {
		if !v.Active() {
			return nil
		}
		p.refund(tx, v)
		inactive := *v
		inactive.EndAccumulatedFee = 0
		p.putL1(&inactive)
		return nil
	}
	return &plan{auth: auth, owners: &owners, act: act}, nil
}
