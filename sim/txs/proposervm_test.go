package txs

import (
	"bytes"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/staking"
	"github.com/ava-labs/avalanchego/vms/proposervm/block"
	"github.com/ethereum/go-ethereum/common"
)

// TestEnvelopesAreThoseOfTheProposerVM gives envelopes to avalanchego's own package, which checks their signatures, and builds the same ones with
// it. An indexer that unpacks the blocks of a node sees these ids, heights and proposers.
func TestEnvelopesAreThoseOfTheProposerVM(t *testing.T) {
	key := StakingKey([]byte("a node"))
	certificate, err := StakingCertificate(key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := staking.ParseCertificate(certificate)
	if err != nil {
		t.Fatal(err)
	}
	chain, inner := ids.ID{7}, []byte("a block of the chain")
	e := &ProposerBlock{ParentID: ids.ID{1, 2, 3}, Time: 1_790_000_123, PHeight: 456, Epoch: Epoch{PHeight: 450, Number: 9, Start: 1_790_000_000}, Certificate: certificate}
	raw, err := e.Bytes(inner, chain, key)
	if err != nil {
		t.Fatal(err)
	}
	got, err := block.Parse(raw, chain)
	if err != nil {
		t.Fatal(err)
	}
	epoch := block.Epoch{PChainHeight: 450, Number: 9, StartTime: 1_790_000_000}
	want, err := block.Build(e.ParentID, time.Unix(1_790_000_123, 0), 456, epoch, parsed, inner, chain, key)
	if err != nil {
		t.Fatal(err)
	}
	signed := got.(block.SignedBlock)
	if got.ID() != want.ID() || e.ID(inner) != want.ID() {
		t.Errorf("id %s, also given as %s, want %s", got.ID(), e.ID(inner), want.ID())
	}
	if got.ParentID() != e.ParentID || !bytes.Equal(got.Block(), inner) || signed.PChainHeight() != 456 || signed.PChainEpoch() != epoch || signed.Timestamp().Unix() != 1_790_000_123 {
		t.Errorf("the envelope is read as %+v", got)
	}
	if node := NodeIDOf(certificate); signed.Proposer() != node {
		t.Errorf("proposed by %s, want %s", signed.Proposer(), node)
	}
	if _, err := block.Parse(raw, ids.ID{8}); err == nil {
		t.Error("the signature is valid on another chain")
	}

	option := &ProposerBlock{ParentID: ids.ID{1, 2, 3}}
	wantOption, err := block.BuildOption(option.ParentID, inner)
	if err != nil {
		t.Fatal(err)
	}
	raw, err = option.Bytes(inner, chain, nil)
	if err != nil || !bytes.Equal(raw, wantOption.Bytes()) || option.ID(inner) != wantOption.ID() {
		t.Errorf("an option is %x, %v; want %x", raw, err, wantOption.Bytes())
	}
}

// TestKeysOfNodesStayTheSame: a world that is made again has the same node ids.
func TestKeysOfNodesStayTheSame(t *testing.T) {
	node := func(secret string) ids.NodeID {
		certificate, err := StakingCertificate(StakingKey([]byte(secret)))
		if err != nil {
			t.Fatal(err)
		}
		return NodeIDOf(certificate)
	}
	recorded := readVectors(t).NodeID
	if id := NodeIDOf(common.FromHex(recorded.Certificate)); id.String() != recorded.NodeID {
		t.Errorf("the recorded certificate is of %s, want %s", id, recorded.NodeID)
	}
	for secret, want := range map[string]string{"a": "NodeID-Lj3QavJj8fhY35uWiP3sxUkkcyQh2Z4tS", "b": "NodeID-9EAcoJFqrLK77oTirKYKmiUxrxNZ8Yp96"} {
		if got := node(secret); got.String() != want {
			t.Errorf("the node of %s is %s, want %s", secret, got, want)
		}
	}
}

// TestEpochsOfACP181 follows a chain of blocks: an epoch of five minutes ends with the first block after them, whose time and P-Chain height begin
// the next. The view of the validators of all L1s changes only with the epoch.
func TestEpochsOfACP181(t *testing.T) {
	const start = 1_763_568_000
	var epoch Epoch
	for _, c := range []struct {
		pHeight, time uint64 // of the previous block
		want          Epoch
	}{
		{100, start, Epoch{100, 1, start}},
		{101, start, Epoch{100, 1, start}},
		{102, start + 1, Epoch{100, 1, start}},
		{103, start + 299, Epoch{100, 1, start}},
		{104, start + 300, Epoch{104, 2, start + 300}},
		{105, start + 301, Epoch{104, 2, start + 300}},
		{106, start + 599, Epoch{104, 2, start + 300}},
		{107, start + 5000, Epoch{107, 3, start + 5000}},
		{108, start + 5299, Epoch{107, 3, start + 5000}},
		{108, start + 5301, Epoch{108, 4, start + 5301}},
	} {
		if epoch = epoch.Next(c.pHeight, c.time); epoch != c.want {
			t.Errorf("after a block with height %d %d seconds later: %+v, want %+v", c.pHeight, c.time-start, epoch, c.want)
		}
	}
	if first := (Epoch{}).Next(5, 299); first != (Epoch{5, 1, 299}) { // there is no epoch before it that could go on
		t.Errorf("the first epoch is %+v", first)
	}
}
