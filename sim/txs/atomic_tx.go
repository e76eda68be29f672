package txs

import (
	"cmp"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
)

// EVMOutput credits an account of the C-Chain.
type EVMOutput struct {
	Address common.Address `serialize:"true" json:"address"`
	Amount  uint64         `serialize:"true" json:"amount"`
	AssetID ids.ID         `serialize:"true" json:"assetID"`
}

// EVMInput debits an account of the C-Chain, at the account's nonce.
type EVMInput struct {
	Address common.Address `serialize:"true" json:"address"`
	Amount  uint64         `serialize:"true" json:"amount"`
	AssetID ids.ID         `serialize:"true" json:"assetID"`
	Nonce   uint64         `serialize:"true" json:"nonce"`
}

// AtomicImportTx credits accounts of the C-Chain with outputs that the X-Chain or the P-Chain exported. Amounts are in nAVAX.
type AtomicImportTx struct {
	NetworkID      uint32               `serialize:"true" json:"networkID"`
	BlockchainID   ids.ID               `serialize:"true" json:"blockchainID"`
	SourceChain    ids.ID               `serialize:"true" json:"sourceChain"`
	ImportedInputs []*TransferableInput `serialize:"true" json:"importedInputs"`
	Outs           []EVMOutput          `serialize:"true" json:"outputs"`
}

// AtomicExportTx debits accounts of the C-Chain and exports the value to the X-Chain or the P-Chain.
type AtomicExportTx struct {
	NetworkID        uint32                `serialize:"true" json:"networkID"`
	BlockchainID     ids.ID                `serialize:"true" json:"blockchainID"`
	DestinationChain ids.ID                `serialize:"true" json:"destinationChain"`
	Ins              []EVMInput            `serialize:"true" json:"inputs"`
	ExportedOutputs  []*TransferableOutput `serialize:"true" json:"exportedOutputs"`
}

// Base is nil: accounts take the place of inputs and outputs.
func (*AtomicImportTx) Base() *BaseTx { return nil }

// Base is nil: accounts take the place of inputs and outputs.
func (*AtomicExportTx) Base() *BaseTx { return nil }

// AtomicBatch encodes atomic transactions as the extra data of a C-Chain block. A block without any has no extra data.
func AtomicBatch(transactions []*Tx) ([]byte, error) {
	if len(transactions) == 0 {
		return nil, nil
	}
	return CChain.Marshal(transactions)
}

// ParseAtomicBatch parses the output of AtomicBatch.
func ParseAtomicBatch(b []byte) ([]*Tx, error) {
	if len(b) == 0 {
		return nil, nil
	}
	var transactions []*Tx
	if err := CChain.Unmarshal(b, &transactions); err != nil {
		return nil, fmt.Errorf("block extra data: %w", err)
	}
	return transactions, Initialize(CChain, transactions)
}

func compareEVMOutputs(a, b EVMOutput) int {
	return cmp.Or(a.Address.Cmp(b.Address), a.AssetID.Compare(b.AssetID))
}

func compareEVMInputs(a, b EVMInput) int {
	return cmp.Or(a.Address.Cmp(b.Address), a.AssetID.Compare(b.AssetID))
}

// SortedEVMOutputs reports whether account outputs are in the network's order.
func SortedEVMOutputs(outs []EVMOutput) bool { return SortedUnique(outs, compareEVMOutputs) }

// SortedEVMInputs reports whether account inputs are in the network's order, without duplicates.
func SortedEVMInputs(ins []EVMInput) bool { return SortedUnique(ins, compareEVMInputs) }

// AccountChange is an atomic transaction's change of a C-Chain account. Amount is in nAVAX.
type AccountChange struct {
	Address common.Address
	Amount  uint64
	Debit   bool
	Nonce   uint64 // of a debit: must match the account's nonce, which the debit increments
}

// AccountChanges returns an atomic transaction's changes of C-Chain accounts.
func (tx *Tx) AccountChanges() []AccountChange {
	var changes []AccountChange
	switch u := tx.Unsigned.(type) {
	case *AtomicImportTx:
		for _, out := range u.Outs {
			changes = append(changes, AccountChange{Address: out.Address, Amount: out.Amount})
		}
	case *AtomicExportTx:
		for _, in := range u.Ins {
			changes = append(changes, AccountChange{Address: in.Address, Amount: in.Amount, Debit: true, Nonce: in.Nonce})
		}
	}
	return changes
}
