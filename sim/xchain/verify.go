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
	errIncompatibleFx  = errors.New("incompatible feature extension")
	errUnknownFx       = errors.New("unknown feature extension")
	errCantTransfer    = errors.New("cant transfer with this fx")
	errNoOperations    = errors.New("an operationTx must have at least one operation")
	errOperationOrder  = errors.New("operations not sorted and unique")
	errUTXOIDOrder     = errors.New("utxo IDs not sorted and unique")
	errNumberOfUTXOs   = errors.New("wrong number of utxos for the operation")
	errNumberOfFxUTXOs = errors.New("wrong number of UTXOs for the operation") // of nftfx and propertyfx
	errWrongMint       = errors.New("wrong mint output created from the operation")
	errPropertyMint    = errors.New("wrong mint output provided")
	errGroup           = errors.New("wrong unique ID provided")
	errPayload         = errors.New("wrong bytes provided")
	errNameTooShort    = errors.New("name is too short, minimum size is 1")
	errNameTooLong     = errors.New("name is too long, maximum size is 128")
	errSymbolTooShort  = errors.New("symbol is too short, minimum size is 1")
	errSymbolTooLong   = errors.New("symbol is too long, maximum size is 4")
	errNoFxs           = errors.New("assets must support at least one Fx")
	errDenomination    = errors.New("denomination is too large")
	errWhitespace      = errors.New("unexpected whitespace provided")
	errNameCharacter   = errors.New("asset's name must be made up of only letters and numbers")
	errSymbolCase      = errors.New("asset's symbol must be all upper case letters")
	errDoubleSpend     = errors.New("inputs attempt to double spend an input")
	errStateOrder      = errors.New("initial states not sorted and unique")
)

// verify finds the outputs that a transaction spends and the amount it burns, or the error that refuses it.
func (x *Chain) verify(tx *txs.Tx, now uint64) ([]*txs.UTXO, uint64, error) {
	burned, err := x.syntacticVerify(tx)
	if err != nil {
		return nil, 0, err
	}
	spent, err := x.semanticVerify(tx, now)
	return spent, burned, err
}

// syntacticVerify runs the checks that need no state, and returns the amount burned. It follows avalanchego's
// vms/avm/txs/executor.SyntacticVerifier: checks of a transaction's own type come first and last, those that all types share in between.
func (x *Chain) syntacticVerify(tx *txs.Tx) (uint64, error) {
	base := tx.Unsigned.Base()
	fee, wanted := x.Network.TxFee, len(tx.Inputs())
	switch u := tx.Unsigned.(type) {
	case *txs.BaseTx:
	case *txs.CreateAssetTx:
		if err := verifyNames(u); err != nil {
			return 0, err
		}
		fee = x.Network.CreateAssetFee
	case *txs.OperationTx:
		if len(u.Ops) == 0 {
			return 0, errNoOperations
		}
		wanted += len(u.Ops)
	case *txs.ImportTx:
		if len(u.ImportedInputs) == 0 {
			return 0, utxo.ErrNoImports
		}
	case *txs.ExportTx:
		if len(u.ExportedOutputs) == 0 {
			return 0, utxo.ErrNoExports
		}
	default:
		return 0, utxo.ErrWrongTxType
	}
	if err := x.VerifyMetadata(base); err != nil {
		return 0, err
	}
	if err := utxo.VerifyMemo(base); err != nil {
		return 0, err
	}
	burned, err := x.verifyFlow(tx, fee)
	if err != nil {
		return 0, err
	}
	switch u := tx.Unsigned.(type) {
	case *txs.CreateAssetTx:
		err = verifyStates(u.States)
	case *txs.OperationTx:
		err = verifyOperations(u)
	}
	if err != nil {
		return 0, err
	}
	if len(tx.Credentials) != wanted {
		return 0, fmt.Errorf("%w: %d != %d", utxo.ErrWrongCredentials, len(tx.Credentials), wanted)
	}
	return burned, nil
}

// verifyFlow checks the form of outputs and inputs and that they balance, and returns the amount burned: avalanchego's avax.VerifyTx.
func (x *Chain) verifyFlow(tx *txs.Tx, fee uint64) (uint64, error) {
	base := tx.Unsigned.Base()
	outs, ins := [][]*txs.TransferableOutput{base.Outs}, [][]*txs.TransferableInput{base.Ins}
	switch u := tx.Unsigned.(type) {
	case *txs.ImportTx:
		ins = append(ins, u.ImportedInputs)
	case *txs.ExportTx:
		outs = append(outs, u.ExportedOutputs)
	}
	var f utxo.FlowChecker
	f.Produce(x.Network.AVAXAssetID, fee)
	for _, some := range outs {
		if err := x.VerifyOutputs(some); err != nil {
			return 0, err
		}
		f.ProduceOutputs(some)
	}
	for _, some := range ins {
		if err := utxo.VerifyInputs(some); err != nil {
			return 0, err
		}
		for _, in := range some {
			f.Consume(in.AssetID, in.In.TransferInput().Amount)
		}
	}
	err := f.Verify(func(uint64, ids.ID) error { return utxo.ErrInsufficientFunds })
	return f.Burned(x.Network.AVAXAssetID) + fee, err
}

func verifyNames(tx *txs.CreateAssetTx) error {
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
	}
	return nil
}

// verifyStates follows avalanchego's InitialState.Verify, which does not ask whether an output belongs to the state's feature extension.
func verifyStates(states []*txs.InitialState) error {
	for _, state := range states {
		if uint64(state.FxIndex) >= uint64(len(txs.FxIDs)) {
			return errUnknownFx
		}
		for _, out := range state.Outs {
			if err := out.Verify(); err != nil {
				return err
			}
		}
		if !state.Sorted() {
			return txs.ErrOutputsNotSorted
		}
	}
	if !txs.SortedStates(states) {
		return errStateOrder
	}
	return nil
}

// verifyOperations checks the form of operations, and that they do not consume what inputs or other operations consume.
func verifyOperations(tx *txs.OperationTx) error {
	consumed := make(map[ids.ID]bool)
	for _, in := range tx.Ins {
		consumed[in.InputID()] = true
	}
	for _, op := range tx.Ops {
		switch {
		case !txs.SortedUnique(op.UTXOIDs, func(a, b *txs.UTXOID) int { return a.Compare(*b) }):
			return errUTXOIDOrder
		case op.AssetID == ids.Empty:
			return utxo.ErrEmptyAssetID
		}
		if err := op.Op.Verify(); err != nil {
			return err
		}
		for _, id := range op.UTXOIDs {
			if consumed[id.InputID()] {
				return errDoubleSpend
			}
			consumed[id.InputID()] = true
		}
	}
	if !txs.SortedOperations(tx.Ops) {
		return errOperationOrder
	}
	return nil
}

// semanticVerify checks a transaction against the state, and returns the outputs that its inputs spend. It follows avalanchego's
// vms/avm/txs/executor.SemanticVerifier.
func (x *Chain) semanticVerify(tx *txs.Tx, now uint64) ([]*txs.UTXO, error) {
	base, credentials := tx.Unsigned.Base(), utxo.NewCredentials(tx, now, x.Strict)
	var spent []*txs.UTXO
	for i, in := range base.Ins {
		u, err := x.UTXO(in.InputID())
		if err != nil {
			return nil, fmt.Errorf("failed to verify transfer: failed to get utxo %s: %w", in.InputID(), err)
		}
		if err := x.verifyTransfer(tx, credentials, i, in, u); err != nil {
			return nil, fmt.Errorf("failed to verify transfer: %w", err)
		}
		spent = append(spent, u)
	}
	if err := x.verifyOutputFxs(base.Outs); err != nil {
		return nil, fmt.Errorf("failed to verify fx usage: %w", err)
	}
	switch u := tx.Unsigned.(type) {
	case *txs.OperationTx:
		for i, op := range u.Ops {
			if err := x.verifyOperation(tx, credentials, len(u.Ins)+i, op); err != nil {
				return nil, err
			}
		}
	case *txs.ImportTx:
		imported, err := x.verifyImports(tx, credentials, u)
		return append(spent, imported...), err
	case *txs.ExportTx:
		if err := x.SameSubnet(u.DestinationChain); err != nil {
			return nil, err
		}
		return spent, x.verifyOutputFxs(u.ExportedOutputs)
	}
	return spent, nil
}

// verifyImports finds every imported output before it verifies any, as the node does.
func (x *Chain) verifyImports(tx *txs.Tx, credentials *utxo.Credentials, u *txs.ImportTx) ([]*txs.UTXO, error) {
	if err := x.SameSubnet(u.SourceChain); err != nil {
		return nil, err
	}
	imported := make([]*txs.UTXO, len(u.ImportedInputs))
	for i, in := range u.ImportedInputs {
		var err error
		if imported[i], err = x.Import(u.SourceChain, in.InputID()); err != nil {
			return nil, err
		}
	}
	for i, in := range u.ImportedInputs {
		if err := x.verifyTransfer(tx, credentials, len(u.Ins)+i, in, imported[i]); err != nil {
			return nil, err
		}
	}
	return imported, nil
}

// verifyTransfer checks that credential i lets an input spend an output. Only amounts can be spent so.
func (x *Chain) verifyTransfer(tx *txs.Tx, credentials *utxo.Credentials, i int, in *txs.TransferableInput, u *txs.UTXO) error {
	if u.AssetID != in.AssetID {
		return utxo.ErrAssetMismatch
	}
	fx := txs.FxIndex(tx.Credentials[i])
	if err := x.verifyFx(in.AssetID, fx); err != nil {
		return err
	}
	if fx != 0 {
		return errCantTransfer
	}
	return credentials.VerifyTransfer(i, in, u)
}

func (x *Chain) verifyOutputFxs(outs []*txs.TransferableOutput) error {
	for _, out := range outs {
		if err := x.verifyFx(out.AssetID, txs.FxIndex(out.Out)); err != nil {
			return err
		}
	}
	return nil
}

// verifyFx checks that an asset exists and supports a feature extension.
func (x *Chain) verifyFx(assetID ids.ID, fx uint32) error {
	a, found := x.assets[assetID]
	switch {
	case !found:
		return utxo.ErrNotFound
	case !slices.Contains(a.Fxs, fx):
		return errIncompatibleFx
	}
	return nil
}

// verifyOperation follows SemanticVerifier.verifyOperation and VerifyOperation of secp256k1fx, nftfx and propertyfx.
func (x *Chain) verifyOperation(tx *txs.Tx, credentials *utxo.Credentials, i int, op *txs.Operation) error {
	var consumed []txs.Output
	for _, id := range op.UTXOIDs {
		u, err := x.UTXO(id.InputID())
		switch {
		case err != nil:
			return err
		case u.AssetID != op.AssetID:
			return utxo.ErrAssetMismatch
		}
		consumed = append(consumed, u.Out)
	}
	fx := txs.FxIndex(op.Op)
	if err := x.verifyFx(op.AssetID, fx); err != nil {
		return err
	}
	rightCredential := txs.FxIndex(tx.Credentials[i]) == fx
	switch {
	case fx == 0 && !rightCredential:
		return utxo.ErrWrongCredential
	case fx == 0 && len(consumed) != 1:
		return errNumberOfUTXOs
	case len(consumed) != 1:
		return errNumberOfFxUTXOs
	case !rightCredential:
		return utxo.ErrWrongCredential
	}
	if err := verifyProduced(op.Op, consumed[0]); err != nil {
		return err
	}
	return credentials.VerifyPermission(i, op.Op.Authorization(), consumed[0].Owners())
}

// verifyProduced checks that an operation's new outputs may follow from the output that it consumes.
func verifyProduced(op txs.FxOperation, out txs.Output) error {
	err := utxo.ErrWrongUTXOType
	switch op := op.(type) {
	case *txs.MintOperation:
		if from, ok := out.(*txs.MintOutput); ok {
			err = unless(from.Equals(&op.MintOutput.OutputOwners), errWrongMint)
		}
	case *txs.PropertyMintOperation:
		if from, ok := out.(*txs.PropertyMintOutput); ok {
			err = unless(from.Equals(&op.MintOutput.OutputOwners), errPropertyMint)
		}
	case *txs.NFTMintOperation:
		if from, ok := out.(*txs.NFTMintOutput); ok {
			err = unless(from.GroupID == op.GroupID, errGroup)
		}
	case *txs.NFTTransferOperation:
		if from, ok := out.(*txs.NFTTransferOutput); ok {
			if err = unless(from.GroupID == op.Output.GroupID, errGroup); err == nil {
				err = unless(string(from.Payload) == string(op.Output.Payload), errPayload)
			}
		}
	case *txs.PropertyBurnOperation:
		if _, ok := out.(*txs.PropertyOwnedOutput); ok {
			err = nil
		}
	}
	return err
}

func unless(right bool, err error) error {
	if right {
		return nil
	}
	return err
}
