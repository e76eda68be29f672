package pchain

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
	"snowglobe/sim/warp"
)

// registrationWindow is how far ahead a registration message may expire, in seconds: avalanchego's
// executor.RegisterL1ValidatorTxExpiryWindow.
const registrationWindow = 24 * 60 * 60

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

// convertSubnetToL1Tx verifies that a subnet may become an L1.
func (e *txExecutor) convertSubnetToL1Tx(u *txs.ConvertSubnetToL1Tx) (*execution, error) {
	if err := verifyConversion(u); err != nil {
		return nil, err
	}
	subnet, exec, err := e.verifyPoASubnetAuth(u.SubnetID, u.SubnetAuth)
	if err != nil {
		return nil, err
	}
	for i, v := range u.Validators {
		if err := e.verifyConversionValidator(v); err != nil {
			return nil, fmt.Errorf("validator %d: %w", i, err)
		}
		exec.deposit += v.Balance
	}
	if e.l1.exceeds(len(u.Validators)) {
		return nil, errMaxActive
	}
	conversionID, err := u.ConversionID()
	if err != nil {
		return nil, err
	}
	exec.run = func() { e.convert(subnet, conversionID, u) }
	return exec, nil
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

func (e *txExecutor) verifyConversionValidator(v *txs.ConversionValidator) error {
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
	for _, owner := range []warp.PChainOwner{v.RemainingBalanceOwner, v.DeactivationOwner} {
		owners := txs.FromWarpOwner(owner)
		if err := owners.Verify(); err != nil {
			return err
		}
	}
	if e.trusted() {
		return nil
	}
	return v.Signer.Verify()
}

func (e *txExecutor) convert(subnet *Subnet, conversionID ids.ID, u *txs.ConvertSubnetToL1Tx) {
	for i, v := range u.Validators {
		e.putL1Validator(&L1Validator{
			ValidationID:          warp.ConversionValidationID(u.SubnetID, uint32(i)),
			SubnetID:              u.SubnetID,
			NodeID:                ids.NodeID(v.NodeID),
			PublicKey:             v.Signer.PublicKey,
			RemainingBalanceOwner: v.RemainingBalanceOwner,
			DeactivationOwner:     v.DeactivationOwner,
			Start:                 e.Time(),
			Weight:                v.Weight,
			EndAccumulatedFee:     e.l1.endOf(v.Balance),
		})
	}
	converted := *subnet
	converted.Conversion = &Conversion{ID: conversionID, ChainID: u.ChainID, Address: u.Address}
	e.putSubnet(&converted)
}

// verifyL1Conversion checks that a message comes from the contract that manages an L1.
func (e *txExecutor) verifyL1Conversion(subnetID, sourceChain ids.ID, sender []byte) error {
	subnet, found := e.subnets[subnetID]
	switch {
	case !found || subnet.Conversion == nil:
		return fmt.Errorf("%w for %s with: %w", errNoConversion, subnetID, utxo.ErrNotFound)
	case sourceChain != subnet.Conversion.ChainID:
		return fmt.Errorf("%w expected %s but got %s", errSourceChain, subnet.Conversion.ChainID, sourceChain)
	case !bytes.Equal(sender, subnet.Conversion.Address):
		return fmt.Errorf("%w expected 0x%x but got 0x%x", errSourceAddress, subnet.Conversion.Address, sender)
	}
	return nil
}

// verifyMessage reads the signed message of a transaction and checks its signature against the validators of its source.
func (e *txExecutor) verifyMessage(b []byte) (source ids.ID, sender []byte, message warp.L1Message, err error) {
	m, err := warp.ParseMessage(b)
	if err != nil {
		return source, nil, nil, err
	}
	if !e.trusted() {
		if err := e.VerifyMessage(m); err != nil {
			return source, nil, nil, err
		}
	}
	sender, message, err = m.L1Message()
	return m.SourceChainID, sender, message, err
}

func (e *txExecutor) registerL1ValidatorTx(u *txs.RegisterL1ValidatorTx) (*execution, error) {
	source, sender, message, err := e.verifyMessage(u.Message)
	if err != nil {
		return nil, err
	}
	r, ok := message.(*warp.RegisterL1Validator)
	if !ok {
		return nil, errMessageType
	}
	if err := e.verifyRegistration(u, r); err != nil {
		return nil, err
	}
	if err := e.verifyL1Conversion(r.SubnetID, source, sender); err != nil {
		return nil, err
	}
	validationID, err := r.ValidationID()
	if err != nil {
		return nil, err
	}
	if _, used := e.l1.registered[validationID]; used {
		return nil, fmt.Errorf("%w for validationID %s", errMessageIssued, validationID)
	}
	run := func() { e.register(validationID, u.Balance, r) }
	return &execution{deposit: u.Balance, run: run}, nil
}

// verifyRegistration checks a registration's own contents.
func (e *txExecutor) verifyRegistration(u *txs.RegisterL1ValidatorTx, r *warp.RegisterL1Validator) error {
	if err := r.Verify(); err != nil {
		return err
	}
	switch {
	case r.Expiry <= e.Time():
		return fmt.Errorf("%w at %d and it is currently %d", errMessageExpired, r.Expiry, e.Time())
	case r.Expiry-e.Time() > registrationWindow:
		return fmt.Errorf("%w because time is %d seconds in the future but the limit is %d", errMessageEarly, r.Expiry-e.Time(), registrationWindow)
	case u.Balance != 0 && e.l1.exceeds(1):
		return errMaxActive
	case e.l1.has(r.SubnetID, ids.NodeID(r.NodeID)):
		return errDuplicateL1
	case e.trusted():
		return nil
	}
	signer := txs.ProofOfPossession{PublicKey: r.PublicKey, ProofOfPossession: u.ProofOfPossession}
	return signer.Verify()
}

func (e *txExecutor) register(validationID ids.ID, balance uint64, r *warp.RegisterL1Validator) {
	e.l1.register(validationID, r.Expiry)
	e.putL1Validator(&L1Validator{
		ValidationID:          validationID,
		SubnetID:              r.SubnetID,
		NodeID:                ids.NodeID(r.NodeID),
		PublicKey:             r.PublicKey,
		RemainingBalanceOwner: r.RemainingBalanceOwner,
		DeactivationOwner:     r.DisableOwner,
		Start:                 e.Time(),
		Weight:                r.Weight,
		EndAccumulatedFee:     e.l1.endOf(balance),
	})
}

func (e *txExecutor) setL1ValidatorWeightTx(u *txs.SetL1ValidatorWeightTx) (*execution, error) {
	source, sender, message, err := e.verifyMessage(u.Message)
	if err != nil {
		return nil, err
	}
	w, ok := message.(*warp.L1ValidatorWeight)
	if !ok {
		return nil, errMessageType
	}
	if err := w.Verify(); err != nil {
		return nil, err
	}
	v, found := e.l1.byID[w.ValidationID]
	switch {
	case !found:
		return nil, fmt.Errorf("%w: %w", errNoL1Validator, utxo.ErrNotFound)
	case w.Nonce < v.MinNonce:
		return nil, fmt.Errorf("%w %d must be at least %d", errStaleNonce, w.Nonce, v.MinNonce)
	case w.Weight == 0 && len(e.l1.bySubnet[v.SubnetID]) == 1:
		return nil, errLastValidator
	}
	if err := e.verifyL1Conversion(v.SubnetID, source, sender); err != nil {
		return nil, err
	}
	return &execution{run: func() { e.setWeight(v, w) }}, nil
}

func (e *txExecutor) setWeight(v *L1Validator, w *warp.L1ValidatorWeight) {
	updated := *v
	updated.Weight, updated.MinNonce = w.Weight, w.Nonce+1
	if w.Weight == 0 {
		e.refund(v)
		updated.EndAccumulatedFee = 0
	}
	e.putL1Validator(&updated)
}

// refund returns what remains of an L1 validator's deposit as the transaction's next output.
func (e *txExecutor) refund(v *L1Validator) {
	balance := v.Balance(e.l1.accrued)
	if balance == 0 {
		return
	}
	out := &txs.TransferOutput{Amount: balance, OutputOwners: txs.FromWarpOwner(v.RemainingBalanceOwner)}
	e.AddUTXO(e.tx.NewUTXO(len(e.tx.Unsigned.Base().Outs), e.Network.AVAXAssetID, out))
}

func (e *txExecutor) increaseL1ValidatorBalanceTx(u *txs.IncreaseL1ValidatorBalanceTx) (*execution, error) {
	v, found := e.l1.byID[u.ValidationID]
	switch {
	case u.Balance == 0:
		return nil, errZeroBalance
	case !found:
		return nil, utxo.ErrNotFound
	case !v.Active() && e.l1.exceeds(1):
		return nil, errMaxActive
	}
	end := max(v.EndAccumulatedFee, e.l1.accrued)
	if _, carry := bits.Add64(end, u.Balance, 0); carry != 0 || end+u.Balance == math.MaxUint64 {
		return nil, utxo.ErrOverflow
	}
	run := func() {
		updated := *v
		updated.EndAccumulatedFee = end + u.Balance
		e.putL1Validator(&updated)
	}
	return &execution{deposit: u.Balance, run: run}, nil
}

func (e *txExecutor) disableL1ValidatorTx(u *txs.DisableL1ValidatorTx) (*execution, error) {
	v, found := e.l1.byID[u.ValidationID]
	if !found {
		return nil, fmt.Errorf("%w: %w", errNoL1Validator, utxo.ErrNotFound)
	}
	auth, err := utxo.VerifyAuth(u.DisableAuth)
	if err != nil {
		return nil, err
	}
	owners := txs.FromWarpOwner(v.DeactivationOwner)
	run := func() {
		if !v.Active() {
			return
		}
		e.refund(v)
		inactive := *v
		inactive.EndAccumulatedFee = 0
		e.putL1Validator(&inactive)
	}
	return &execution{auth: auth, owners: &owners, run: run}, nil
}
