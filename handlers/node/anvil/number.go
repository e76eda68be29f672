package anvil

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
)

var errNumber = errors.New("expected a number, in decimal or as 0x and hexadecimal digits")

// mostDigits is the number of digits in 256 bits, with some leading zeros: parsing takes time quadratic in the digits.
const mostDigits = 100

// number is a whole number of up to 256 bits in any form that test clients use: a JSON number, or a decimal or hexadecimal string.
type number struct{ big.Int }

func (n *number) UnmarshalJSON(data []byte) error {
	text := strings.Trim(string(data), `"`)
	base := 10
	if strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X") {
		text, base = text[2:], 16
	}
	if len(text) > mostDigits || strings.HasPrefix(text, "+") {
		return fmt.Errorf("%w, not %.*s", errNumber, mostDigits, data)
	}
	if _, ok := n.SetString(text, base); !ok || n.Sign() < 0 || n.BitLen() > 256 {
		return fmt.Errorf("%w, not %s", errNumber, data)
	}
	return nil
}

// upTo returns the number if it does not exceed a limit.
func (n *number) upTo(limit uint64, what string) (uint64, error) {
	if !n.IsUint64() || n.Uint64() > limit {
		return 0, fmt.Errorf("%s is %s: expected at most %d", what, n.String(), limit)
	}
	return n.Uint64(), nil
}

// mineOptions holds the parameter of evm_mine: a time, or an object with a time and a count.
type mineOptions struct {
	Timestamp *number `json:"timestamp"`
	Blocks    *number `json:"blocks"`
}

// UnmarshalJSON reads both forms.
func (o *mineOptions) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '{' {
		o.Timestamp = new(number)
		return o.Timestamp.UnmarshalJSON(data)
	}
	type plain mineOptions
	return json.Unmarshal(data, (*plain)(o))
}
