package primary

import (
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"
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
	errNotFound     = errors.New("not found")
	errSameChain    = errors.New("same chainID")
	errDoubleSpend  = errors.New("inputs attempt to double spend an input")
)

// wellFormed checks what needs no state.
func (s *State) wellFormed(tx *Tx) error {
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
	if err := s.outputsWellFormed(base.Outs); err != nil {
		return err
	}
	if !sortedUnique(base.Ins, compareInputs) {
		return ErrInputsNotSorted
	}
	return s.crossingWellFormed(tx)
}

func (s *State) outputsWellFormed(outs []*TransferableOutput) error {
	for _, out := range outs {
		if amountOf(out.Out) == 0 { // rights to mint and the like are not outputs of their own
			return ErrNoValueOutput
		}
		if err := out.Out.verify(); err != nil {
			return err
		}
	}
	if !outputsSorted(s.chain, outs) {
		return ErrOutputsNotSorted
	}
	return nil
}

// crossingWellFormed checks the other chain's side of an import or export.
func (s *State) crossingWellFormed(tx *Tx) error {
	switch u := tx.Unsigned.(type) {
	case *ImportTx:
		if len(u.ImportedInputs) == 0 {
			return ErrNoImports
		}
		if !sortedUnique(u.ImportedInputs, compareInputs) {
			return ErrInputsNotSorted
		}
		return s.isPeer(u.SourceChain)
	case *ExportTx:
		if len(u.ExportedOutputs) == 0 {
			return ErrNoExports
		}
		if err := s.outputsWellFormed(u.ExportedOutputs); err != nil {
			return err
		}
		return s.isPeer(u.DestinationChain)
	}
	return nil
}

// isPeer checks that value can cross to or from a chain.
func (s *State) isPeer(blockchainID ids.ID) error {
	c, found := s.Network.ChainOf(blockchainID)
	switch {
	case !found:
		return fmt.Errorf("%w: %s", ErrWrongPeer, blockchainID)
	case c == s.chain:
		return errSameChain
	}
	return nil
}

// inputs finds the outputs that a transaction's inputs spend, imported ones last.
func (s *State) inputs(tx *Tx) ([]*UTXO, error) {
	source, imports := importSource(tx)
	ins := tx.Inputs()
	spent := make([]*UTXO, len(ins))
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
func (s *State) missing(in *TransferableInput) error {
	if s.chain == PChain {
		return fmt.Errorf("failed to read consumed UTXO %s:%d due to: %w", in.TxID, in.OutputIndex, errNotFound)
	}
	return fmt.Errorf("failed to verify transfer: failed to get utxo %s: %w", in.InputID(), errNotFound)
}
