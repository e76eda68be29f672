package evm

import (
	"testing"

	"snowglobe/sim/store"
)

// TestMarksHoldEveryPosition packs positions at the edges of what five bytes hold, and reads them back.
func TestMarksHoldEveryPosition(t *testing.T) {
	for _, c := range []struct {
		chain  int
		number uint64
		index  int
		bytes  int
	}{
		{0, 0, 0, 5}, {1, 2, 3, 5}, {15, 1<<24 - 1, 1<<12 - 1, 5},
		{16, 1<<24 - 1, 1<<12 - 1, 8}, {15, 1 << 24, 1<<12 - 1, 8}, {15, 1<<24 - 1, 1 << 12, 8},
		{63, store.MaxNumber, store.MaxIndex, 8}, {16, 0, 0, 8}, {0, 1 << 24, 0, 8}, {0, 0, 1 << 12, 8},
	} {
		p := store.At(c.chain, c.number, c.index)
		b := mark(p)
		if len(b) != c.bytes {
			t.Errorf("%+v takes %d bytes", c, len(b))
		}
		if have := unmark(b); have != p {
			t.Errorf("%+v comes back as %d/%d/%d", c, have.Chain(), have.Number(), have.Index())
		}
	}
}
