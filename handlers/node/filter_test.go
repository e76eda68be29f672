package node

import (
	"encoding/json"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rpc"
)

// ask calls a method and answers its result as JSON, or its error.
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

// TestFilters leaves one filter of each kind, adds a block and asks what is new, twice.
func TestFilters(t *testing.T) {
	w := newTestWorld(t)
	client := w.dial(t, w.server.URL+"/ext/bc/C/rpc").Client()
	blocks := install(t, client, "eth_newBlockFilter")
	pending := install(t, client, "eth_newPendingTransactionFilter")
	logs := install(t, client, "eth_newFilter", map[string]any{"address": w.c.counter(), "fromBlock": "0x0"})
	ended := install(t, client, "eth_newFilter", map[string]any{"toBlock": "0x5"})
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

// TestFiltersAreBounded leaves more filters than are kept: the first, which was not asked for the longest, is gone.
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
