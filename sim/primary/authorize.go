package primary

import (
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"
)

// The reasons why signatures do not authorize, in the node's words.
var (
	ErrTimelocked          = errors.New("output is time locked")
	ErrTooManySigners      = errors.New("input has more signers than expected")
	ErrTooFewSigners       = errors.New("input has less signers than expected")
	ErrSignerMismatch      = errors.New("input expected a different number of signers than provided in the credential")
	ErrNoSuchOwner         = errors.New("input referenced a nonexistent address in the output")
	ErrWrongSignature      = errors.New("wrong signature")
	ErrWrongCredential     = errors.New("wrong credential type")
	ErrWrongCredentials    = errors.New("wrong number of credentials")
	ErrMismatchedAmounts   = errors.New("utxo amount and input amount are not equal")
	ErrAssetMismatch       = errors.New("asset IDs in the input don't match the utxo")
	ErrLockedNotMarked     = errors.New("locked funds not marked as locked")
	ErrLocktimeMismatch    = errors.New("input locktime does not match UTXO locktime")
	errWrongOutputForInput = errors.New("wrong utxo type")
	errWrongOwnerType      = errors.New("wrong owner type")
	errWrongInputType      = errors.New("wrong input type")
)

// controlGroup is the owners that an authority must be. Other types embed owners and so decode in their place.
func controlGroup(a Authority) (*OutputOwners, error) {
	owners, ok := a.(*OutputOwners)
	if !ok {
		return nil, errWrongOwnerType
	}
	return owners, owners.verify()
}

// authorization is the input that an auth must be.
func authorization(a Auth) (*Input, error) {
	in, ok := a.(*Input)
	if !ok {
		return nil, errWrongInputType
	}
	return in, nil
}

// witnesses are a transaction's credentials with who signed them, checked against owners at a time.
type witnesses struct {
	tx      *Tx
	signers [][]ids.ShortID
	now     uint64
}

// witnessesOf finds the signers of a transaction. strict recovers them even when this process made the signatures.
func witnessesOf(tx *Tx, now uint64, strict bool) (*witnesses, error) {
	find := tx.Signers
	if strict {
		find = tx.RecoverSigners
	}
	signers, err := find()
	if err != nil {
		return nil, err
	}
	return &witnesses{tx, signers, now}, nil
}

// permit checks that credential i carries the signatures of the owners that an input names.
func (w *witnesses) permit(i int, in *Input, owners *OutputOwners) error {
	switch n := uint64(len(in.SigIndices)); {
	case owners.Locktime > w.now:
		return ErrTimelocked
	case uint64(owners.Threshold) < n:
		return ErrTooManySigners
	case uint64(owners.Threshold) > n:
		return ErrTooFewSigners
	case i >= len(w.signers):
		return ErrWrongCredentials
	case n != uint64(len(w.signers[i])):
		return ErrSignerMismatch
	}
	for j, index := range in.SigIndices {
		if uint64(index) >= uint64(len(owners.Addresses)) {
			return ErrNoSuchOwner
		}
		if want, got := owners.Addresses[index], w.signers[i][j]; want != got {
			return fmt.Errorf("%w: expected signature from %s but got from %s", ErrWrongSignature, want, got)
		}
	}
	return in.verify()
}

// transfer checks that credential i lets an input spend an output.
func (w *witnesses) transfer(i int, in *TransferableInput, u *UTXO) error {
	if u.AssetID != in.AssetID {
		return ErrAssetMismatch
	}
	body, output, err := w.unlock(in.In, u.Out)
	if err != nil {
		return err
	}
	if _, ok := w.tx.Credentials[i].(*Credential); !ok {
		return ErrWrongCredential
	}
	if err := body.verify(); err != nil {
		return err
	}
	if body.Amount != output.Amount {
		return fmt.Errorf("%w: %d != %d", ErrMismatchedAmounts, output.Amount, body.Amount)
	}
	return w.permit(i, &body.Input, &output.OutputOwners)
}

// unlock looks under the stakeable locks of an input and of the output it spends, which must agree.
func (w *witnesses) unlock(in Spend, out Output) (*TransferInput, *TransferOutput, error) {
	lockIn, marked := in.(*StakeableLockIn)
	var until uint64
	if lock, ok := out.(*StakeableLockOut); ok {
		until, out = lock.Locktime, lock.Output
	}
	if w.now < until && !marked {
		return nil, nil, ErrLockedNotMarked
	}
	if marked && lockIn.Locktime != until {
		return nil, nil, fmt.Errorf("%w: %d != %d", ErrLocktimeMismatch, lockIn.Locktime, until)
	}
	output, ok := out.(*TransferOutput)
	if !ok {
		return nil, nil, errWrongOutputForInput
	}
	return in.transfer(), output, nil
}
