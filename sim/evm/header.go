package evm

import (
	"fmt"
	"math/big"
	"reflect"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
)

// Kind tells which of the network's two EVM virtual machines a chain runs. They differ in header fields, in the encoding of accounts and in
// how the base fee follows load.
type Kind string

const (
	// KindC is the C-Chain (coreth).
	KindC Kind = "C"
	// KindL1 is an EVM chain of an L1 or subnet (subnet-evm).
	KindL1 Kind = "L1"
)

var (
	// Blackhole is the coinbase of every block: these chains burn all fees by crediting it.
	Blackhole = common.HexToAddress("0x0100000000000000000000000000000000000000")

	// emptyExtData is the hash of a C-Chain block without atomic transactions: Keccak-256 of RLP "".
	emptyExtData = crypto.Keccak256Hash([]byte{0x80})
)

// Header is a block header of the network's EVM since the Granite upgrade, with its fields in the order of the network's RLP. Only a
// C-Chain has ExtDataHash and ExtDataGasUsed, and the last six only a C-Chain's block since Helicon, whose root, receipts, bloom, base fee
// and gas used say nothing of its own execution: see ExecutionResults.
type Header struct {
	ParentHash       common.Hash
	UncleHash        common.Hash
	Coinbase         common.Address
	Root             common.Hash
	TxHash           common.Hash
	ReceiptHash      common.Hash
	Bloom            types.Bloom
	Difficulty       *big.Int
	Number           *big.Int
	GasLimit         uint64
	GasUsed          uint64
	Time             uint64
	Extra            []byte
	MixDigest        common.Hash
	Nonce            types.BlockNonce
	ExtDataHash      common.Hash
	BaseFee          *big.Int
	ExtDataGasUsed   *big.Int
	BlockGasCost     *big.Int
	BlobGasUsed      uint64
	ExcessBlobGas    uint64
	ParentBeaconRoot common.Hash
	TimeMilliseconds uint64
	MinDelayExcess   uint64

	TargetExponent      *uint64 `rlp:"optional"`
	MinPriceExponent    *uint64 `rlp:"optional"`
	SettledHeight       *uint64 `rlp:"optional"`
	SettledGasUnix      *uint64 `rlp:"optional"`
	SettledGasNumerator *uint64 `rlp:"optional"`
	SettledExcess       *uint64 `rlp:"optional"`
}

// Asynchronous reports whether the block was accepted before it was executed, as a C-Chain's blocks are since Helicon (ACP-194).
func (h *Header) Asynchronous() bool { return h.SettledHeight != nil }

// l1Header is a pointer to Header as subnet-evm encodes it, without the two fields for a C-Chain's atomic transactions.
var l1Header = func() reflect.Type {
	fields := reflect.VisibleFields(reflect.TypeFor[Header]())
	for i := range fields {
		if name := fields[i].Name; name == "ExtDataHash" || name == "ExtDataGasUsed" {
			fields[i].Tag = `rlp:"-"`
		}
	}
	return reflect.PointerTo(reflect.StructOf(fields))
}()

// encoded returns the header in the type whose RLP a kind of chain has.
func (h *Header) encoded(kind Kind) any {
	if kind == KindL1 {
		return reflect.ValueOf(h).Convert(l1Header).Interface()
	}
	return h
}

// Encode returns the RLP of the header; the block's hash is its Keccak-256.
func (h *Header) Encode(kind Kind) ([]byte, error) {
	return rlp.EncodeToBytes(h.encoded(kind))
}

// DecodeHeader decodes the RLP of a header.
func DecodeHeader(kind Kind, raw []byte) (*Header, error) {
	h := new(Header)
	if kind == KindL1 {
		h.ExtDataGasUsed = new(big.Int)
	}
	if err := rlp.DecodeBytes(raw, h.encoded(kind)); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	return h, nil
}

// nextHeader returns the part of a header that is known before its block executes.
func (h *Header) nextHeader(hash common.Hash, timeMS uint64) *Header {
	return &Header{
		ParentHash:       hash,
		UncleHash:        types.EmptyUncleHash,
		Coinbase:         Blackhole,
		Difficulty:       big.NewInt(1),
		Number:           new(big.Int).Add(h.Number, big.NewInt(1)),
		Time:             timeMS / millisPerSecond,
		ExtDataHash:      emptyExtData,
		ExtDataGasUsed:   new(big.Int),
		BlockGasCost:     new(big.Int),
		TimeMilliseconds: timeMS,
		MinDelayExcess:   h.MinDelayExcess,
	}
}
