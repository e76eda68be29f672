package webhook

import (
	"bytes"
	"slices"
	"testing"

	"snowglobe/sim/store"
)

// TestParticipants reports each participant of a transaction once, but not those called in an undone part, nor other transactions' participants.
func TestParticipants(t *testing.T) {
	address := func(n byte) []byte { return bytes.Repeat([]byte{n}, 20) }
	tx := &store.Transaction{ID: store.At(1, 7, 2), Sender: address(1), Recipient: address(9)}
	d := &store.Delta{
		Logs:      []store.Log{{Tx: 2, Address: address(2)}, {Tx: 1, Address: address(50)}},
		Transfers: []store.Transfer{{Tx: 2, Sender: address(3), Recipient: address(1)}, {Tx: 3, Sender: address(51), Recipient: address(52)}},
		Calls: []store.Call{
			{Tx: 2, Sender: address(9), Recipient: address(4)}, {Tx: 2, Sender: address(9), Recipient: address(53), Reverted: true}, {Tx: 0, Sender: address(54), Recipient: address(55)},
		},
		Called: []store.Called{{Tx: 2, Address: [20]byte(address(5))}, {Tx: 1, Address: [20]byte(address(56))}},
	}
	d.Called = []store.Called{{Tx: 2, Address: [20]byte(address(5))}, {Tx: 1, Address: [20]byte(address(56))}}
	var want [][]byte
	for _, n := range []byte{1, 2, 3, 4, 5, 9} {
		want = append(want, address(n))
	}
	if got := Participants(d, tx); !slices.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("%x", got)
	}
	tx.Recipient, tx.Created = nil, address(60)
	if got := Participants(&store.Delta{}, tx); !slices.EqualFunc(got, [][]byte{address(1), address(60)}, bytes.Equal) {
		t.Errorf("of a deployment %x", got)
	}
}
