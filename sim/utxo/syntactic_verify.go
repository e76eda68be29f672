package utxo

import (
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
)

// The reasons why a transaction is malformed, in the node's words.
var (
	ErrWrongNetwork = errors.New("tx has wrong network ID")
	ErrWrongChain   = errors.New("tx has wrong chain ID")
	ErrMemoTooLarge = errors.New("memo exceeds maximum length")
	ErrNoImports    = errors.New("no import inputs")
	ErrNoExports    = errors.New("no export outputs")
	ErrWrongTxType  = errors.New("wrong transaction type")
	ErrWrongPeer    = errors.New("chain is not of the primary network")
	ErrNotFound     = errors.New("not found")
	errSameChain    = errors.New("same chainID")
)

// SyntacticVerify checks what needs no state, as the SyntacticVerify methods of avalanchego's transactions do.
func (s *UTXOState) SyntacticVerify(tx *txs.Tx) error {
	base := tx.Unsigned.Base()
	switch {
	case base == nil:
		return ErrWrongTxType
	case base.NetworkID != s.Network.NetworkID:
		return ErrWrongNetwork
	case base.BlockchainID != s.Network.BlockchainID(s.chain):
		return ErrWrongChain
	case len(base.Memo) > 0: // memos ended with Durango
		return fmt.Errorf("%w: %d > 0", ErrMemoTooLarge, len(base.Memo))
	}
	if err := s.VerifyOutputs(base.Outs); err != nil {
		return err
	}
	if !txs.SortedInputs(base.Ins) {
		return txs.ErrInputsNotSorted
	}
	return s.verifyAtomic(tx)
}

// VerifyOutputs checks the form and the order of outputs.
func (s *UTXOState) VerifyOutputs(outs []*txs.TransferableOutput) error {
	for _, out := range outs {
		if txs.AmountOf(out.Out) == 0 { // rights to mint and the like are not outputs of their own
			return txs.ErrNoValueOutput
		}
		if err := out.Out.Verify(); err != nil {
			return err
		}
	}
	if !txs.SortedOutputs(s.chain, outs) {
		return txs.ErrOutputsNotSorted
	}
	return nil
}

// verifyAtomic checks the other chain's side of an import or export.
func (s *UTXOState) verifyAtomic(tx *txs.Tx) error {
	switch u := tx.Unsigned.(type) {
	case *txs.ImportTx:
		if len(u.ImportedInputs) == 0 {
			return ErrNoImports
		}
		if !txs.SortedInputs(u.ImportedInputs) {
			return txs.ErrInputsNotSorted
		}
		return s.sameSubnet(u.SourceChain)
	case *txs.ExportTx:
		if len(u.ExportedOutputs) == 0 {
			return ErrNoExports
		}
		if err := s.VerifyOutputs(u.ExportedOutputs); err != nil {
			return err
		}
		return s.sameSubnet(u.DestinationChain)
	}
	return nil
}

// sameSubnet checks that value can be imported from or exported to a chain: avalanchego's verify.SameSubnet.
func (s *UTXOState) sameSubnet(blockchainID ids.ID) error {
	c, found := s.Network.ChainOf(blockchainID)
	switch {
	case !found:
		return fmt.Errorf("%w: %s", ErrWrongPeer, blockchainID)
	case c == s.chain:
		return errSameChain
	}
	return nil
}

// Inputs finds the outputs that a transaction's inputs spend, imported ones last.
func (s *UTXOState) Inputs(tx *txs.Tx) ([]*txs.UTXO, error) {
	source, imports := importSource(tx)
	ins := tx.Inputs()
	spent := make([]*txs.UTXO, len(ins))
	for i, in := range ins {
		var found bool
		if i < len(ins)-imports {
			spent[i], found = s.UTXO(in.InputID())
		} else {
			spent[i], found = s.shared.UTXO(source, s.Network.BlockchainID(s.chain), in.InputID())
		}
		if !found {
			return nil, s.missing(in)
		}
	}
	return spent, nil
}

// missing is the chain's own error for an output that does not exist or is spent.
func (s *UTXOState) missing(in *txs.TransferableInput) error {
	if s.chain == txs.PChain {
		return fmt.Errorf("failed to read consumed UTXO %s:%d due to: %w", in.TxID, in.OutputIndex, ErrNotFound)
	}
	return fmt.Errorf("failed to verify transfer: failed to get utxo %s: %w", in.InputID(), ErrNotFound)
}

// IllegalNameCharacter tells whether a name of an asset or of a chain may not contain a character.
func IllegalNameCharacter(r rune) bool {
	return r != ' ' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
}
