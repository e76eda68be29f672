package jsonrpc

import (
	"encoding/hex"
	"math"

	"github.com/ava-labs/avalanchego/utils/formatting"
	"github.com/ava-labs/avalanchego/utils/json"
)

// Encoding names the encoding of bytes: hex, hexc, hexnc or json.
type Encoding = formatting.Encoding

// Numbers in the form of the node's services: written as strings, read from strings or numbers.
type (
	Uint8   = json.Uint8
	Uint16  = json.Uint16
	Uint32  = json.Uint32
	Uint64  = json.Uint64
	Float32 = json.Float32
)

// Saturated returns a sum, at most the largest number: the node's services show balances that overflow so.
func Saturated(sum Uint64, amount uint64) Uint64 {
	if amount > math.MaxUint64-uint64(sum) {
		return math.MaxUint64
	}
	return sum + Uint64(amount)
}

// Hex is bytes in the form of the node's services: 0x and every digit, without a checksum; nil is null.
type Hex []byte

func (h Hex) MarshalJSON() ([]byte, error) {
	if h == nil {
		return []byte("null"), nil
	}
	return []byte(`"0x` + hex.EncodeToString(h) + `"`), nil
}

// NoArgs holds the arguments of methods that take none.
type NoArgs struct{}
