package txs

import (
	"cmp"
	"errors"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
)

// Input lists, by index, the owners whose signatures a credential carries. On its own it authorizes acts that spend nothing, such as
// changing a subnet.
type Input struct {
	SigIndices []uint32 `serialize:"true" json:"signatureIndices"`
}

// TransferInput spends an amount.
type TransferInput struct {
	Amount uint64 `serialize:"true" json:"amount"`
	Input  `serialize:"true"`
}

// StakeableLockIn spends an amount that is still locked, to stake it.
type StakeableLockIn struct {
	Locktime uint64         `serialize:"true" json:"locktime"`
	Input    TransferableIn `serialize:"true" json:"input"`
}

// TransferableIn is an input's body: an amount, locked or not.
type TransferableIn interface {
	TransferInput() *TransferInput
	Verify() error
}

func (in *TransferInput) TransferInput() *TransferInput   { return in }
func (in *StakeableLockIn) TransferInput() *TransferInput { return in.Input.TransferInput() }

// UTXOID identifies an output of a transaction.
type UTXOID struct {
	TxID        ids.ID `serialize:"true" json:"txID"`
	OutputIndex uint32 `serialize:"true" json:"outputIndex"`
}

// InputID returns the id under which the network stores the UTXO: the hash of its index and its transaction's id.
func (u UTXOID) InputID() ids.ID { return u.TxID.Prefix(uint64(u.OutputIndex)) }

func (u UTXOID) Compare(other UTXOID) int {
	return cmp.Or(u.TxID.Compare(other.TxID), cmp.Compare(u.OutputIndex, other.OutputIndex))
}

// TransferableInput spends one UTXO in a transaction.
type TransferableInput struct {
	UTXOID  `serialize:"true"`
	AssetID ids.ID         `serialize:"true" json:"assetID"`
	In      TransferableIn `serialize:"true" json:"input"`
}

// Reasons for refusing an input, in the node's words.
var (
	ErrNoValueInput       = errors.New("input has no value")
	ErrInputsNotSorted    = errors.New("inputs not sorted and unique")
	ErrSigIndicesUnsorted = errors.New("address indices not sorted and unique")
)

func compareInputs(a, b *TransferableInput) int { return a.UTXOID.Compare(b.UTXOID) }

// SortInputs sorts inputs in the network's order: by transaction, then by index.
func SortInputs(ins []*TransferableInput) { slices.SortFunc(ins, compareInputs) }

// SortedInputs reports whether inputs are in the network's order, without duplicates.
func SortedInputs(ins []*TransferableInput) bool { return SortedUnique(ins, compareInputs) }

func (in *Input) Verify() error {
	if !SortedUnique(in.SigIndices, cmp.Compare) {
		return ErrSigIndicesUnsorted
	}
	return nil
}

func (in *TransferInput) Verify() error {
	if in.Amount == 0 {
		return ErrNoValueInput
	}
	return in.Input.Verify()
}

func (in *StakeableLockIn) Verify() error {
	if in.Locktime == 0 {
		return errInvalidLocktime
	}
	if _, nested := in.Input.(*StakeableLockIn); nested {
		return errNestedStakeable
	}
	return in.Input.Verify()
}
