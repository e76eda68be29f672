package pchain

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
	"snowglobe/sim/warp"
)

// registrationWindow bounds how far ahead a registration message may expire, in seconds: avalanchego's
// executor.RegisterL1ValidatorTxExpiryWindow.
const registrationWindow = 24 * 60 * 60

// Reasons for refusing a transaction about L1 validators, in the node's words.
var (
	errMaxActive      = errors.New("already at the max number of active validators")
	errNoConversion   = errors.New("could not load subnet conversion")
	errSourceChain    = errors.New("wrong warp message source chain ID")
	errSourceAddress  = errors.New("wrong warp message source address")
	errMessageExpired = errors.New("warp message expired")
	errMessageEarly   = errors.New("warp message not yet allowed")
	errMessageIssued  = errors.New("warp message already issued")
	errMessageType    = errors.New("wrong payload type")
	errNoL1Validator  = errors.New("could not load L1 validator")
	errInvalidOwner   = errors.New("invalid owner")
	errStaleNonce     = errors.New("warp message contains stale nonce")
	errLastValidator  = errors.New("attempting to remove the last L1 validator from a converted subnet")
	errDuplicateL1    = errors.New("L1 validator contains duplicate subnetID + nodeID pair")
	errConflictingL1  = errors.New("L1 validator contains conflicting subnetID + nodeID pair") // one of a validator from before the conversion
)

func (e *txExecutor) convertSubnetToL1Tx(u *txs.ConvertSubnetToL1Tx) (*execution, error) {
	subnet, err := e.verifyPoASubnetAuth(u.SubnetID, u.SubnetAuth)
	if err != nil {
		return nil, err
	}
	exec := &execution{}
	active, weight := 0, uint64(0)
	for _, v := range u.Validators {
		if v.Balance > 0 {
			active++
		}
		if err := e.verifyL1Validator(u.SubnetID, ids.NodeID(v.NodeID), v.Balance, active, &weight, v.Weight); err != nil {
			return nil, err
		}
	}
	for _, v := range u.Validators {
		var carry uint64
		if exec.deposit, carry = bits.Add64(exec.deposit, v.Balance, 0); carry != 0 {
			return nil, fmt.Errorf("getting utxos getting utxos %w", utxo.ErrOverflow)
		}
	}
	conversionID, err := u.ConversionID()
	if err != nil {
		return nil, err
	}
	exec.run = func() { e.convert(subnet, conversionID, u) }
	return exec, nil
}

// verifyL1Validator checks that a node can become a validator of an L1, the active-th new one with a balance, and adds its weight to the
// L1's: avalanchego's Diff.PutL1Validator.
func (e *txExecutor) verifyL1Validator(subnetID ids.ID, nodeID ids.NodeID, balance uint64, active int, total *uint64, weight uint64) error {
	_, legacy := e.current.validators[stakerKey{subnetID, nodeID}]
	switch {
	case balance > 0 && e.l1.exceeds(active):
		return errMaxActive
	case balance > math.MaxUint64-e.l1.accrued:
		return utxo.ErrOverflow
	case legacy:
		return errConflictingL1
	case e.l1.has(subnetID, nodeID):
		return errDuplicateL1
	}
	return addWeight(total, weight)
}

func addWeight(total *uint64, weight uint64) error {
	sum, carry := bits.Add64(*total, weight, 0)
	if carry != 0 {
		return utxo.ErrOverflow
	}
	*total = sum
	return nil
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
		return fmt.Errorf("%w expected %s but had %s", errSourceChain, subnet.Conversion.ChainID, sourceChain)
	case !bytes.Equal(sender, subnet.Conversion.Address):
		return fmt.Errorf("%w expected 0x%x but got 0x%x", errSourceAddress, subnet.Conversion.Address, sender)
	}
	return nil
}

// verifyWarpMessage checks the signature of a transaction's message against the validators of its source, as avalanchego's
// executor.VerifyWarpMessages does.
func (e *txExecutor) verifyWarpMessage() error {
	if e.trusted() {
		return nil
	}
	var b []byte
	switch u := e.tx.Unsigned.(type) {
	case *txs.RegisterL1ValidatorTx:
		b = u.Message
	case *txs.SetL1ValidatorWeightTx:
		b = u.Message
	default:
		return nil
	}
	m, err := warp.ParseMessage(b)
	if err != nil {
		return err
	}
	return e.VerifyMessage(m)
}

// parseMessage parses and verifies the signed message of a transaction, which must be of one type.
func parseMessage[M interface{ Verify() error }](b []byte) (source ids.ID, sender []byte, message M, err error) {
	m, err := warp.ParseMessage(b)
	if err != nil {
		return source, nil, message, err
	}
	sender, parsed, err := m.L1Message()
	if err != nil {
		return source, nil, message, err
	}
	message, ok := parsed.(M)
	if !ok {
		return source, nil, message, fmt.Errorf("%w: *message.%s", errMessageType, strings.TrimPrefix(fmt.Sprintf("%T", parsed), "*warp."))
	}
	return m.SourceChainID, sender, message, message.Verify()
}

func (e *txExecutor) registerL1ValidatorTx(u *txs.RegisterL1ValidatorTx) (*execution, error) {
	source, sender, r, err := parseMessage[*warp.RegisterL1Validator](u.Message)
	if err != nil {
		return nil, err
	}
	balance, disable := txs.FromWarpOwner(r.RemainingBalanceOwner), txs.FromWarpOwner(r.DisableOwner)
	if err := cmp.Or(balance.Verify(), disable.Verify()); err != nil {
		return nil, fmt.Errorf("%w: %w", errInvalidOwner, err)
	}
	if err := e.verifyL1Conversion(r.SubnetID, source, sender); err != nil {
		return nil, err
	}
	if err := e.verifyExpiry(r.Expiry); err != nil {
		return nil, err
	}
	validationID, err := r.ValidationID()
	if err != nil {
		return nil, err
	}
	if _, used := e.l1.registered[validationID]; used {
		return nil, fmt.Errorf("%w for validationID %s", errMessageIssued, validationID)
	}
	if err := e.verifySigner(&txs.ProofOfPossession{PublicKey: r.PublicKey, ProofOfPossession: u.ProofOfPossession}); err != nil {
		return nil, err
	}
	weight := e.l1.weight(r.SubnetID)
	if err := e.verifyL1Validator(r.SubnetID, ids.NodeID(r.NodeID), u.Balance, 1, &weight, r.Weight); err != nil {
		return nil, err
	}
	return &execution{run: func() { e.register(validationID, u.Balance, r) }}, nil
}

// verifyExpiry checks that a registration message is valid now, neither expired nor too early.
func (e *txExecutor) verifyExpiry(expiry uint64) error {
	switch now := e.Time(); {
	case expiry <= now:
		return fmt.Errorf("%w at %d and it is currently %d", errMessageExpired, expiry, now)
	case expiry-now > registrationWindow:
		return fmt.Errorf("%w because time is %d seconds in the future but the limit is %d", errMessageEarly, expiry-now, registrationWindow)
	}
	return nil
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
	source, sender, w, err := parseMessage[*warp.L1ValidatorWeight](u.Message)
	if err != nil {
		return nil, err
	}
	v, found := e.l1.byID[w.ValidationID]
	switch {
	case !found:
		return nil, fmt.Errorf("%w: %w", errNoL1Validator, utxo.ErrNotFound)
	case w.Nonce < v.MinNonce:
		return nil, fmt.Errorf("%w %d must be at least %d", errStaleNonce, w.Nonce, v.MinNonce)
	}
	if err := e.verifyL1Conversion(v.SubnetID, source, sender); err != nil {
		return nil, err
	}
	others := e.l1.weight(v.SubnetID) - v.Weight
	if w.Weight == 0 && others == 0 {
		return nil, errLastValidator
	}
	if err := addWeight(&others, w.Weight); err != nil {
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

// refund returns the rest of an L1 validator's deposit as the transaction's next output.
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
	case !found:
		return nil, utxo.ErrNotFound
	case !v.Active() && e.l1.exceeds(1):
		return nil, errMaxActive
	}
	end := max(v.EndAccumulatedFee, e.l1.accrued)
	if _, carry := bits.Add64(end, u.Balance, 0); carry != 0 {
		return nil, utxo.ErrOverflow
	}
	run := func() {
		updated := *v
		updated.EndAccumulatedFee = end + u.Balance
		e.putL1Validator(&updated)
	}
	return &execution{run: run}, nil
}

func (e *txExecutor) disableL1ValidatorTx(u *txs.DisableL1ValidatorTx) (*execution, error) {
	v, found := e.l1.byID[u.ValidationID]
	if !found {
		return nil, fmt.Errorf("%w: %w", errNoL1Validator, utxo.ErrNotFound)
	}
	owners := txs.FromWarpOwner(v.DeactivationOwner)
	if err := e.verifyAuthorization(u.DisableAuth, &owners); err != nil {
		return nil, err
	}
	run := func() {
		if !v.Active() {
			return
		}
		e.refund(v)
		e.deactivate(v)
	}
	return &execution{run: run}, nil
}
