package primary

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ava-labs/avalanchego/ids"
)

// The reasons why an X-chain transaction is refused, in the node's words.
var (
	errUnknownAsset   = errors.New("not an asset")
	errFx             = errors.New("incompatible feature extension")
	errNoOperations   = errors.New("an operationTx must have at least one operation")
	errOperationOrder = errors.New("operations not sorted and unique")
	errOperationUTXO  = errors.New("wrong number of utxos for the operation")
	errWrongMint      = errors.New("wrong mint output created from the operation")
	errGroup          = errors.New("wrong unique ID provided")
	errPayload        = errors.New("wrong bytes provided")
	errNameLength     = errors.New("asset's name must have between 1 and 128 characters")
	errSymbolLength   = errors.New("asset's symbol must have between 1 and 4 characters")
	errNoFxs          = errors.New("assets must support at least one Fx")
	errDenomination   = errors.New("denomination is too large")
	errWhitespace     = errors.New("unexpected whitespace provided")
	errNameCharacter  = errors.New("asset's name must be made up of only letters and numbers")
	errSymbolCase     = errors.New("asset's symbol must be all upper case letters")
	errStateOrder     = errors.New("initial states not sorted and unique")
)

// verify finds what a transaction spends and burns, or why it may not.
func (x *Exchange) verify(tx *Tx) ([]*UTXO, uint64, error) {
	if err := x.wellFormed(tx); err != nil {
		return nil, 0, err
	}
	burned, err := x.balanced(tx)
	if err != nil {
		return nil, 0, err
	}
	if want := len(tx.Inputs()) + operations(tx); len(tx.Credentials) != want {
		return nil, 0, fmt.Errorf("%w: %d != %d", ErrWrongCredentials, len(tx.Credentials), want)
	}
	if err := x.typeWellFormed(tx); err != nil {
		return nil, 0, err
	}
	spent, err := x.authorized(tx)
	return spent, burned, err
}

func operations(tx *Tx) int {
	if op, ok := tx.Unsigned.(*OperationTx); ok {
		return len(op.Ops)
	}
	return 0
}

// balanced adds up inputs, outputs and the fee.
func (x *Exchange) balanced(tx *Tx) (uint64, error) {
	var f flow
	for _, in := range tx.Inputs() {
		f.consume(in.AssetID, in.In.transfer().Amount)
	}
	f.produceOutputs(tx.Unsigned.Base().Outs)
	if export, ok := tx.Unsigned.(*ExportTx); ok {
		f.produceOutputs(export.ExportedOutputs)
	}
	fee := x.Network.TxFee
	if _, ok := tx.Unsigned.(*CreateAssetTx); ok {
		fee = x.Network.CreateAssetFee
	}
	f.produce(x.Network.AVAXAssetID, fee)
	err := f.balanced(func(uint64, ids.ID) error { return ErrInsufficientFunds })
	return f.burned(x.Network.AVAXAssetID) + fee, err
}

func (x *Exchange) typeWellFormed(tx *Tx) error {
	switch u := tx.Unsigned.(type) {
	case *CreateAssetTx:
		return assetWellFormed(u)
	case *OperationTx:
		if len(u.Ops) == 0 {
			return errNoOperations
		}
		if !operationsSorted(u.Ops) {
			return errOperationOrder
		}
		return singleSpend(tx)
	case *BaseTx, *ImportTx, *ExportTx:
		return nil
	}
	return ErrWrongTxType
}

// singleSpend checks that operations do not consume what inputs or other operations consume.
func singleSpend(tx *Tx) error {
	seen := make(map[ids.ID]bool)
	for _, inputID := range tx.Consumed() {
		if seen[inputID] {
			return errDoubleSpend
		}
		seen[inputID] = true
	}
	return nil
}

func assetWellFormed(tx *CreateAssetTx) error {
	switch {
	case len(tx.Name) < 1 || len(tx.Name) > 128:
		return errNameLength
	case len(tx.Symbol) < 1 || len(tx.Symbol) > 4:
		return errSymbolLength
	case len(tx.States) == 0:
		return errNoFxs
	case tx.Denomination > 32:
		return errDenomination
	case strings.TrimSpace(tx.Name) != tx.Name:
		return errWhitespace
	case strings.ContainsFunc(tx.Name, func(r rune) bool { return r != ' ' && !isLetter(r) && (r < '0' || r > '9') }):
		return errNameCharacter
	case strings.ContainsFunc(tx.Symbol, func(r rune) bool { return r < 'A' || r > 'Z' }):
		return errSymbolCase
	case !statesSorted(tx.States):
		return errStateOrder
	}
	return statesWellFormed(tx.States)
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

func statesWellFormed(states []*InitialState) error {
	for _, state := range states {
		for _, out := range state.Outs {
			if uint64(state.FxIndex) >= uint64(len(FxIDs)) || fxOf(out) != state.FxIndex {
				return errFx
			}
			if err := out.verify(); err != nil {
				return err
			}
		}
	}
	return nil
}

// authorized finds what a transaction spends and checks its signatures.
func (x *Exchange) authorized(tx *Tx) ([]*UTXO, error) {
	spent, err := x.inputs(tx)
	if err != nil {
		return nil, err
	}
	w, err := witnessesOf(tx, x.time, x.Strict)
	if err != nil {
		return nil, err
	}
	for i, in := range tx.Inputs() {
		if err := x.usable(in.AssetID, 0); err != nil {
			return nil, err
		}
		if err := w.transfer(i, in, spent[i]); err != nil {
			return nil, fmt.Errorf("failed to verify transfer: %w", err)
		}
	}
	if op, ok := tx.Unsigned.(*OperationTx); ok {
		return spent, x.operationsAuthorized(w, op)
	}
	return spent, nil
}

// usable checks that an asset exists and knows a feature extension.
func (x *Exchange) usable(assetID ids.ID, fx uint32) error {
	a, found := x.assets[assetID]
	switch {
	case !found:
		return errUnknownAsset
	case !slices.Contains(a.Fxs, fx):
		return errFx
	}
	return nil
}

func (x *Exchange) operationsAuthorized(w *witnesses, tx *OperationTx) error {
	for i, op := range tx.Ops {
		if err := x.operationAuthorized(w, len(tx.Ins)+i, op); err != nil {
			return fmt.Errorf("operation %d: %w", i, err)
		}
	}
	return nil
}

func (x *Exchange) operationAuthorized(w *witnesses, i int, op *Operation) error {
	if len(op.UTXOIDs) != 1 {
		return errOperationUTXO
	}
	u, found := x.UTXO(op.UTXOIDs[0].InputID())
	switch {
	case !found:
		return errNotFound
	case u.AssetID != op.AssetID:
		return ErrAssetMismatch
	case fxOf(w.tx.Credentials[i]) != fxOf(op.Op):
		return ErrWrongCredential
	}
	if err := x.usable(op.AssetID, fxOf(op.Op)); err != nil {
		return err
	}
	if err := continues(op.Op, u.Out); err != nil {
		return err
	}
	for _, out := range op.Op.produces() {
		if err := out.verify(); err != nil {
			return err
		}
	}
	return w.permit(i, op.Op.auth(), u.Owners())
}

// continues checks that what an operation produces may follow from the output it consumes.
func continues(op OperationBody, out Output) error {
	switch op := op.(type) {
	case *MintOperation:
		return sameOwners(isType[*MintOutput](out), &op.MintOutput, out)
	case *PropertyMintOperation:
		return sameOwners(isType[*PropertyMintOutput](out), &op.MintOutput, out)
	case *NFTMintOperation:
		from, ok := out.(*NFTMintOutput)
		if !ok {
			return errWrongOutputForInput
		}
		return sameGroup(from.GroupID, op.GroupID)
	case *NFTTransferOperation:
		from, ok := out.(*NFTTransferOutput)
		if !ok {
			return errWrongOutputForInput
		}
		if string(from.Payload) != string(op.Output.Payload) {
			return errPayload
		}
		return sameGroup(from.GroupID, op.Output.GroupID)
	case *PropertyBurnOperation:
		if !isType[*PropertyOwnedOutput](out) {
			return errWrongOutputForInput
		}
	}
	return nil
}

func isType[T Output](out Output) bool {
	_, ok := out.(T)
	return ok
}

func sameOwners(rightType bool, renewed, consumed Output) error {
	switch {
	case !rightType:
		return errWrongOutputForInput
	case !renewed.owners().equal(consumed.owners()):
		return errWrongMint
	}
	return nil
}

func sameGroup(consumed, produced uint32) error {
	if consumed != produced {
		return errGroup
	}
	return nil
}
