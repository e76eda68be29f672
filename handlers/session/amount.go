package session

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"

	"snowglobe/fixtures/session"
	"snowglobe/fixtures/worldfile"
)

const (
	weiDecimals  = 18
	gweiDecimals = 9
	nanoDecimals = 9 // of AVAX on P and X
)

// decimal writes a number of the smallest units.
func decimal(n *big.Int, decimals int) string {
	digits := n.String()
	if len(digits) <= decimals {
		digits = strings.Repeat("0", decimals+1-len(digits)) + digits
	}
	whole, fraction := digits[:len(digits)-decimals], strings.TrimRight(digits[len(digits)-decimals:], "0")
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

func gwei(n *big.Int) session.Amount {
	return session.Amount{Number: decimal(n, gweiDecimals), Unit: "gwei"}
}

// pack encodes the arguments of a call.
func pack(inputs abi.Arguments, args []session.Arg, resolve worldfile.Resolve) ([]byte, error) {
	if len(args) != len(inputs) {
		return nil, fmt.Errorf("expected %[2]d arguments, got %[1]d", len(args), len(inputs))
	}
	return worldfile.Pack(inputs, worldfile.ValueOf(args), resolve)
}
