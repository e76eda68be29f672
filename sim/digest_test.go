package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"testing"

	"snowglobe/fixtures"
	"snowglobe/sim/store"
)

// TestDigestOfHeads writes out the digest by hand: the base, the clock, then EVM chains before primary ones, each by number, each value after its
// length.
func TestDigestOfHeads(t *testing.T) {
	all := heads{headKey{true, 3}: []byte("p3"), headKey{false, 9}: []byte("e9"), headKey{true, 1}: []byte("p1"), headKey{false, 2}: []byte("e2")}
	h := sha256.New()
	for _, text := range []string{"base", "1234", "false", "2", "e2", "false", "9", "e9", "true", "1", "p1", "true", "3", "p3"} {
		binary.Write(h, binary.BigEndian, uint32(len(text)))
		h.Write([]byte(text))
	}
	if got, want := fmt.Sprintf("%x", digestOf([]byte("base"), 1234, all)), fmt.Sprintf("%x", h.Sum(nil)); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	next := all.with(heads{headKey{true, 1}: []byte("new")})
	if string(next[headKey{true, 1}]) != "new" || string(all[headKey{true, 1}]) != "p1" || len(next) != len(all) {
		t.Errorf("with another digest: %v, before %v", next, all)
	}
}

// TestFitnessOfLocalNodes: the version counts least, a free role most.
func TestFitnessOfLocalNodes(t *testing.T) {
	for _, c := range []struct {
		node store.Node
		want int
	}{
		{store.Node{Role: "x"}, 0}, {store.Node{Role: "x", Version: fixtures.NodeSoftware}, 1}, {store.Node{Role: "x", Connected: true}, 2},
		{store.Node{}, 4}, {store.Node{Connected: true, Version: fixtures.NodeSoftware}, 7},
	} {
		if got := fitness(&c.node); got != c.want {
			t.Errorf("%+v has fitness %d, want %d", c.node, got, c.want)
		}
	}
}

// TestHowPeersAreSeen derives a local node's view of its peers from their ids alone.
func TestHowPeersAreSeen(t *testing.T) {
	n := &Network{LocalNode: LocalNode{Node: store.Node{Node: make([]byte, 20), Uptime: 991_234}}}
	ports, observed, contacts := map[bool]int{}, map[uint64]int{}, map[int64]int{}
	for i := range 200 {
		node := make([]byte, 20)
		node[0], node[1] = byte(i), byte(i>>4)
		peer := &store.Node{Node: node, IP: "10.0.0.1:9651"}
		at := RemoteAddress(peer)
		var port int
		if _, err := fmt.Sscanf(at, "10.0.0.1:%d", &port); err != nil || port != 9651 && (port < 32_768 || port >= 61_000) {
			t.Fatalf("a peer is seen at %s: %v", at, err)
		}
		ports[port == 9651]++
		observed[n.ObservedBy([20]byte(node))]++
		sent, received := SecondsSinceContact([20]byte(node))
		contacts[sent]++
		contacts[received]++
	}
	if ports[true] < 100 || ports[false] < 40 || len(observed) != 2 || observed[99] < 60 || observed[98] < 60 || len(contacts) != 5 || contacts[0] == 0 || contacts[4] == 0 {
		t.Errorf("ports %v, uptimes %v, contacts %v", ports, observed, contacts)
	}
	if at := RemoteAddress(&store.Node{Node: make([]byte, 20), IP: "nowhere"}); at != "nowhere" {
		t.Errorf("a peer without an address is seen at %s", at)
	}
	n.LocalNode.Uptime = 0
	if low := n.ObservedBy([20]byte{}); low > 1 {
		t.Errorf("a node that is never up is seen up for %d", low)
	}
}
