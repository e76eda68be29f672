// Subscriptions to receipts, the log of requests and a strict node's subscriptions, each with a server in between.

package handlers_test

import (
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	ethrpc "github.com/ethereum/go-ethereum/rpc"

	"snowglobe/handlers"
	"snowglobe/sim/simtest"
)

// TestReceiptsAreSent subscribes to all receipts and to those of one transaction, and to the progress of synchronization.
func TestReceiptsAreSent(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	d := newDevnet(t, w, w.Networks[0].CChain())
	socket, err := ethrpc.DialWebsocket(t.Context(), d.rpc("ws", "ws"), "")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	nonce := d.nonce()
	awaited := d.sign(&types.DynamicFeeTx{Nonce: nonce + 1, To: &someone, Gas: 21_000}).Hash()
	all, one, syncing := make(chan json.RawMessage, 8), make(chan json.RawMessage, 8), make(chan bool, 8)
	for _, s := range []struct {
		to   any
		args []any
	}{
		{all, []any{"transactionReceipts"}}, {one, []any{"transactionReceipts", map[string]any{"transactionHashes": []common.Hash{awaited}}}}, {syncing, []any{"syncing"}},
	} {
		if _, err := socket.EthSubscribe(t.Context(), s.to, s.args...); err != nil {
			t.Fatal(err)
		}
	}
	if <-syncing {
		t.Error("the chain synchronizes")
	}
	for i := range uint64(2) {
		d.call(nil, "evm_mine") // a block without transactions sends nothing
		hash := d.mustSend(&types.DynamicFeeTx{Nonce: nonce + i, To: &someone, Gas: 21_000})
		want := "[" + d.text("eth_getTransactionReceipt", hash) + "]"
		if got := string(<-all); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		if hash == awaited {
			if got := string(<-one); got != want {
				t.Errorf("%s\nwant %s", got, want)
			}
		}
	}
	first, second := d.sign(&types.DynamicFeeTx{Nonce: nonce + 2, To: &someone}), d.sign(&types.DynamicFeeTx{Nonce: nonce + 3, To: &someone})
	if _, err := socket.EthSubscribe(t.Context(), one, "transactionReceipts", map[string]any{"transactionHashes": []common.Hash{second.Hash()}}); err != nil {
		t.Fatal(err)
	}
	d.call(nil, "evm_setAutomine", false)
	for _, tx := range []*types.Transaction{first, second} {
		if err := d.client.SendTransaction(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
	}
	d.call(nil, "evm_mine")
	alone := d.text("eth_getTransactionReceipt", second.Hash())
	if got, want := string(<-all), "["+d.text("eth_getTransactionReceipt", first.Hash())+","+alone+"]"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := string(<-one); got != "["+alone+"]" {
		t.Errorf("%s\nwant [%s]", got, alone)
	}
	if len(all)+len(one)+len(syncing) > 0 {
		t.Errorf("%d, %d and %d notifications too many", len(all), len(one), len(syncing))
	}
}

// TestLoggingIsTurnedOff turns the log of requests off and on again: in between, only failures are logged.
func TestLoggingIsTurnedOff(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	var written simtest.Log
	d := newDevnetWith(t, w, w.Networks[0].CChain(), handlers.Options{Network: "mainnet", Log: slog.New(slog.NewTextHandler(&written, nil))})
	logged := func() bool {
		before := len(written.String())
		d.call(nil, "eth_blockNumber")
		return strings.Contains(written.String()[before:], "eth_blockNumber")
	}
	if !logged() {
		t.Fatal("nothing is logged to begin with")
	}
	for _, method := range []string{"anvil_setLoggingEnabled", "hardhat_setLoggingEnabled"} {
		d.call(nil, method, false)
		d.call(nil, method, false)
		if logged() {
			t.Errorf("%s: it is logged all the same", method)
		}
		d.call(nil, method, true)
		if !logged() {
			t.Errorf("%s: it stays off", method)
		}
	}
}

// TestAStrictNodeHasFewerSubscriptions: subscriptions that only newer Ethereum nodes have are missing, like any method that the network doesn't have.
func TestAStrictNodeHasFewerSubscriptions(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(strictServer(t, true, "--strict"))
	defer s.Close()
	socket, err := ethrpc.DialWebsocket(t.Context(), strings.Replace(s.URL, "http", "ws", 1)+"/ext/bc/C/ws", "")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for name, want := range map[string]string{
		"newHeads": "", "transactionReceipts": `-32601 no "transactionReceipts" subscription in eth namespace`, "syncing": `-32601 no "syncing" subscription in eth namespace`,
	} {
		if _, err := socket.EthSubscribe(t.Context(), make(chan json.RawMessage, 1), name); codeOf(err) != want {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
