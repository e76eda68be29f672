package warp_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/node/rpc/rpctest"
	api "snowglobe/handlers/node/warp"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/simtest"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/warp"
)

// node serves a chain's messages.
type node struct {
	*rpctest.Client
	network *sim.Network
	chain   *reader.Chain
}

func serve(t testing.TB, w *sim.World, c *reader.Chain) *node {
	t.Helper()
	n := w.NetworkOf(c)
	return &node{rpctest.Serve(t, rpc.New(rpc.Options{MaxBody: 1 << 20}, api.Namespaces(c, n)...)), n, c}
}

// sent is a message as the log of the precompile shows it.
type sent struct {
	id   ids.ID
	from []byte
}

// sent lists the messages that the chain sent.
func (n *node) sent() (all []sent) {
	n.Helper()
	err := n.network.DB.EachLogViewOfAddress(n.Context(), precompile.WarpAddress[:], store.First(n.chain.Row.ID), store.Last(n.chain.Row.ID), 1<<20, func(l *store.LogView) {
		all = append(all, sent{ids.ID(l.Topics[32:64]), bytes.Clone(l.Topics[12:32])})
	})
	if err != nil {
		n.Fatal(err)
	}
	return all
}

// genesis returns the id of the first block.
func (n *node) genesis() ids.ID {
	n.Helper()
	b, err := n.chain.Block(n.Context(), 0)
	if err != nil {
		n.Fatal(err)
	}
	return ids.ID(b.Hash)
}

func (n *node) bytes(method string, params ...any) []byte {
	n.Helper()
	return rpctest.Get[hexutil.Bytes](n.Client, method, params)
}

func (n *node) refuses(want, method string, params ...any) {
	n.Helper()
	if have, err := n.Ask(method, params); err == nil || !strings.HasPrefix(err.Error(), want) {
		n.Errorf("%s %v: %s %v, want %s", method, params, have, err, want)
	}
}

// signedByNode checks the node's own signature.
func (n *node) signedByNode(unsigned, signature []byte) {
	n.Helper()
	key, err := warp.ParsePublicKey(n.network.LocalNode.PublicKey)
	if err != nil {
		n.Fatal(err)
	}
	if s, err := warp.ParseSignature(signature); err != nil || !key.Verify(s, unsigned) {
		n.Errorf("%x is not the node's signature: %v", signature, err)
	}
}

// verify checks a message signed by a subnet's validators, and returns the share of the weight that signed, in percent.
func (n *node) verify(signed, unsigned []byte, subnet ids.ID, quorum uint64) uint64 {
	n.Helper()
	m, err := warp.ParseMessage(signed)
	if err != nil {
		n.Fatal(err)
	}
	height, err := n.network.PHeight(n.Context())
	if err != nil {
		n.Fatal(err)
	}
	set, err := n.network.CanonicalValidatorSet(n.Context(), subnet, height)
	if err != nil {
		n.Fatal(err)
	}
	if inside, err := m.UnsignedMessage.Bytes(); err != nil || !bytes.Equal(inside, unsigned) {
		n.Errorf("%x was signed, want %x: %v", inside, unsigned, err)
	}
	signers, err := m.Signature.Validators(set)
	if err != nil {
		n.Fatal(err)
	}
	weight := warp.SumWeight(signers)
	if err := m.Verify(n.network.Rules.NetworkID, set, 1, 1_000_000); err != nil {
		n.Errorf("%d validators of %s signed: %v", len(signers), subnet, err)
	}
	if least := signers[len(signers)-1].Weight; (weight-least)*100 >= set.TotalWeight*quorum && quorum > 0 {
		n.Errorf("%d of %d signed, %d percent were asked for, the last with %d", weight, set.TotalWeight, quorum, least)
	}
	return weight * 100 / set.TotalWeight
}

// TestMessages checks every message of every chain: its bytes hash to its id, the node signed it, and validators did.
func TestMessages(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	found, shares := 0, map[uint64]bool{}
	for _, c := range w.Chains {
		n := serve(t, w, c)
		for i, message := range n.sent() {
			unsigned := n.bytes("warp_getMessage", message.id)
			m, err := warp.ParseUnsigned(unsigned)
			if err != nil {
				t.Fatal(err)
			}
			sender, _, err := warp.ParseAddressedCall(m.Payload)
			if sha256.Sum256(unsigned) != message.id || m.SourceChainID != ids.ID(c.Row.BlockchainID) || m.NetworkID != n.network.Rules.NetworkID || err != nil || !bytes.Equal(sender, message.from) {
				t.Errorf("message %s is %+v of %x: %v", message.id, m, sender, err)
			}
			n.signedByNode(unsigned, n.bytes("warp_getMessageSignature", message.id))
			if found++; i > 2 {
				continue
			}
			own := ids.ID(c.Row.SubnetID)
			for _, quorum := range []uint64{0, 1, 33, 67, 100, 1000} {
				signed := n.bytes("warp_getMessageAggregateSignature", message.id, quorum, "")
				shares[n.verify(signed, unsigned, own, quorum)] = true
				if again := n.bytes("warp_getMessageAggregateSignature", message.id, quorum, own.String()); !bytes.Equal(again, signed) {
					t.Errorf("with its own subnet named, message %s is signed as %x, without %x", message.id, again, signed)
				}
				n.verify(n.bytes("warp_getMessageAggregateSignature", message.id, quorum, ids.Empty.String()), unsigned, ids.Empty, quorum)
			}
		}
	}
	if found == 0 || len(shares) < 3 {
		t.Errorf("%d messages were signed by %v of the weight", found, shares)
	}
}

// TestBlocks: validators sign that a block was accepted.
func TestBlocks(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	for _, c := range w.Chains {
		n := serve(t, w, c)
		for _, number := range []uint64{0, 7} {
			b, err := c.Block(t.Context(), number)
			if err != nil {
				t.Fatal(err)
			}
			id := ids.ID(b.Hash)
			payload, err := warp.HashPayload(id)
			if err != nil {
				t.Fatal(err)
			}
			m := warp.UnsignedMessage{NetworkID: n.network.Rules.NetworkID, SourceChainID: ids.ID(c.Row.BlockchainID), Payload: payload}
			unsigned, err := m.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			n.signedByNode(unsigned, n.bytes("warp_getBlockSignature", id))
			for _, quorum := range []uint64{1, 67} {
				n.verify(n.bytes("warp_getBlockAggregateSignature", id, quorum, ""), unsigned, ids.ID(c.Row.SubnetID), quorum)
				n.verify(n.bytes("warp_getBlockAggregateSignature", id, quorum, ids.Empty.String()), unsigned, ids.Empty, quorum)
			}
		}
	}
}

// TestRefusals has avalanchego's words for what cannot be signed.
func TestRefusals(t *testing.T) {
	w := seedtest.Copy(t, 1)
	n := serve(t, w, w.Chains[0])
	block, none := n.genesis(), ids.ID{9}
	const longest = 62 // characters, without the quotes
	for _, r := range []struct {
		want, method string
		params       []any
	}{
		{"-32000 failed to get message 11111111111111111111111111111111LpoYY with error not found", "warp_getMessage", []any{ids.Empty}},
		{"-32000 failed to get message 11111111111111111111111111111111LpoYY with error not found", "warp_getMessageSignature", []any{ids.Empty}},
		{"-32000 not found", "warp_getMessageAggregateSignature", []any{ids.Empty, 67, ""}},
		{"-32000 failed to get signature for block 11111111111111111111111111111111LpoYY with error failed to validate block message: 2: failed to get block 11111111111111111111111111111111LpoYY: not found", "warp_getBlockSignature", []any{ids.Empty}},
		{"-32000 not found", "warp_getBlockAggregateSignature", []any{ids.Empty, 67, ""}},
		{"-32000 cannot retrieve validator set: " + none.String() + " source subnet not found", "warp_getBlockAggregateSignature", []any{block, 67, none.String()}},
		{`-32000 failed to parse subnetID: "nope"`, "warp_getBlockAggregateSignature", []any{block, 67, "nope"}},
		{"-32602 invalid argument 0: couldn't decode ID", "warp_getMessage", []any{"0x12"}},
		{"-32602 invalid argument 0: couldn't decode ID to bytes: invalid input checksum", "warp_getMessage", []any{strings.Repeat("1", longest)}},
		{"-32602 invalid argument 0: couldn't decode ID to bytes: it has more than 64 characters", "warp_getMessage", []any{strings.Repeat("1", longest+1)}},
	} {
		n.refuses(r.want, r.method, r.params...)
	}
	key, err := txs.KeyFromBytes(simtest.PersonaKey(t, n.network, "alice"))
	if err != nil {
		t.Fatal(err)
	}
	owner := txs.NewOwner(key.Address())
	empty, err := txs.NewSigned(txs.PChain, &txs.CreateSubnetTx{BaseTx: *simtest.Payment(t, n.network, txs.PChain).Unsigned.Base(), Owner: &owner}, []*txs.Key{key})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.network.IssueP(t.Context(), empty); err != nil {
		t.Fatal(err)
	}
	height, err := n.network.PHeight(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n.refuses(fmt.Sprintf("-32000 cannot aggregate signatures from subnet with no validators (SubnetID: %s, Height: %d)", empty.ID(), height),
		"warp_getBlockAggregateSignature", block, 67, empty.ID().String())
	nodes, err := w.DB.Nodes(t.Context(), n.network.Rules.NetworkID)
	if err != nil {
		t.Fatal(err)
	}
	var silent []ids.NodeID
	for _, node := range nodes {
		silent = append(silent, ids.NodeID(node.Node))
	}
	n.network.Trouble.Set(sim.Troubles{NotSigning: silent})
	n.refuses("-32000 no signatures", "warp_getBlockAggregateSignature", block, 67, "")
	if all := api.Namespaces(n.chain, nil); all != nil {
		t.Errorf("without a network there are %v", all)
	}
}

// TestFailures: when a read of the file fails, so does the call; no part of an answer is made up.
func TestFailures(t *testing.T) {
	w := seedtest.Copy(t, 1)
	n := serve(t, w, w.Chains[0])
	message, block := n.sent()[0].id, n.genesis()
	for method, params := range map[string][]any{
		"getMessage": {message}, "getMessageSignature": {message}, "getMessageAggregateSignature": {message, 67, ""},
		"getBlockSignature": {block}, "getBlockAggregateSignature": {block, 67, ids.Empty.String()},
	} {
		rpctest.FailEach(t, w.DB, func() error { _, err := n.Ask("warp_"+method, params); return err })
	}
}
