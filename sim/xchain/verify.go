package xchain

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// Reasons for refusing an X-Chain transaction, in the node's words.
var (
	errUnknownAsset   = errors.New("not an asset")
	errFx             = errors.New("incompatible feature extension")
	errNoOperations   = errors.New("an operationTx must have at least one operation")
	errOperationOrder = errors.New("operations not sorted and unique")
	errOperationUTXO  = errors.New("wrong number of utxos for the operation")
	errWrongMint      = errors.New("wrong mint output created from the operation")
	errGroup          = errors.New("wrong unique ID provided")
	errPayload        = errors.New("wrong bytes provided")
	errNameTooShort   = errors.New("name is too short, minimum size is 1")
	errNameTooLong    = errors.New("name is too long, maximum size is 128")
	errSymbolTooShort = errors.New("symbol is too short, minimum size is 1")
	errSymbolTooLong  = errors.New("symbol is too long, maximum size is 4")
	errNoFxs          = errors.New("assets must support at least one Fx")
	errDenomination   = errors.New("denomination is too large")
	errWhitespace     = errors.New("unexpected whitespace provided")
	errNameCharacter  = errors.New("asset's name must be made up of only letters and numbers")
	errSymbolCase     = errors.New("asset's symbol must be all upper case letters")
	errDoubleSpend    = errors.New("inputs attempt to double spend an input")
	errStateOrder     = errors.New("initial states not sorted and unique")
)

// verify finds what a transaction spends and burns, or the error that refuses it.
func (x *Chain) verify(tx *txs.Tx, now uint64) ([]*txs.UTXO, uint64, error) {
	if err := x.SyntacticVerify(tx); err != nil {
		return nil, 0, err
	}
	burned, err := x.verifyFlow(tx)
	if err != nil {
		return nil, 0, err
	}
	if want := len(tx.Inputs()) + operations(tx); len(tx.Credentials) != want {
		return nil, 0, fmt.Errorf("%w: %d != %d", utxo.ErrWrongCredentials, len(tx.Credentials), want)
	}
	if err := x.verifyType(tx); err != nil {
		return nil, 0, err
	}
	spent, err := x.verifyInputs(tx, now)
	return spent, burned, err
}

func operations(tx *txs.Tx) int {
	if op, ok := tx.Unsigned.(*txs.OperationTx); ok {
		return len(op.Ops)
	}
	return 0
}

// verifyFlow adds up inputs, outputs and the fee.
func (x *Chain) verifyFlow(tx *txs.Tx) (uint64, error) {
	var f utxo.FlowChecker
	for _, in := range tx.Inputs() {
		f.Consume(in.AssetID, in.In.TransferInput().Amount)
	}
	f.ProduceOutputs(tx.Unsigned.Base().Outs)
	if export, ok := tx.Unsigned.(*txs.ExportTx); ok {
		f.ProduceOutputs(export.ExportedOutputs)
	}
	fee := x.Network.TxFee
	if _, ok := tx.Unsigned.(*txs.CreateAssetTx); ok {
		fee = x.Network.CreateAssetFee
	}
	f.Produce(x.Network.AVAXAssetID, fee)
	err := f.Verify(func(uint64, ids.ID) error { return utxo.ErrInsufficientFunds })
	return f.Burned(x.Network.AVAXAssetID) + fee, err
}

func (x *Chain) verifyType(tx *txs.Tx) error {
	switch u := tx.Unsigned.(type) {
	case *txs.CreateAssetTx:
		return verifyCreateAsset(u)
	case *txs.OperationTx:
		if len(u.Ops) == 0 {
			return errNoOperations
		}
		if !txs.SortedOperations(u.Ops) {
			return errOperationOrder
		}
		return singleSpend(tx)
	case *txs.BaseTx, *txs.ImportTx, *txs.ExportTx:
		return nil
	}
	return utxo.ErrWrongTxType
}

// singleSpend checks that operations do not consume what inputs or other operations consume.
func singleSpend(tx *txs.Tx) error {
	seen := make(map[ids.ID]bool)
	for _, inputID := range tx.Consumed() {
		if seen[inputID] {
			return errDoubleSpend
		}
		seen[inputID] = true
	}
	return nil
}

// verifyCreateAsset follows CreateAssetTx in avalanchego's vms/avm/txs/executor/syntactic_verifier.go.
func verifyCreateAsset(tx *txs.CreateAssetTx) error {
	switch {
	case len(tx.Name) < 1:
		return errNameTooShort
	case len(tx.Name) > 128:
		return errNameTooLong
	case len(tx.Symbol) < 1:
		return errSymbolTooShort
	case len(tx.Symbol) > 4:
		return errSymbolTooLong
	case len(tx.States) == 0:
		return errNoFxs
	case tx.Denomination > 32:
		return errDenomination
	case strings.TrimSpace(tx.Name) != tx.Name:
		return errWhitespace
	case strings.ContainsFunc(tx.Name, utxo.IllegalNameCharacter):
		return errNameCharacter
	case strings.ContainsFunc(tx.Symbol, func(r rune) bool { return r < 'A' || r > 'Z' }):
		return errSymbolCase
	case !txs.SortedStates(tx.States):
		return errStateOrder
	}
	return verifyStates(tx.States)
}

func verifyStates(states []*txs.InitialState) error {
	for _, state := range states {
		for _, out := range state.Outs {
			if uint64(state.FxIndex) >= uint64(len(txs.FxIDs)) || txs.FxIndex(out) != state.FxIndex {
				return errFx
			}
			if err := out.Verify(); err != nil {
				return err
			}
		}
	}
	return nil
}

// verifyInputs finds what a transaction spends and checks its signatures.
func (x *Chain) verifyInputs(tx *txs.Tx, now uint64) ([]*txs.UTXO, error) {
	spent, err := x.Inputs(tx)
	if err != nil {
		return nil, err
	}
	credentials, err := utxo.NewCredentials(tx, now, x.Strict)
	if err != nil {
		return nil, err
	}
	for i, in := range tx.Inputs() {
		if err := x.verifyAsset(in.AssetID, 0); err != nil {
			return nil, err
		}
		if err := credentials.VerifyTransfer(i, in, spent[i]); err != nil {
			return nil, fmt.Errorf("failed to verify transfer: %w", err)
		}
	}
	if op, ok := tx.Unsigned.(*txs.OperationTx); ok {
		return spent, x.verifyOperations(credentials, tx, op)
	}
	return spent, nil
}

// verifyAsset checks that an asset exists and supports a feature extension.
func (x *Chain) verifyAsset(assetID ids.ID, fx uint32) error {
	a, found := x.assets[assetID]
	switch {
	case !found:
		return errUnknownAsset
	case !slices.Contains(a.Fxs, fx):
		return errFx
	}
	return nil
}

func (x *Chain) verifyOperations(credentials *utxo.Credentials, signed *txs.Tx, tx *txs.OperationTx) error {
	for i, op := range tx.Ops {
		if err := x.verifyOperation(credentials, signed, len(tx.Ins)+i, op); err != nil {
			return fmt.Errorf("operation %d: %w", i, err)
		}
	}
	return nil
}

func (x *Chain) verifyOperation(credentials *utxo.Credentials, signed *txs.Tx, i int, op *txs.Operation) error {
	if len(op.UTXOIDs) != 1 {
		return errOperationUTXO
	}
	u, found := x.UTXO(op.UTXOIDs[0].InputID())
	switch {
	case !found:
		return utxo.ErrNotFound
	case u.AssetID != op.AssetID:
		return utxo.ErrAssetMismatch
	case txs.FxIndex(signed.Credentials[i]) != txs.FxIndex(op.Op):
		return utxo.ErrWrongCredential
	}
	if err := x.verifyAsset(op.AssetID, txs.FxIndex(op.Op)); err != nil {
		return err
	}
	if err := verifyProduced(op.Op, u.Out); err != nil {
		return err
	}
	for _, out := range op.Op.Outs() {
		if err := out.Verify(); err != nil {
			return err
		}
	}
	return credentials.VerifyPermission(i, op.Op.Authorization(), u.Owners())
}

// verifyProduced checks that an operation's outputs may follow from the output it consumes.
func verifyProduced(op txs.FxOperation, out txs.Output) error {
	switch op := op.(type) {
	case *txs.MintOperation:
		return sameOwners(isType[*txs.MintOutput](out), &op.MintOutput, out)
	case *txs.PropertyMintOperation:
		return sameOwners(isType[*txs.PropertyMintOutput](out), &op.MintOutput, out)
	case *txs.NFTMintOperation:
		from, ok := out.(*txs.NFTMintOutput)
		if !ok {
			return utxo.ErrWrongUTXOType
		}
		return sameGroup(from.GroupID, op.GroupID)
	case *txs.NFTTransferOperation:
		from, ok := out.(*txs.NFTTransferOutput)
		if !ok {
			return utxo.ErrWrongUTXOType
		}
		if string(from.Payload) != string(op.Output.Payload) {
			return errPayload
		}
		return sameGroup(from.GroupID, op.Output.GroupID)
	case *txs.PropertyBurnOperation:
		if !isType[*txs.PropertyOwnedOutput](out) {
			return utxo.ErrWrongUTXOType
		}
	}
	return nil
}

func isType[T txs.Output](out txs.Output) bool {
	_, ok := out.(T)
	return ok
}

func sameOwners(rightType bool, renewed, consumed txs.Output) error {
	switch {
	case !rightType:
		return utxo.ErrWrongUTXOType
	case !renewed.Owners().Equals(consumed.Owners()):
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
