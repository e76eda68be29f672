package primary

import (
	"fmt"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
)

// EVMOutput credits an account of the C-chain.
type EVMOutput struct {
	Address common.Address `serialize:"true" json:"address"`
	Amount  uint64         `serialize:"true" json:"amount"`
	AssetID ids.ID         `serialize:"true" json:"assetID"`
}

// EVMInput debits an account of the C-chain, at the account's nonce.
type EVMInput struct {
	Address common.Address `serialize:"true" json:"address"`
	Amount  uint64         `serialize:"true" json:"amount"`
	AssetID ids.ID         `serialize:"true" json:"assetID"`
	Nonce   uint64         `serialize:"true" json:"nonce"`
}

// AtomicImportTx brings outputs that X or P exported into accounts of the C-chain. Amounts are in nAVAX.
type AtomicImportTx struct {
	NetworkID      uint32               `serialize:"true" json:"networkID"`
	BlockchainID   ids.ID               `serialize:"true" json:"blockchainID"`
	SourceChain    ids.ID               `serialize:"true" json:"sourceChain"`
	ImportedInputs []*TransferableInput `serialize:"true" json:"importedInputs"`
	Outs           []EVMOutput          `serialize:"true" json:"outputs"`
}

// AtomicExportTx takes value out of accounts of the C-chain and hands it to X or P.
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

// AtomicBatch is the extra data of a C-chain block: its atomic transactions. A block without any has no extra data.
func AtomicBatch(txs []*Tx) ([]byte, error) {
	if len(txs) == 0 {
		return nil, nil
	}
	return CChain.marshal(txs)
}

// ParseAtomicBatch reads what AtomicBatch wrote.
func ParseAtomicBatch(b []byte) ([]*Tx, error) {
	if len(b) == 0 {
		return nil, nil
	}
	var txs []*Tx
	if err := CChain.unmarshal(b, &txs); err != nil {
		return nil, fmt.Errorf("block extra data: %w", err)
	}
	return txs, sealAll(CChain, txs)
}

func compareEVMOutputs(a, b EVMOutput) int {
	if c := a.Address.Cmp(b.Address); c != 0 {
		return c
	}
	return a.AssetID.Compare(b.AssetID)
}

func compareEVMInputs(a, b EVMInput) int {
	if c := a.Address.Cmp(b.Address); c != 0 {
		return c
	}
	return a.AssetID.Compare(b.AssetID)
}

// SortEVMOutputs puts account outputs in the network's order.
func SortEVMOutputs(outs []EVMOutput) { slices.SortFunc(outs, compareEVMOutputs) }

// SortEVMInputs puts account inputs in the network's order.
func SortEVMInputs(ins []EVMInput) { slices.SortFunc(ins, compareEVMInputs) }

// AccountChange is what an atomic transaction does to an account of the C-chain. Amount is in nAVAX.
type AccountChange struct {
	Address common.Address
	Amount  uint64
	Debit   bool
	Nonce   uint64 // of a debit: the nonce that the account must have, and then leaves behind
}
