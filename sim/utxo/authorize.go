package utxo

import (
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
)

// Reasons why signatures do not authorize, in the node's words.
var (
	ErrTimelocked        = errors.New("output is time locked")
	ErrTooManySigners    = errors.New("input has more signers than expected")
	ErrTooFewSigners     = errors.New("input has less signers than expected")
	ErrSignerMismatch    = errors.New("input expected a different number of signers than provided in the credential")
	ErrNoSuchOwner       = errors.New("input referenced a nonexistent address in the output")
	ErrWrongSignature    = errors.New("wrong signature")
	ErrWrongCredential   = errors.New("wrong credential type")
	ErrWrongCredentials  = errors.New("wrong number of credentials")
	ErrMismatchedAmounts = errors.New("utxo amount and input amount are not equal")
	ErrAssetMismatch     = errors.New("asset IDs in the input don't match the utxo")
	ErrLockedNotMarked   = errors.New("locked funds not marked as locked")
	ErrLocktimeMismatch  = errors.New("input locktime does not match UTXO locktime")
	ErrWrongUTXOType     = errors.New("wrong utxo type")
	ErrWrongOwnerType    = errors.New("wrong owner type")
)

// VerifyOwner returns the owners that an authority must be. Other types embed owners and so decode in their place.
func VerifyOwner(a txs.Owner) (*txs.OutputOwners, error) {
	owners, ok := a.(*txs.OutputOwners)
	if !ok {
		return nil, ErrWrongOwnerType
	}
	return owners, owners.Verify()
}

// Credentials checks a transaction's credentials against owners at a time, as avalanchego's secp256k1fx.Fx does.
type Credentials struct {
	tx     *txs.Tx
	now    uint64
	strict bool
	known  map[txs.Signature]ids.ShortID // whose signature it is
}

// NewCredentials returns a transaction's credentials. strict recovers signers even if this process made the signatures.
func NewCredentials(tx *txs.Tx, now uint64, strict bool) *Credentials {
	return &Credentials{tx: tx, now: now, strict: strict, known: make(map[txs.Signature]ids.ShortID)}
}

// signer returns the address that made a signature of credential i.
func (c *Credentials) signer(i, j int, sig txs.Signature) (ids.ShortID, error) {
	if who, here := c.tx.Signer(i, j); here && !c.strict {
		return who, nil
	}
	if who, found := c.known[sig]; found {
		return who, nil
	}
	who, err := c.tx.Recover(sig)
	if err == nil {
		c.known[sig] = who
	}
	return who, err
}

// VerifyPermission checks that credential i carries the signatures of the owners that an input names: Fx.VerifyPermission, whose checks
// come in this order.
func (c *Credentials) VerifyPermission(i int, in *txs.Input, owners *txs.OutputOwners) error {
	if err := in.Verify(); err != nil {
		return err
	}
	signatures := c.tx.Signatures(i)
	switch n := uint64(len(in.SigIndices)); {
	case owners.Locktime > c.now:
		return ErrTimelocked
	case uint64(owners.Threshold) < n:
		return ErrTooManySigners
	case uint64(owners.Threshold) > n:
		return ErrTooFewSigners
	case n != uint64(len(signatures)):
		return ErrSignerMismatch
	}
	for j, index := range in.SigIndices {
		if uint64(index) >= uint64(len(owners.Addresses)) {
			return ErrNoSuchOwner
		}
		got, err := c.signer(i, j, signatures[j])
		if err != nil {
			return err
		}
		if want := owners.Addresses[index]; want != got {
			return fmt.Errorf("%w: expected signature from %s but got from %s", ErrWrongSignature, want, got)
		}
	}
	return nil
}

// VerifyTransfer checks that credential i lets an input spend an output.
func (c *Credentials) VerifyTransfer(i int, in *txs.TransferableInput, u *txs.UTXO) error {
	if u.AssetID != in.AssetID {
		return ErrAssetMismatch
	}
	body, output, err := c.unlock(in.In, u.Out)
	if err != nil {
		return err
	}
	if _, ok := c.tx.Credentials[i].(*txs.Credential); !ok {
		return ErrWrongCredential
	}
	if err := body.Verify(); err != nil {
		return err
	}
	if body.Amount != output.Amount {
		return fmt.Errorf("%w: %d != %d", ErrMismatchedAmounts, output.Amount, body.Amount)
	}
	return c.VerifyPermission(i, &body.Input, &output.OutputOwners)
}

// unlock unwraps the stakeable locks of an input and of the output it spends, which must agree.
func (c *Credentials) unlock(in txs.TransferableIn, out txs.Output) (*txs.TransferInput, *txs.TransferOutput, error) {
	lockIn, marked := in.(*txs.StakeableLockIn)
	var until uint64
	if lock, ok := out.(*txs.StakeableLockOut); ok {
		until, out = lock.Locktime, lock.Output
	}
	if c.now < until && !marked {
		return nil, nil, ErrLockedNotMarked
	}
	if marked && lockIn.Locktime != until {
		return nil, nil, fmt.Errorf("%w: %d != %d", ErrLocktimeMismatch, lockIn.Locktime, until)
	}
	output, ok := out.(*txs.TransferOutput)
	if !ok {
		return nil, nil, ErrWrongUTXOType
	}
	return in.TransferInput(), output, nil
}
