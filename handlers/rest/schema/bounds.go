package schema

import (
	"fmt"
	"math/big"
)

// bounds is a number's range; a nil end is open.
type bounds struct{ least, most *big.Rat }

func readBounds(least, most string) (b bounds, err error) {
	if b.least, err = readBound(least); err != nil {
		return b, err
	}
	b.most, err = readBound(most)
	return b, err
}

func readBound(text string) (*big.Rat, error) {
	if text == "" {
		return nil, nil
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, fmt.Errorf("bound %q is not a number", text)
	}
	return n, nil
}

func (b bounds) holds(n *big.Rat) bool {
	return (b.least == nil || n.Cmp(b.least) >= 0) && (b.most == nil || n.Cmp(b.most) <= 0)
}

// String completes a phrase such as "an integer".
func (b bounds) String() string {
	switch {
	case b.least != nil && b.most != nil:
		return " from " + plain(b.least) + " to " + plain(b.most)
	case b.least != nil:
		return " of at least " + plain(b.least)
	case b.most != nil:
		return " of at most " + plain(b.most)
	}
	return ""
}

func plain(n *big.Rat) string {
	if n.IsInt() {
		return n.Num().String()
	}
	f, _ := n.Float64()
	return fmt.Sprint(f)
}

// Above reports whether a value is larger than another; values without an order are not.
func Above(value, other any) bool {
	v, o := ordered(value), ordered(other)
	return v != nil && o != nil && v.Cmp(o) > 0
}

// ordered returns the value of a parameter with an order, nil for an invalid one.
func ordered(value any) *big.Rat {
	switch n := value.(type) {
	case int64:
		return new(big.Rat).SetInt64(n)
	case *big.Int:
		return new(big.Rat).SetInt(n)
	case *big.Rat:
		return n
	}
	return nil
}
