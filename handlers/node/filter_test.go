package node

import (
	"cmp"
	"context"
	"encoding/json"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rpc"
)

// ask calls a method and returns its result as JSON, or its error.
func ask(t *testing.T, client *rpc.Client, method string, params ...any) string {
	t.Helper()
	var answer json.RawMessage
	if err := client.CallContext(t.Context(), &answer, method, params...); err != nil {
		return err.Error()
	}
	return string(answer)
}

func install(t *testing.T, client *rpc.Client, method string, params ...any) (id string) {
	t.Helper()
	if err := client.CallContext(t.Context(), &id, method, params...); err != nil {
		t.Fatal(err)
	}
	return id
}

// TestFilters creates one filter of each kind, adds a block and polls twice.
func TestFilters(t *testing.T) {
	w := newTestWorld(t)
	client := w.dial(t, w.server.URL+"/ext/bc/C/rpc").Client()
	blocks := install(t, client, "eth_newBlockFilter")
	pending := install(t, client, "eth_newPendingTransactionFilter")
	logs := install(t, client, "eth_newFilter", map[string]any{"address": w.c.counter(), "fromBlock": "0x0"})
	ended := install(t, client, "eth_newFilter", map[string]any{"fromBlock": "0x0", "toBlock": "0x5"})
	for _, id := range []string{blocks, pending, logs, ended} {
		if got := ask(t, client, "eth_getFilterChanges", id); got != "[]" {
			t.Errorf("before anything is new: %s", got)
		}
	}
	tx := w.c.send(&types.DynamicFeeTx{To: w.c.counter(), Data: []byte{0}})[0]
	head, err := w.c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ask(t, client, "eth_getFilterChanges", blocks), `["`+head.Hash.Hex()+`"]`; got != want {
		t.Errorf("new blocks %s, want %s", got, want)
	}
	if got, want := ask(t, client, "eth_getFilterChanges", pending), `["`+tx.Hash().Hex()+`"]`; got != want {
		t.Errorf("new transactions %s, want %s", got, want)
	}
	checkFilterLogs(t, client, logs, tx.Hash())
	for _, id := range []string{blocks, pending, logs, ended} {
		if got := ask(t, client, "eth_getFilterChanges", id); got != "[]" {
			t.Errorf("the second time: %s", got)
		}
	}
	checkUninstall(t, client, blocks)
}

// checkFilterLogs finds the one new log among the changes, and it and the three old ones among all.
func checkFilterLogs(t *testing.T, client *rpc.Client, id string, tx common.Hash) {
	t.Helper()
	for method, want := range map[string]int{"eth_getFilterChanges": 1, "eth_getFilterLogs": 4} {
		var found []types.Log
		if err := client.CallContext(t.Context(), &found, method, id); err != nil {
			t.Fatal(err)
		}
		if len(found) != want || found[len(found)-1].TxHash != tx {
			t.Errorf("%s: %v", method, found)
		}
	}
}

func checkUninstall(t *testing.T, client *rpc.Client, blocks string) {
	t.Helper()
	for _, c := range [][3]string{
		{"eth_getFilterLogs", blocks, "filter not found"}, // it is not about logs
		{"eth_uninstallFilter", blocks, "true"},
		{"eth_uninstallFilter", blocks, "false"},
		{"eth_getFilterChanges", blocks, "filter not found"},
		{"eth_getFilterChanges", "0x1", "filter not found"},
	} {
		if got := ask(t, client, c[0], c[1]); got != c[2] {
			t.Errorf("%s: %s, want %s", c[0], got, c[2])
		}
	}
}

// TestFiltersAreBounded creates more filters than are kept: the least recently polled one is gone.
func TestFiltersAreBounded(t *testing.T) {
	const maxFilters = 1_000
	w := newTestWorld(t)
	client := w.dial(t, w.server.URL+"/ext/bc/C/rpc").Client()
	var all []string
	for range maxFilters + 1 {
		all = append(all, install(t, client, "eth_newBlockFilter"))
	}
	if got := ask(t, client, "eth_getFilterChanges", all[0]); got != "filter not found" {
		t.Errorf("the first filter is kept: %s", got)
	}
	for _, id := range []string{all[1], all[maxFilters]} {
		if got := ask(t, client, "eth_getFilterChanges", id); got != "[]" {
			t.Errorf("one of the last %d filters: %s", maxFilters, got)
		}
	}
}

// TestLogRanges requests ranges of blocks, with the errors of coreth's eth/filters: Filter.Logs for searches, and SubscribeAcceptedLogs for
// subscriptions.
func TestLogRanges(t *testing.T) {
	w := newTestWorld(t)
	client := w.dial(t, w.server.URL+"/ext/bc/C/rpc").Client()
	const (
		searched = "invalid block range params"
		watched  = "invalid from and to block combination: from > to"
	)
	for _, c := range []struct{ from, to, search, filterLogs, watch string }{
		{"latest", "latest", "", "", ""}, {"0x2", "0x3", "", "", ""}, {"0x0", "latest", "", "", ""}, {"earliest", "pending", "", "", ""}, {"0x5", "0x5", "", "", ""},
		{"latest", "pending", "", "", ""}, {"pending", "pending", "", "", ""},
		{"pending", "latest", searched, "", watched}, {"pending", "0x5", searched, "", watched},
		{"latest", "0x1", "begin block 5 is greater than end block 1", "", watched}, {"0x2", "0x0", "begin block 2 is greater than end block 0", "", watched},
		{"0x3", "0x2", searched, "", watched}, {"latest", "0x5", "", "", watched},
		{"accepted", "latest", "", "", watched}, {"0x0", "finalized", "", "", watched}, {"safe", "pending", "", "", watched}, {"latest", "safe", "", "", watched},
		{"0x6", "latest", "requested from block 6 after last accepted block 5", "requested from block 6 after last accepted block 5", ""},
		{"0x0", "0x6", "requested to block 6 after last accepted block 5", "requested to block 6 after last accepted block 5", ""},
		{"0x7", "0x6", searched, "", watched},
	} {
		criteria := map[string]any{"fromBlock": c.from, "toBlock": c.to, "address": common.Address{1}}
		expect := func(method, want, answer string) {
			t.Helper()
			if answer != cmp.Or(want, "[]") {
				t.Errorf("%s from %s to %s: %s, want %s", method, c.from, c.to, answer, cmp.Or(want, "[]"))
			}
		}
		expect("eth_getLogs", c.search, ask(t, client, "eth_getLogs", criteria))
		if c.watch != "" {
			expect("eth_newFilter", c.watch, ask(t, client, "eth_newFilter", criteria))
			continue
		}
		id := install(t, client, "eth_newFilter", criteria)
		expect("eth_getFilterLogs", c.filterLogs, ask(t, client, "eth_getFilterLogs", id))
	}
}

// TestLogFiltersAreBounded names too many addresses and topics: the first is a wrong argument, the second only where logs are searched at once
// (coreth eth/filters.FilterCriteria.UnmarshalJSON and FilterAPI.GetLogs).
func TestLogFiltersAreBounded(t *testing.T) {
	w := newTestWorld(t)
	client := w.dial(t, w.server.URL+"/ext/bc/C/rpc").Client()
	const tooMany = "invalid argument 0: exceed max addresses"
	for _, method := range []string{"eth_getLogs", "eth_newFilter"} {
		if got := ask(t, client, method, map[string]any{"address": make([]common.Address, 1001)}); got != tooMany {
			t.Errorf("%s: %s, want %s", method, got, tooMany)
		}
	}
	five := map[string]any{"topics": make([]any, 5), "fromBlock": "0x0"}
	if got, want := ask(t, client, "eth_getLogs", five), "exceed max topics"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := ask(t, client, "eth_getFilterLogs", install(t, client, "eth_newFilter", five)); got != "[]" {
		t.Errorf("five topics select %s", got)
	}
	if got, want := ask(t, client, "eth_newFilter", map[string]any{"topics": []any{make([]common.Hash, 1001)}}), "query names more than 1000 topics"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestFullPendingFilter requests new transactions in full after a block has taken them.
func TestFullPendingFilter(t *testing.T) {
	w := newTestWorld(t)
	client := w.dial(t, w.server.URL+"/ext/bc/C/rpc").Client()
	id := install(t, client, "eth_newPendingTransactionFilter", true)
	sent := w.c.send(&types.DynamicFeeTx{To: w.c.counter(), Data: []byte{0}}, &types.DynamicFeeTx{To: w.c.counter(), Data: []byte{0}})
	var found []struct {
		Hash        common.Hash
		From        common.Address
		BlockNumber *string
	}
	if err := client.CallContext(t.Context(), &found, "eth_getFilterChanges", id); err != nil {
		t.Fatal(err)
	}
	if len(found) != 2 {
		t.Fatalf("%d transactions, want 2", len(found))
	}
	for i, tx := range found {
		if from, err := types.Sender(types.LatestSignerForChainID(sent[i].ChainId()), sent[i]); err != nil || tx.Hash != sent[i].Hash() || tx.From != from || tx.BlockNumber != nil {
			t.Errorf("%+v, %v, want %s of %s", tx, err, sent[i].Hash(), from)
		}
	}
}

// TestLogSubscriptionHasARange: of the logs of three blocks, the subscription gets those in its range.
func TestLogSubscriptionHasARange(t *testing.T) {
	w := newTestWorld(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	news := make(chan types.Log, 3)
	if _, err := w.socket(t).SubscribeFilterLogs(ctx, ethereum.FilterQuery{FromBlock: big.NewInt(7), ToBlock: big.NewInt(7)}, news); err != nil {
		t.Fatal(err)
	}
	every := make(chan types.Log, 3)
	if _, err := w.socket(t).SubscribeFilterLogs(ctx, ethereum.FilterQuery{}, every); err != nil {
		t.Fatal(err)
	}
	for want := uint64(6); want <= 8; want++ {
		w.c.send(&types.DynamicFeeTx{To: w.c.counter(), Data: []byte{0}})
		if got := await(t, ctx, every); got.BlockNumber != want {
			t.Errorf("a log of block %d, want %d", got.BlockNumber, want)
		}
	}
	if got := await(t, ctx, news); got.BlockNumber != 7 {
		t.Errorf("a log of block %d, want 7", got.BlockNumber)
	}
}
