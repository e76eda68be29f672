package index

import (
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/store"
)

// TestTransferEvents recognises transfers of the three standards and their parties, and no other events.
func TestTransferEvents(t *testing.T) {
	word := func(b byte) []byte { return common.LeftPadBytes([]byte{b}, 32) }
	for name, c := range map[string]struct {
		topic, topics, data []byte
		shaped              bool
	}{
		"ERC-20":                 {eventTransfer, slices.Concat(word(1), word(2)), word(9), true},
		"ERC-721":                {eventTransfer, slices.Concat(word(1), word(2), word(7)), nil, true},
		"ERC-1155":               {eventTransferSingle, slices.Concat(word(5), word(1), word(2)), slices.Concat(word(7), word(1)), true},
		"ERC-1155 batch":         {eventTransferBatch, slices.Concat(word(5), word(1), word(2)), nil, true},
		"without indexes":        {eventTransfer, nil, slices.Concat(word(1), word(2), word(9)), false},
		"without an amount":      {eventTransfer, slices.Concat(word(1), word(2)), nil, false},
		"anonymous":              {[]byte{}, nil, nil, false},
		"another event of three": {eventURI, slices.Concat(word(1), word(2), word(7)), nil, false},
	} {
		l := &store.Log{Topic: c.topic, Topics: c.topics, Data: c.data}
		if shaped := IsTransfer(l); shaped != c.shaped {
			t.Errorf("%s: shaped like a transfer: %t", name, shaped)
		} else if shaped {
			if from, to := TransferParties(l); from[19] != 1 || to[19] != 2 {
				t.Errorf("%s: from %x to %x", name, from, to)
			}
		}
	}
}
