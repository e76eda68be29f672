package consensus_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"
	"github.com/ava-labs/avalanchego/vms/proposervm/block"
	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/node/consensus"
	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/node/rpc/rpctest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

type container struct {
	ID        ids.ID    `json:"id"`
	Bytes     string    `json:"bytes"`
	Timestamp time.Time `json:"timestamp"`
	Encoding  string    `json:"encoding"`
	Index     uint64    `json:"index,string"`
}

type object = rpctest.Object

// serve serves the index of what a chain accepted.
func serve(t *testing.T, accepted consensus.Accepted) *rpctest.Client {
	t.Helper()
	return rpctest.New(t, rpc.Service{Name: "index", Methods: consensus.NewIndex(accepted)})
}

// indexes serves every index of a network, by name.
func indexes(t *testing.T, n *sim.Network) map[string]*rpctest.Client {
	t.Helper()
	return map[string]*rpctest.Client{
		"P/block": serve(t, consensus.NewPrimaryBlocks(n, txs.PChain)), "X/block": serve(t, consensus.NewPrimaryBlocks(n, txs.XChain)),
		"X/tx": serve(t, consensus.NewTransactions(n)), "C/block": serve(t, consensus.NewEVMBlocks(n.CChain())),
	}
}

// everyContainer reads a whole index in ranges.
func everyContainer(x *rpctest.Client, size int) (all []container) {
	x.Helper()
	last := rpctest.Get[container](x, "index.getLastAccepted", object{"encoding": "hex"})
	for uint64(len(all)) <= last.Index {
		page := rpctest.Get[struct{ Containers []container }](x, "index.getContainerRange", object{"startIndex": len(all), "numToFetch": size, "encoding": "hex"})
		if n := len(page.Containers); n != min(size, int(last.Index)+1-len(all)) {
			x.Fatalf("from %d on there are %d", len(all), n)
		}
		all = append(all, page.Containers...)
	}
	if end := all[len(all)-1]; end != last {
		x.Errorf("the last is %v, the last accepted %v", end.ID, last.ID)
	}
	for i, c := range all {
		if c.Index != uint64(i) {
			x.Fatalf("the container at %d says %d", i, c.Index)
		}
	}
	return all
}

func raw(t *testing.T, c container) []byte {
	t.Helper()
	b, err := formatting.Decode(formatting.Hex, c.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestIndexHoldsTheBlocksThatConsensusAccepted parses every container with avalanchego's own ProposerVM, which verifies the signer, and
// compares the block inside with the chain.
func TestIndexHoldsTheBlocksThatConsensusAccepted(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	for _, n := range w.Networks {
		for name, chain := range map[string]txs.Chain{"P": txs.PChain, "X": txs.XChain} {
			id := ids.Empty
			if chain == txs.XChain {
				id = n.Rules.XChainID
			}
			all := everyContainer(serve(t, consensus.NewPrimaryBlocks(n, chain)), 1000)
			for i, c := range all {
				row, err := w.DB.PrimaryBlock(t.Context(), n.Chain(chain), uint64(i+1))
				if err != nil {
					t.Fatal(err)
				}
				b, err := block.Parse(raw(t, c), id)
				if err != nil {
					t.Fatalf("%s %s: container %d: %v", n.Name, name, i, err)
				}
				checkContainer(t, row, b, c, chain)
			}
			head, err := w.DB.PrimaryHead(t.Context(), n.Chain(chain))
			if err != nil || uint64(len(all)) != head.ID.Number() {
				t.Errorf("%s %s: %d containers: %v", n.Name, name, len(all), err)
			}
		}
	}
}

func checkContainer(t *testing.T, row *store.PrimaryBlock, b block.Block, c container, chain txs.Chain) {
	t.Helper()
	inner, err := txs.ParseBlock(chain, b.Block())
	if err != nil {
		t.Fatal(err)
	}
	if c.ID != b.ID() || b.ParentID() != ids.ID(row.OuterParent) || inner.ID() != ids.ID(row.Hash) || c.Timestamp.Unix() != row.Time {
		t.Errorf("container %s at %v has the block %s, want %x", c.ID, c.Timestamp, inner.ID(), row.Hash)
	}
	if signed, is := b.(block.SignedBlock); is == (row.Proposer == nil) || is && !bytes.Equal(signed.Proposer().Bytes(), row.Proposer) {
		t.Errorf("container %s is not of %x", c.ID, row.Proposer)
	}
}

func TestIndexHoldsTransactionsAndEVMBlocks(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	n := w.Networks[0]
	all := everyContainer(serve(t, consensus.NewTransactions(n)), 7)
	rows, err := w.DB.PrimaryTxsBetween(t.Context(), store.At(n.Chain(txs.XChain), 1, 0), store.Last(n.Chain(txs.XChain)))
	if err != nil || len(rows) != len(all) {
		t.Fatalf("%d transactions, want %d: %v", len(all), len(rows), err)
	}
	for i, c := range all {
		if c.ID != ids.ID(rows[i].Hash) || !bytes.Equal(raw(t, c), rows[i].Bytes) {
			t.Errorf("transaction %d is %s", i, c.ID)
		}
	}
	c := w.Chains[0]
	for i, b := range everyContainer(serve(t, consensus.NewEVMBlocks(c)), 1024) {
		block, err := c.Block(t.Context(), uint64(i+1))
		if err != nil {
			t.Fatal(err)
		}
		if want, err := c.RawBlock(t.Context(), block); err != nil || common.Hash(b.ID) != block.Hash || !bytes.Equal(raw(t, b), want) {
			t.Fatalf("block %d is %s: %v", i+1, b.ID, err)
		}
	}
}

// TestIndexFindsWhatItHolds looks up every container of every index by its id, and what no index has.
func TestIndexFindsWhatItHolds(t *testing.T) {
	for name, x := range indexes(t, seedtest.Shared(t, "tiny", 1).Networks[0]) {
		all := everyContainer(x, 1024)
		for i, c := range all {
			if i > 40 && i < len(all)-40 {
				continue
			}
			id := object{"id": c.ID, "encoding": "hex"}
			x.Want(object{"index": fmt.Sprint(i)}, "index.getIndex", id)
			x.Want(object{"isAccepted": true}, "index.isAccepted", id)
			x.Want(c, "index.getContainerByID", id)
			x.Want(c, "index.getContainerByIndex", object{"index": i, "encoding": "hex"})
			bare := c
			bare.Encoding, bare.Bytes = "hexnc", fmt.Sprintf("0x%x", raw(t, c))
			x.Want(bare, "index.getContainerByIndex", object{"index": fmt.Sprint(i), "encoding": "hexnc"})
			x.Want(object{"containers": []container{bare}}, "index.getContainerRange", object{"startIndex": i, "numToFetch": 1, "encoding": "hexnc"})
		}
		last := len(all) - 1
		x.Want(object{"containers": all[last-2:]}, "index.getContainerRange", object{"startIndex": last - 2, "numToFetch": 1024, "encoding": "hex"})
		for _, r := range []struct {
			want, method string
			args         object
		}{
			{"numToFetch must be in [1,1024] but is 0", "getContainerRange", object{"startIndex": 0, "numToFetch": 0}},
			{"numToFetch must be in [1,1024] but is 1025", "getContainerRange", object{"startIndex": 0, "numToFetch": 1025}},
			{"numToFetch must be in [1,1024] but is 4294967297", "getContainerRange", object{"startIndex": 0, "numToFetch": 1<<32 + 1}},
			{fmt.Sprintf("start index (%d) > last accepted index (%d)", last+1, last), "getContainerRange", object{"startIndex": last + 1, "numToFetch": 1}},
			{fmt.Sprintf("no container at index %d", last+1), "getContainerByIndex", object{"index": last + 1}},
			{"no container at index 18446744073709551615", "getContainerByIndex", object{"index": "18446744073709551615"}},
			{"not found", "getContainerByID", object{"id": ids.ID{1}}},
			{"not found", "getIndex", object{"id": ids.ID{1}}},
		} {
			x.Refuses(r.want, "index."+r.method, r.args)
		}
		if x.Want(object{"isAccepted": false}, "index.isAccepted", object{"id": ids.ID{1}}); last < 30 {
			t.Errorf("%s has only %d containers", name, last)
		}
	}
}

// TestTheGenesisIsInNoIndex: consensus never accepted it.
func TestTheGenesisIsInNoIndex(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	n := w.Networks[0]
	all := indexes(t, n)
	for name, chain := range map[string]txs.Chain{"P/block": txs.PChain, "X/block": txs.XChain} {
		genesis, err := w.DB.PrimaryBlock(t.Context(), n.Chain(chain), 0)
		if err != nil {
			t.Fatal(err)
		}
		all[name].Want(object{"isAccepted": false}, "index.isAccepted", object{"id": ids.ID(genesis.Hash)})
	}
	genesis, err := n.CChain().Block(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	all["C/block"].Want(object{"isAccepted": false}, "index.isAccepted", object{"id": ids.ID(genesis.Hash)})
	first, err := w.DB.PrimaryBlock(t.Context(), n.Chain(txs.XChain), 0)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := w.DB.PrimaryTxs(t.Context(), first.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) == 0 {
		t.Error("no transaction created an asset of the genesis")
	}
	for _, row := range rows {
		all["X/tx"].Want(object{"isAccepted": false}, "index.isAccepted", object{"id": ids.ID(row.Hash)})
		all["X/tx"].Refuses("not found", "index.getIndex", object{"id": ids.ID(row.Hash)})
	}
}

// TestRanges: a range ends with what was accepted.
func TestRanges(t *testing.T) {
	n := seedtest.Shared(t, "tiny", 1).Networks[0]
	for _, accepted := range []consensus.Accepted{consensus.NewPrimaryBlocks(n, txs.PChain), consensus.NewPrimaryBlocks(n, txs.XChain), consensus.NewTransactions(n)} {
		count, err := accepted.Count(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for first, want := range map[uint64]int{0: int(count), count - 3: 3, count: 0, count + 1: 0} {
			if found, err := accepted.Range(t.Context(), first, count+5); len(found) != want || err != nil {
				t.Errorf("from %d of %d on there are %d: %v", first, count, len(found), err)
			}
		}
	}
}

// nothing is accepted yet.
type nothing struct{ consensus.Accepted }

func (nothing) Count(context.Context) (uint64, error) { return 0, nil }

// TestNothingAccepted has avalanchego's words for a chain that is at its genesis.
func TestNothingAccepted(t *testing.T) {
	x := serve(t, nothing{})
	x.Refuses("no containers have been accepted", "index.getLastAccepted", object{})
	x.Refuses("no containers have been accepted", "index.getContainerRange", object{"startIndex": 0, "numToFetch": 1})
	x.Refuses("no container at index 0", "index.getContainerByIndex", object{"index": 0})
}

// TestFailures: when a read of the file fails, so does the call; no part of an answer is made up.
func TestFailures(t *testing.T) {
	w := seedtest.Copy(t, 1)
	for _, x := range indexes(t, w.Networks[0]) {
		c := rpctest.Get[container](x, "index.getContainerByIndex", object{"index": 3})
		for method, args := range map[string]object{
			"getContainerRange": {"startIndex": 2, "numToFetch": 9}, "getContainerByIndex": {"index": 3}, "getContainerByID": {"id": c.ID}, "getIndex": {"id": c.ID}, "isAccepted": {"id": c.ID},
		} {
			rpctest.FailEach(t, w.DB, func() error { _, err := x.Ask("index."+method, args); return err })
		}
	}
	for name, vm := range proposerVMs(t, w.Networks[0]) {
		t.Run(name, func(t *testing.T) {
			rpctest.FailEach(t, w.DB, func() error { _, err := vm.Ask("proposervm.getCurrentEpoch", nil); return err })
			rpctest.FailEach(t, w.DB, func() error { _, err := vm.Ask("proposervm.getProposedHeight", nil); return err })
		})
	}
}
