package txs

import (
	"bytes"
	"cmp"

	"github.com/ava-labs/avalanchego/ids"
)

// FxOperation is an operation's effect on the outputs it consumes.
type FxOperation interface {
	Authorization() *Input
	Outs() []Output
	Verify() error
}

// MintOperation mints an amount of a variable-cap asset and renews the right to mint.
type MintOperation struct {
	MintInput      Input          `serialize:"true" json:"mintInput"`
	MintOutput     MintOutput     `serialize:"true" json:"mintOutput"`
	TransferOutput TransferOutput `serialize:"true" json:"transferOutput"`
}

// NFTMintOperation mints one NFT for each of the owners.
type NFTMintOperation struct {
	MintInput Input           `serialize:"true" json:"mintInput"`
	GroupID   uint32          `serialize:"true" json:"groupID"`
	Payload   HexBytes        `serialize:"true" json:"payload"`
	Outputs   []*OutputOwners `serialize:"true" json:"outputs"`
}

// NFTTransferOperation gives an NFT to new owners.
type NFTTransferOperation struct {
	Input  Input             `serialize:"true" json:"input"`
	Output NFTTransferOutput `serialize:"true" json:"output"`
}

// PropertyMintOperation mints one unit of a property and renews the right to mint.
type PropertyMintOperation struct {
	MintInput   Input               `serialize:"true" json:"mintInput"`
	MintOutput  PropertyMintOutput  `serialize:"true" json:"mintOutput"`
	OwnedOutput PropertyOwnedOutput `serialize:"true" json:"ownedOutput"`
}

// PropertyBurnOperation destroys one unit of a property.
type PropertyBurnOperation struct {
	Input `serialize:"true"`
}

func (o *MintOperation) Authorization() *Input         { return &o.MintInput }
func (o *NFTMintOperation) Authorization() *Input      { return &o.MintInput }
func (o *NFTTransferOperation) Authorization() *Input  { return &o.Input }
func (o *PropertyMintOperation) Authorization() *Input { return &o.MintInput }
func (o *PropertyBurnOperation) Authorization() *Input { return &o.Input }

func (o *MintOperation) Outs() []Output { return []Output{&o.MintOutput, &o.TransferOutput} }

func (o *NFTMintOperation) Outs() []Output {
	outs := make([]Output, len(o.Outputs))
	for i, owners := range o.Outputs {
		outs[i] = &NFTTransferOutput{GroupID: o.GroupID, Payload: o.Payload, OutputOwners: *owners}
	}
	return outs
}

func (o *NFTTransferOperation) Outs() []Output { return []Output{&o.Output} }

func (o *PropertyMintOperation) Outs() []Output { return []Output{&o.MintOutput, &o.OwnedOutput} }

func (o *PropertyBurnOperation) Outs() []Output { return nil }

func (o *MintOperation) Verify() error {
	return verifyAll(&o.MintInput, &o.MintOutput, &o.TransferOutput)
}

// Verify checks the input last, as nftfx.MintOperation.Verify does.
func (o *NFTMintOperation) Verify() error {
	if len(o.Payload) > maxPayload {
		return ErrPayloadTooLarge
	}
	for _, owners := range o.Outputs {
		if err := owners.Verify(); err != nil {
			return err
		}
	}
	return o.MintInput.Verify()
}

func (o *NFTTransferOperation) Verify() error { return verifyAll(&o.Input, &o.Output) }

func (o *PropertyMintOperation) Verify() error {
	return verifyAll(&o.MintInput, &o.MintOutput, &o.OwnedOutput)
}

// verifyAll returns the first error, as avalanchego's verify.All does.
func verifyAll(parts ...interface{ Verify() error }) error {
	for _, part := range parts {
		if err := part.Verify(); err != nil {
			return err
		}
	}
	return nil
}

// Operation consumes outputs other than amounts and produces others of the same asset.
type Operation struct {
	AssetID ids.ID      `serialize:"true" json:"assetID"`
	UTXOIDs []*UTXOID   `serialize:"true" json:"inputIDs"`
	Op      FxOperation `serialize:"true" json:"operation"`
}

// SortedOperations reports whether operations are in the network's order, by their bytes, without duplicates.
func SortedOperations(ops []*Operation) bool {
	keys := make([][]byte, len(ops))
	for i, op := range ops {
		b, err := XChain.Marshal(op)
		if err != nil {
			return false
		}
		keys[i] = b
	}
	return SortedUnique(keys, bytes.Compare)
}

// FxIndex returns the index of a value's feature extension: 0 amounts, 1 NFTs, 2 properties.
func FxIndex(v any) uint32 {
	switch v.(type) {
	case *NFTMintOutput, *NFTTransferOutput, *NFTMintOperation, *NFTTransferOperation, *NFTCredential:
		return 1
	case *PropertyMintOutput, *PropertyOwnedOutput, *PropertyMintOperation, *PropertyBurnOperation, *PropertyCredential:
		return 2
	}
	return 0
}

func compareStates(a, b *InitialState) int { return cmp.Compare(a.FxIndex, b.FxIndex) }
