package main

import (
	"fmt"
	"math/big"
	"time"

	"github.com/ava-labs/libevm/common"
	"github.com/ava-labs/libevm/core/types"
	"github.com/ava-labs/libevm/crypto"
	"github.com/ava-labs/libevm/rlp"
)

// header is a C-Chain's header as the network encodes it.
type header struct {
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

// body is a whole block.
type body struct {
	Header  *header
	Txs     []*types.Transaction
	Uncles  []*header
	Version uint32
	ExtData []byte
}

func decode(raw []byte) (*body, common.Hash, error) {
	b := new(body)
	if err := rlp.DecodeBytes(raw, b); err != nil {
		return nil, common.Hash{}, err
	}
	encoded, err := rlp.EncodeToBytes(b.Header)
	if err != nil {
		return nil, common.Hash{}, err
	}
	if again, err := rlp.EncodeToBytes(b); err != nil || string(again) != string(raw) {
		return nil, common.Hash{}, fmt.Errorf("its bytes change when they are encoded again: %w", err)
	}
	return b, crypto.Keccak256Hash(encoded), nil
}

func (h *header) asynchronous() bool { return h.SettledHeight != nil }

func (h *header) time() time.Time { return time.UnixMilli(int64(h.TimeMilliseconds)) }
