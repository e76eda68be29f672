package txs

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/hashing"
)

// Unsigned is the part of a transaction that its credentials sign.
type Unsigned interface {
	// Base returns the inputs, outputs and memo that begin most types, or nil for a type without them.
	Base() *BaseTx
}

// BaseTx moves value within one chain, and begins most other types.
type BaseTx struct {
	NetworkID    uint32                `serialize:"true" json:"networkID"`
	BlockchainID ids.ID                `serialize:"true" json:"blockchainID"`
	Outs         []*TransferableOutput `serialize:"true" json:"outputs"`
	Ins          []*TransferableInput  `serialize:"true" json:"inputs"`
	Memo         HexBytes              `serialize:"true" json:"memo"`
}

// Base returns the transaction itself.
func (tx *BaseTx) Base() *BaseTx { return tx }

// ImportTx spends outputs that another chain exported to this one; the P-Chain and the X-Chain have the same type.
type ImportTx struct {
	BaseTx         `serialize:"true"`
	SourceChain    ids.ID               `serialize:"true" json:"sourceChain"`
	ImportedInputs []*TransferableInput `serialize:"true" json:"importedInputs"`
}

// ExportTx exports outputs to another chain; the P-Chain and the X-Chain have the same type.
type ExportTx struct {
	BaseTx           `serialize:"true"`
	DestinationChain ids.ID                `serialize:"true" json:"destinationChain"`
	ExportedOutputs  []*TransferableOutput `serialize:"true" json:"exportedOutputs"`
}

// Tx is a signed transaction. Its bytes and id belong to the form in which it was built, signed or parsed.
type Tx struct {
	Unsigned    Unsigned       `serialize:"true" json:"unsignedTx"`
	Credentials []FxCredential `serialize:"true" json:"credentials"`

	id            ids.ID
	bytes         []byte
	unsignedBytes []byte
	signers       [][]ids.ShortID
}

var errTooLong = fmt.Errorf("longer than %d bytes", MaxBytes)

// errNotCanonical refuses bytes that decode but would encode differently.
var errNotCanonical = errors.New("transaction is not in its canonical form")

// NewTx builds a chain's transaction without credentials; genesis and reward transactions never get any.
func NewTx(c Chain, unsigned Unsigned) (*Tx, error) {
	tx := &Tx{Unsigned: unsigned, Credentials: []FxCredential{}}
	return tx, tx.initialize(c)
}

// ParseTx reads a signed transaction of a chain.
func ParseTx(c Chain, b []byte) (*Tx, error) {
	tx := &Tx{}
	if err := c.Unmarshal(b, tx); err != nil {
		return nil, err
	}
	if err := tx.initialize(c); err != nil {
		return nil, err
	}
	if string(tx.bytes) != string(b) {
		return nil, errNotCanonical
	}
	return tx, nil
}

// ReadTx reads a stored transaction for display, without checking again that it is canonical.
func ReadTx(c Chain, id ids.ID, b []byte) (*Tx, error) {
	tx := &Tx{id: id, bytes: b}
	return tx, c.Unmarshal(b, tx)
}

// ID returns the hash of the signed bytes.
func (tx *Tx) ID() ids.ID { return tx.id }

// Bytes returns the signed form with the codec's version.
func (tx *Tx) Bytes() []byte { return tx.bytes }

// UnsignedBytes returns the bytes that the credentials sign.
func (tx *Tx) UnsignedBytes() []byte { return tx.unsignedBytes }

// initialize computes bytes and id from the parts.
func (tx *Tx) initialize(c Chain) error {
	unsigned, err := c.Marshal(&tx.Unsigned)
	if err != nil {
		return fmt.Errorf("unsigned transaction: %w", err)
	}
	credentials, err := c.Marshal(&tx.Credentials)
	if err != nil {
		return fmt.Errorf("credentials: %w", err)
	}
	signed := slices.Concat(unsigned, credentials[versionBytes:])
	if len(signed) > MaxBytes {
		return fmt.Errorf("transaction: %w", errTooLong)
	}
	tx.unsignedBytes, tx.bytes = unsigned, signed
	tx.id = hashing.ComputeHash256Array(signed)
	return nil
}

// Initialize computes bytes and ids of transactions that came in a block or a genesis.
func Initialize(c Chain, transactions []*Tx) error {
	for i, tx := range transactions {
		if err := tx.initialize(c); err != nil {
			return fmt.Errorf("transaction %d: %w", i, err)
		}
	}
	return nil
}

// Inputs returns all inputs that spend an amount, imported ones last; credentials follow the same order.
func (tx *Tx) Inputs() []*TransferableInput {
	switch u := tx.Unsigned.(type) {
	case *ImportTx:
		return append(u.Ins[:len(u.Ins):len(u.Ins)], u.ImportedInputs...)
	case *AtomicImportTx:
		return u.ImportedInputs
	}
	if base := tx.Unsigned.Base(); base != nil {
		return base.Ins
	}
	return nil
}

// Produced returns the UTXOs that the transaction creates on its own chain, without the ones that only a later event pays (stake, rewards,
// refunds).
func (tx *Tx) Produced() []*UTXO {
	base := tx.Unsigned.Base()
	if base == nil {
		return nil
	}
	utxos := make([]*UTXO, 0, len(base.Outs))
	for _, out := range base.Outs {
		utxos = tx.append(utxos, out.AssetID, out.Out)
	}
	switch u := tx.Unsigned.(type) {
	case *CreateAssetTx:
		for _, state := range u.States {
			for _, out := range state.Outs {
				utxos = tx.append(utxos, tx.id, out)
			}
		}
	case *OperationTx:
		for _, op := range u.Ops {
			for _, out := range op.Op.Outs() {
				utxos = tx.append(utxos, op.AssetID, out)
			}
		}
	}
	return utxos
}

// append adds the transaction's next output.
func (tx *Tx) append(utxos []*UTXO, assetID ids.ID, out Output) []*UTXO {
	return append(utxos, tx.NewUTXO(len(utxos), assetID, out))
}

// NewUTXO returns an output of the transaction; outputs that a later event pays follow its own.
func (tx *Tx) NewUTXO(index int, assetID ids.ID, out Output) *UTXO {
	return &UTXO{UTXOID: UTXOID{TxID: tx.id, OutputIndex: uint32(index)}, AssetID: assetID, Out: out}
}

// Exported returns the UTXOs that the transaction exports, and the destination chain.
func (tx *Tx) Exported() (ids.ID, []*UTXO) {
	var (
		destination ids.ID
		offset      int
		outs        []*TransferableOutput
	)
	switch u := tx.Unsigned.(type) {
	case *ExportTx:
		destination, offset, outs = u.DestinationChain, len(u.Outs), u.ExportedOutputs
	case *AtomicExportTx:
		destination, outs = u.DestinationChain, u.ExportedOutputs
	}
	utxos := make([]*UTXO, len(outs))
	for i, out := range outs {
		utxos[i] = tx.NewUTXO(offset+i, out.AssetID, out.Out)
	}
	return destination, utxos
}
