package session

import (
	"reflect"

	"github.com/ava-labs/avalanchego/utils/formatting"
	"github.com/ethereum/go-ethereum/accounts/abi"

	"snowglobe/fixtures/session"
)

var emptyABI abi.ABI

func valueOf(v any) reflect.Value { return reflect.ValueOf(v) }

func argsOf(all ...session.Arg) []session.Arg { return all }

// hexChecked writes bytes as clients issue them, with a checksum.
func hexChecked(b []byte) string {
	text, _ := formatting.Encode(formatting.Hex, b) // which fails for bytes that are too long only
	return text
}
