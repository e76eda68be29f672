package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ava-labs/avalanchego/utils/formatting"
	"github.com/ava-labs/avalanchego/vms/proposervm/block"
	"github.com/ethereum/go-ethereum/common"

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

// askIndex calls a method of an index and decodes the response.
func askIndex[T any](t *testing.T, url, method, params string) (answer T, problem string) {
	t.Helper()
	var reply struct {
		Result json.RawMessage
		Error  *struct{ Message string }
	}
	body := send(t, "POST", url, `{"jsonrpc":"2.0","id":1,"method":"index.`+method+`","params":`+params+`}`)
	if err := json.Unmarshal([]byte(body), &reply); err != nil {
		t.Fatalf("%s: %v: %s", method, err, body)
	}
	if reply.Error != nil {
		return answer, reply.Error.Message
	}
	if err := json.Unmarshal(reply.Result, &answer); err != nil {
		t.Fatalf("%s: %v: %s", method, err, body)
	}
	return answer, ""
}

// everyContainer reads a whole index in ranges.
func everyContainer(t *testing.T, url string, size int) (all []container) {
	t.Helper()
	last, problem := askIndex[container](t, url, "getLastAccepted", `{"encoding":"hex"}`)
	if problem != "" {
		t.Fatal(problem)
	}
	for uint64(len(all)) <= last.Index {
		page, problem := askIndex[struct{ Containers []container }](t, url, "getContainerRange", fmt.Sprintf(`{"startIndex":%d,"numToFetch":%d}`, len(all), size))
		if problem != "" || len(page.Containers) == 0 {
			t.Fatalf("from %d: %q", len(all), problem)
		}
		all = append(all, page.Containers...)
	}
	if end := all[len(all)-1]; end != last {
		t.Errorf("%s: the last is %v, the last accepted %v", url, end.ID, last.ID)
	}
	for i, c := range all {
		if c.Index != uint64(i) {
			t.Fatalf("%s: the container at %d says %d", url, i, c.Index)
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
	w := seeded(t)
	url := serveSeeded(t, w, Options{})
	for _, n := range w.Networks {
		for name, chain := range map[string]txs.Chain{"P": txs.PChain, "X": txs.XChain} {
			id := ids.Empty
			if chain == txs.XChain {
				id = n.Rules.XChainID
			}
			at := url + "/" + n.Name + "/ext/index/" + name + "/block"
			all := everyContainer(t, at, 1000)
			for i, c := range all {
				row, err := w.DB.PrimaryBlock(t.Context(), n.Chain(chain), uint64(i+1))
				if err != nil {
					t.Fatal(err)
				}
				b, err := block.Parse(raw(t, c), id)
				if err != nil {
					t.Fatalf("%s %s: container %d: %v", n.Name, name, i, err)
				}
				checkContainer(t, w, row, b, c, chain)
			}
			head, err := w.DB.PrimaryHead(t.Context(), n.Chain(chain))
			if err != nil || uint64(len(all)) != head.ID.Number() {
				t.Errorf("%s %s: %d containers: %v", n.Name, name, len(all), err)
			}
		}
	}
}

func checkContainer(t *testing.T, w *sim.World, row *store.PrimaryBlock, b block.Block, c container, chain txs.Chain) {
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
	w := seeded(t)
	url := serveSeeded(t, w, Options{})
	n := w.Networks[0]
	all := everyContainer(t, url+"/ext/index/X/tx", 7)
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
	for i, b := range everyContainer(t, url+"/ext/index/C/block", 1024) {
		block, err := c.Block(t.Context(), uint64(i+1))
		if err != nil {
			t.Fatal(err)
		}
		if want, err := c.RawBlock(t.Context(), block); err != nil || common.Hash(b.ID) != block.Hash || !bytes.Equal(raw(t, b), want) {
			t.Fatalf("block %d is %s: %v", i+1, b.ID, err)
		}
	}
}

func TestIndexFindsWhatItHolds(t *testing.T) {
	url := serveSeeded(t, seeded(t), Options{}) + "/ext/index/"
	for _, name := range []string{"P/block", "X/block", "X/tx", "C/block"} {
		at := url + name
		last, _ := askIndex[container](t, at, "getLastAccepted", `{"encoding":"hex"}`)
		for _, index := range []uint64{0, last.Index / 2, last.Index} {
			c, problem := askIndex[container](t, at, "getContainerByIndex", fmt.Sprintf(`{"index":"%d","encoding":"hexnc"}`, index))
			if problem != "" || c.Index != index || c.Encoding != "hexnc" {
				t.Fatalf("%s: %d is %v %s", name, index, c, problem)
			}
			id := fmt.Sprintf(`{"id":%q,"encoding":"hexnc"}`, c.ID)
			if again, problem := askIndex[container](t, at, "getContainerByID", id); again != c {
				t.Errorf("%s: by id it is %v %s", name, again, problem)
			}
			if found, problem := askIndex[struct {
				Index uint64 `json:",string"`
			}](t, at, "getIndex", id); found.Index != index || problem != "" {
				t.Errorf("%s: the place of %d is %v %s", name, index, found, problem)
			}
			if a, problem := askIndex[struct{ IsAccepted bool }](t, at, "isAccepted", id); !a.IsAccepted || problem != "" {
				t.Errorf("%s: %d is not accepted %s", name, index, problem)
			}
		}
		unknown := fmt.Sprintf(`{"id":%q}`, ids.ID{1})
		for params, want := range map[string]string{
			"getContainerRange " + `{"startIndex":0,"numToFetch":0}`:                             "numToFetch must be in [1,1024] but is 0",
			"getContainerRange " + `{"startIndex":0,"numToFetch":1025}`:                          "numToFetch must be in [1,1024] but is 1025",
			"getContainerRange " + fmt.Sprintf(`{"startIndex":%d,"numToFetch":1}`, last.Index+1): fmt.Sprintf("start index (%d) > last accepted index (%d)", last.Index+1, last.Index),
			"getContainerByIndex " + fmt.Sprintf(`{"index":%d}`, last.Index+1):                   fmt.Sprintf("no container at index %d", last.Index+1),
			"getContainerByIndex " + `{"index":"18446744073709551615"}`:                          "no container at index 18446744073709551615",
			"getContainerByID " + unknown:                                                        "not found",
			"getIndex " + unknown:                                                                "not found",
		} {
			method, params, _ := strings.Cut(params, " ")
			if _, problem := askIndex[json.RawMessage](t, at, method, params); problem != want {
				t.Errorf("%s: %s %s: %q, want %q", name, method, params, problem, want)
			}
		}
		if a, problem := askIndex[struct{ IsAccepted bool }](t, at, "isAccepted", unknown); a.IsAccepted || problem != "" {
			t.Errorf("%s: an unknown id is accepted: %v %s", name, a, problem)
		}
	}
}
