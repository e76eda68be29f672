package eth

import (
	"errors"
	"strconv"
	"strings"
)

// Quantity accepts numbers in forms that clients of other networks write but a node of this one rejects: a JSON number, or a hexadecimal or
// decimal string.
type Quantity uint64

var errQuantity = errors.New("expected a number, or a text with one in decimal or as 0x and hexadecimal digits")

// UnmarshalJSON reads all these forms; null leaves the number unchanged.
func (q *Quantity) UnmarshalJSON(data []byte) error {
	text, base := strings.Trim(string(data), `"`), 10
	if text == "null" {
		return nil
	}
	if len(text) > 2 && (text[:2] == "0x" || text[:2] == "0X") {
		text, base = text[2:], 16
	}
	n, err := strconv.ParseUint(text, base, 64)
	if err != nil {
		return errQuantity
	}
	*q = Quantity(n)
	return nil
}
