package reader

import (
	"errors"
	"math"
	"testing"
)

// TestHistoryRange follows the cases of coreth's eth/gasprice.TestFeeHistory, whose chain has 32 blocks, and adds cases at the default limits.
func TestHistoryRange(t *testing.T) {
	number := func(n uint64) *uint64 { return &n }
	for _, c := range []struct {
		head, most, depth uint64
		r                 HistoryRange
		first, count      uint64
		err               error
	}{
		{32, 2048, 1000, HistoryRange{10, number(30), false}, 21, 10, nil},
		{32, 2048, 1000, HistoryRange{1_000_000_000, number(30), false}, 0, 31, nil},
		{32, 2048, 1000, HistoryRange{1_000_000_000, nil, false}, 0, 33, nil},
		{32, 2048, 1000, HistoryRange{10, number(40), false}, 0, 0, errBeyondHead},
		{32, 2048, 2, HistoryRange{100, nil, false}, 31, 2, nil},
		{32, 2048, 2, HistoryRange{100, number(32), false}, 31, 2, nil},
		{32, 2048, 1000, HistoryRange{1, nil, true}, 0, 0, nil},
		{32, 2048, 1000, HistoryRange{2, nil, true}, 32, 1, nil},
		{32, 2048, 10, HistoryRange{10, number(30), false}, 23, 8, nil},
		{32, 2048, 33, HistoryRange{1_000_000_000, number(10), false}, 0, 11, nil},
		{32, 2048, 2, HistoryRange{10, number(20), false}, 0, 0, errBeyondDepth},
		{32, 10, 30, HistoryRange{100, nil, false}, 23, 10, nil},
		{30_000, maxHistory, maxDepth, HistoryRange{math.MaxUint64, nil, true}, 27_954, 2_047, nil},
		{30_000, maxHistory, maxDepth, HistoryRange{1, number(5_000), false}, 0, 0, errBeyondDepth},
		{30_000, maxHistory, maxDepth, HistoryRange{10, number(5_001), false}, 5_001, 1, nil},
	} {
		first, last, err := c.r.resolve(c.head, c.most, c.depth)
		if count := last + 1 - first; !errors.Is(err, c.err) || err == nil && (count != c.count || count > 0 && first != c.first) {
			t.Errorf("%+v at %d: %d blocks from %d, %v; want %d from %d, %v", c.r, c.head, count, first, err, c.count, c.first, c.err)
		}
	}
}
