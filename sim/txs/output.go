package txs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/ava-labs/avalanchego/ids"
)

// Output is the content of a UTXO: an amount, a right to mint, an NFT or a property, and its owners.
type Output interface {
	Owners() *OutputOwners
	Verify() error
}

// TransferOutput holds an amount of an asset.
type TransferOutput struct {
	Amount       uint64 `serialize:"true" json:"amount"`
	OutputOwners `serialize:"true"`
}

// MintOutput is the right to mint more of a variable-cap asset.
type MintOutput struct {
	OutputOwners `serialize:"true"`
}

// NFTMintOutput is the right to mint NFTs of one group of an asset.
type NFTMintOutput struct {
	GroupID      uint32 `serialize:"true" json:"groupID"`
	OutputOwners `serialize:"true"`
}

// NFTTransferOutput is one NFT with its payload.
type NFTTransferOutput struct {
	GroupID      uint32   `serialize:"true" json:"groupID"`
	Payload      HexBytes `serialize:"true" json:"payload"`
	OutputOwners `serialize:"true"`
}

// PropertyMintOutput is the right to mint owned outputs of a property asset.
type PropertyMintOutput struct {
	OutputOwners `serialize:"true"`
}

// PropertyOwnedOutput is one unit of a property asset.
type PropertyOwnedOutput struct {
	OutputOwners `serialize:"true"`
}

// StakeableLockOut is a P-Chain amount that can be staked but not transferred before Locktime.
type StakeableLockOut struct {
	Locktime uint64 `serialize:"true" json:"locktime"`
	Output   Output `serialize:"true" json:"output"`
}

func (o *StakeableLockOut) Owners() *OutputOwners { return o.Output.Owners() }

// Reasons for refusing an output, in the node's words.
var (
	ErrNoValueOutput    = errors.New("output has no value")
	ErrOutputsNotSorted = errors.New("outputs not sorted")
	errInvalidLocktime  = errors.New("invalid locktime")
	errNestedStakeable  = errors.New("shouldn't nest stakeable locks")
	ErrPayloadTooLarge  = errors.New("payload too large")
)

// maxPayload bounds an NFT's payload in bytes: nftfx.MaxPayloadSize.
const maxPayload = 1024

func (o *TransferOutput) Verify() error {
	if o.Amount == 0 {
		return ErrNoValueOutput
	}
	return o.OutputOwners.Verify()
}

func (o *NFTTransferOutput) Verify() error {
	if len(o.Payload) > maxPayload {
		return ErrPayloadTooLarge
	}
	return o.OutputOwners.Verify()
}

func (o *StakeableLockOut) Verify() error {
	if o.Locktime == 0 {
		return errInvalidLocktime
	}
	if _, nested := o.Output.(*StakeableLockOut); nested {
		return errNestedStakeable
	}
	return o.Output.Verify()
}

// AmountOf returns an output's amount, locked or not; 0 for outputs that are not amounts.
func AmountOf(o Output) uint64 {
	switch o := o.(type) {
	case *TransferOutput:
		return o.Amount
	case *StakeableLockOut:
		return AmountOf(o.Output)
	}
	return 0
}

// TransferableOutput is an output of one asset in a transaction.
type TransferableOutput struct {
	AssetID ids.ID `serialize:"true" json:"assetID"`
	Out     Output `serialize:"true" json:"output"`
}

// NewTransferableOutput returns a plain output of an asset's amount to these owners.
func NewTransferableOutput(assetID ids.ID, amount uint64, owners OutputOwners) *TransferableOutput {
	return &TransferableOutput{AssetID: assetID, Out: &TransferOutput{Amount: amount, OutputOwners: owners}}
}

// SortOutputs sorts outputs in the network's order: by asset, then by serialized form.
func SortOutputs(c Chain, outs []*TransferableOutput) error {
	keys, err := outputKeys(c, outs)
	if err != nil {
		return err
	}
	order := make([]int, len(outs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return bytes.Compare(keys[a], keys[b]) })
	sorted := make([]*TransferableOutput, len(outs))
	for i, from := range order {
		sorted[i] = outs[from]
	}
	copy(outs, sorted)
	return nil
}

// SortedOutputs reports whether outputs are in the order of SortOutputs.
func SortedOutputs(c Chain, outs []*TransferableOutput) bool {
	keys, err := outputKeys(c, outs)
	return err == nil && slices.IsSortedFunc(keys, bytes.Compare)
}

// marshalOutput encodes an output with its type id, as Marshal does, but ten times as fast for a TransferOutput, which nearly all are.
func marshalOutput(c Chain, out Output) ([]byte, error) {
	o, plain := out.(*TransferOutput)
	if !plain || o == nil || len(o.Addresses) > quickOwners {
		return c.Marshal(&out)
	}
	b := make([]byte, 0, versionBytes+4+8+8+4+4+len(o.Addresses)*ids.ShortIDLen)
	b = binary.BigEndian.AppendUint16(b, codecVersion)
	b = binary.BigEndian.AppendUint32(b, transferOutputID)
	b = binary.BigEndian.AppendUint64(b, o.Amount)
	b = binary.BigEndian.AppendUint64(b, o.Locktime)
	b = binary.BigEndian.AppendUint32(b, o.Threshold)
	b = binary.BigEndian.AppendUint32(b, uint32(len(o.Addresses)))
	for i := range o.Addresses {
		b = append(b, o.Addresses[i][:]...)
	}
	return b, nil
}

// quickOwners bounds the owners that are written without asking the codec whether they are too many.
const quickOwners = 256

// outputKeys returns byte strings that compare as the network compares outputs.
func outputKeys(c Chain, outs []*TransferableOutput) ([][]byte, error) {
	keys := make([][]byte, len(outs))
	for i, out := range outs {
		b, err := marshalOutput(c, out.Out)
		if err != nil {
			return nil, err
		}
		keys[i] = append(out.AssetID[:], b...)
	}
	return keys, nil
}
