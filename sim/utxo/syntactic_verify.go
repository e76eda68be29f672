package utxo

import (
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
)

// Reasons why a transaction is malformed, in the node's words.
var (
	ErrWrongNetwork = errors.New("tx has wrong network ID")
	ErrWrongChain   = errors.New("tx has wrong chain ID")
	ErrMemoTooLarge = errors.New("memo exceeds maximum length")
	ErrNoImports    = errors.New("no import inputs")
	ErrNoExports    = errors.New("no export outputs")
	ErrWrongTxType  = errors.New("wrong transaction type")
	ErrNotFound     = errors.New("not found")
	ErrSameChain    = errors.New("same chainID")
	ErrMismatched   = errors.New("mismatched subnetIDs")
	ErrEmptyAssetID = errors.New("empty asset ID is not valid")
)

// maxMemo bounded a memo before Durango ended memos.
const maxMemo = 256

// VerifyMetadata checks that a transaction is for this chain: avalanchego's avax.BaseTx.Verify.
func (s *UTXOState) VerifyMetadata(base *txs.BaseTx) error {
	switch {
	case base.NetworkID != s.Network.NetworkID:
		return ErrWrongNetwork
	case base.BlockchainID != s.Network.BlockchainID(s.chain):
		return ErrWrongChain
	case len(base.Memo) > maxMemo:
		return fmt.Errorf("%w: %d > %d", ErrMemoTooLarge, len(base.Memo), maxMemo)
	}
	return nil
}

// VerifyMemo refuses memos, which ended with Durango: avalanchego's avax.VerifyMemoFieldLength.
func VerifyMemo(base *txs.BaseTx) error {
	if len(base.Memo) > 0 {
		return fmt.Errorf("%w: %d > 0", ErrMemoTooLarge, len(base.Memo))
	}
	return nil
}

// VerifyOutputs checks the form and the order of outputs.
func (s *UTXOState) VerifyOutputs(outs []*txs.TransferableOutput) error {
	for _, out := range outs {
		if err := VerifyOutput(out); err != nil {
			return err
		}
	}
	if !txs.SortedOutputs(s.chain, outs) {
		return txs.ErrOutputsNotSorted
	}
	return nil
}

// VerifyOutput checks the form of an output. It refuses rights to mint and the like as outputs of their own.
func VerifyOutput(out *txs.TransferableOutput) error {
	switch {
	case out.AssetID == ids.Empty:
		return ErrEmptyAssetID
	case txs.AmountOf(out.Out) == 0:
		return txs.ErrNoValueOutput
	}
	return out.Out.Verify()
}

// VerifyInputs checks the form and the order of inputs.
func VerifyInputs(ins []*txs.TransferableInput) error {
	for _, in := range ins {
		if err := VerifyInput(in); err != nil {
			return err
		}
	}
	if !txs.SortedInputs(ins) {
		return txs.ErrInputsNotSorted
	}
	return nil
}

// VerifyInput checks the form of an input.
func VerifyInput(in *txs.TransferableInput) error {
	if in.AssetID == ids.Empty {
		return ErrEmptyAssetID
	}
	return in.In.Verify()
}

// SameSubnet checks that value can be imported from or exported to a chain: avalanchego's verify.SameSubnet.
func (s *UTXOState) SameSubnet(blockchainID ids.ID) error {
	switch c, found := s.Network.ChainOf(blockchainID); {
	case found && c == s.chain:
		return ErrSameChain
	case found:
		return nil
	}
	subnetID, err := s.shared.SubnetOf(blockchainID)
	if err != nil {
		return fmt.Errorf("failed to get subnet of %q: %w", blockchainID, err)
	}
	return fmt.Errorf("%w; expected %q got %q", ErrMismatched, ids.Empty, subnetID)
}

// Import finds an output that another chain exported to this one.
func (s *UTXOState) Import(from, inputID ids.ID) (*txs.UTXO, error) {
	u, found := s.shared.UTXO(from, s.Network.BlockchainID(s.chain), inputID)
	if !found {
		return nil, ErrNotFound
	}
	return u, nil
}

// Inputs finds the outputs that a transaction of the P-Chain's or the C-Chain's spends, imported ones last.
func (s *UTXOState) Inputs(tx *txs.Tx) ([]*txs.UTXO, error) {
	source, imports := importSource(tx)
	ins := tx.Inputs()
	spent := make([]*txs.UTXO, len(ins))
	for i, in := range ins {
		var err error
		if i < len(ins)-imports {
			spent[i], err = s.UTXO(in.InputID())
		} else {
			spent[i], err = s.Import(source, in.InputID())
		}
		if errors.Is(err, ErrNotFound) {
			return nil, s.missing(tx, in, i >= len(ins)-imports)
		}
		if err != nil {
			return nil, err
		}
	}
	return spent, nil
}

// missing returns the chain's own error for an output that does not exist or is spent.
func (s *UTXOState) missing(tx *txs.Tx, in *txs.TransferableInput, imported bool) error {
	_, imports := tx.Unsigned.(*txs.ImportTx)
	switch {
	case s.chain == txs.CChain:
		source, _ := importSource(tx)
		return fmt.Errorf("failed to fetch import UTXOs from %s due to: %w", source, ErrNotFound)
	case imported:
		return fmt.Errorf("failed to get shared memory: %w", ErrNotFound)
	case imports:
		return fmt.Errorf("failed to get UTXO %s:%d: %w", in.TxID, in.OutputIndex, ErrNotFound)
	}
	return fmt.Errorf("failed to read consumed UTXO %s:%d due to: %w", in.TxID, in.OutputIndex, ErrNotFound)
}

// IllegalNameCharacter reports whether the name of an asset or a chain must not contain a character.
func IllegalNameCharacter(r rune) bool {
	return r != ' ' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
}
