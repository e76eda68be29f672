package jsonrpc

import (
	"encoding/hex"

	"github.com/ava-labs/avalanchego/utils/formatting"
	"github.com/ava-labs/avalanchego/utils/json"
)

// Encoding is how bytes are written: hex, hexc, hexnc or json.
type Encoding = formatting.Encoding

// Numbers as the node's services write them: as strings, and read from strings or numbers.
type (
	Uint8   = json.Uint8
	Uint16  = json.Uint16
	Uint32  = json.Uint32
	Uint64  = json.Uint64
	Float32 = json.Float32
)

// Hex are bytes as the node's services write them: 0x and every digit, without a checksum; nothing is null.
type Hex []byte

// MarshalJSON writes them.
func (h Hex) MarshalJSON() ([]byte, error) {
	if h == nil {
		return []byte("null"), nil
	}
	return []byte(`"0x` + hex.EncodeToString(h) + `"`), nil
}

// NoArgs is for methods that take nothing.
type NoArgs struct{}
