package node

import (
	"context"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/ethereum/go-ethereum/trie"
)

func (w *testWorld) dial(t *testing.T, url string) *ethclient.Client {
	client, err := ethclient.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func (w *testWorld) socket(t *testing.T) *ethclient.Client {
	return w.dial(t, "ws"+strings.TrimPrefix(w.server.URL, "http")+"/ext/bc/C/ws")
}

// TestClientWalksChain reads the chain from first to last over both transports, recomputes all that a client can, and compares the logs of the whole
// chain with those in the receipts.
func TestClientWalksChain(t *testing.T) {
	w := newTestWorld(t)
	for _, client := range []*ethclient.Client{w.dial(t, w.server.URL+"/ext/bc/C/rpc"), w.socket(t)} {
		head, err := client.BlockNumber(t.Context())
		if err != nil || head != 5 {
			t.Fatal(head, err)
		}
		var logs []types.Log
		for number := uint64(0); number <= head; number++ {
			logs = append(logs, checkBlock(t, client, number)...)
		}
		found, err := client.FilterLogs(t.Context(), ethereum.FilterQuery{FromBlock: new(big.Int)})
		if err != nil || len(found) != len(logs) || len(logs) == 0 {
			t.Fatalf("%d logs, receipts have %d: %v", len(found), len(logs), err)
		}
		for i := range logs {
			if found[i].TxHash != logs[i].TxHash || found[i].Index != logs[i].Index || found[i].BlockHash != logs[i].BlockHash {
				t.Errorf("log %d: %+v, receipt has %+v", i, found[i], logs[i])
			}
		}
	}
}

func checkBlock(t *testing.T, client *ethclient.Client, number uint64) (logs []types.Log) {
	t.Helper()
	block, err := client.BlockByNumber(t.Context(), new(big.Int).SetUint64(number))
	if err != nil {
		t.Fatal(err)
	}
	if root := types.DeriveSha(block.Transactions(), trie.NewStackTrie(nil)); root != block.TxHash() {
		t.Errorf("block %d: transactions hash to %s", number, root)
	}
	var receipts types.Receipts
	for i, tx := range block.Transactions() {
		receipt, err := client.TransactionReceipt(t.Context(), tx.Hash())
		if err != nil || receipt.TransactionIndex != uint(i) {
			t.Fatal(receipt, err)
		}
		receipts = append(receipts, receipt)
		for _, log := range receipt.Logs {
			logs = append(logs, *log)
		}
	}
	if root := types.DeriveSha(receipts, trie.NewStackTrie(nil)); root != block.ReceiptHash() {
		t.Errorf("block %d: receipts hash to %s", number, root)
	}
	return logs
}

// TestRawHeaderHashes recomputes every block's hash from its bytes, and finds the parent's hash in it.
func TestRawHeaderHashes(t *testing.T) {
	w := newTestWorld(t)
	client := w.dial(t, w.server.URL+"/ext/bc/C/rpc").Client()
	var parent common.Hash
	for _, number := range []string{"0x0", "0x1", "0x2", "0x3", "0x4", "0x5"} {
		var header struct{ Hash, ParentHash common.Hash }
		var raw string
		if err := client.CallContext(t.Context(), &header, "eth_getHeaderByNumber", number); err != nil {
			t.Fatal(err)
		}
		if err := client.CallContext(t.Context(), &raw, "debug_getRawHeader", number); err != nil {
			t.Fatal(err)
		}
		if hash := crypto.Keccak256Hash(common.FromHex(raw)); hash != header.Hash || header.ParentHash != parent {
			t.Errorf("block %s: hash %s, says %s on %s", number, hash, header.Hash, header.ParentHash)
		}
		parent = header.Hash
	}
}

// TestSubscriptions commits a block and waits for every kind of notification about it.
func TestSubscriptions(t *testing.T) {
	w := newTestWorld(t)
	client := w.socket(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	heads, logs, hashes := make(chan *types.Header, 4), make(chan types.Log, 4), make(chan common.Hash, 4)
	full := make(chan *types.Transaction, 4)
	subscribe := func(_ ethereum.Subscription, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	subscribe(client.SubscribeNewHead(ctx, heads))
	subscribe(client.SubscribeFilterLogs(ctx, ethereum.FilterQuery{Addresses: []common.Address{*w.c.counter()}}, logs))
	subscribe(client.Client().EthSubscribe(ctx, hashes, "newAcceptedTransactions"))
	subscribe(client.Client().EthSubscribe(ctx, full, "newPendingTransactions", true))
	transactions := w.c.send(&types.DynamicFeeTx{To: w.c.counter(), Data: []byte{0}}, &types.DynamicFeeTx{To: w.c.counter(), Data: []byte{0}})
	for range transactions {
		if log := await(t, ctx, logs); log.BlockNumber != 6 || !slices.Contains([]common.Hash{transactions[0].Hash(), transactions[1].Hash()}, log.TxHash) {
			t.Errorf("log %+v", log)
		}
	}
	if head := await(t, ctx, heads); head.Number.Uint64() != 6 {
		t.Errorf("head %d", head.Number)
	}
	for _, tx := range transactions {
		if hash, whole := await(t, ctx, hashes), await(t, ctx, full); hash != tx.Hash() || whole.Hash() != tx.Hash() {
			t.Errorf("accepted %s and %s, want %s", hash, whole.Hash(), tx.Hash())
		}
	}
}

func await[T any](t *testing.T, ctx context.Context, news <-chan T) T {
	t.Helper()
	select {
	case one := <-news:
		return one
	case <-ctx.Done():
		t.Fatal("no news")
		panic("unreachable")
	}
}

// TestSubscriptionErrors asks for impossible subscriptions.
func TestSubscriptionErrors(t *testing.T) {
	w := newTestWorld(t)
	client := w.socket(t).Client()
	for _, c := range []struct {
		params []any
		want   string
	}{
		{[]any{"transactionReceipts", map[string]any{"transactionHashes": make([]common.Hash, 201)}},
			"exceed max number of transaction hashes allowed per transactionReceipts subscription: at most 200"},
		{[]any{"nope"}, `no "nope" subscription in eth namespace`},
		{[]any{}, "expected subscription name as first argument"},
		{[]any{"logs", map[string]any{"fromBlock": "0x5", "toBlock": "0x4"}}, "invalid from and to block combination: from > to"},
	} {
		var id string
		if err := client.CallContext(t.Context(), &id, "eth_subscribe", c.params...); err == nil || err.Error() != c.want {
			t.Errorf("%v: %v, want %s", c.params, err, c.want)
		}
	}
	var gone bool
	if err := client.CallContext(t.Context(), &gone, "eth_unsubscribe", "0x1"); err == nil || err.Error() != "subscription not found" {
		t.Error(err)
	}
}

// TestCloseEndsSubscriptions closes the node like a server that shuts down.
func TestCloseEndsSubscriptions(t *testing.T) {
	w := newTestWorld(t)
	subscription, err := w.socket(t).SubscribeNewHead(t.Context(), make(chan *types.Header))
	if err != nil {
		t.Fatal(err)
	}
	w.node.Close()
	select {
	case <-subscription.Err():
	case <-time.After(10 * time.Second):
		t.Error("the subscription goes on")
	}
}

// TestSuggestedTip pays a tip in each of three blocks, a minute apart: the suggestion uses the last 80 seconds with transactions.
func TestSuggestedTip(t *testing.T) {
	w := newTestWorld(t)
	client := w.dial(t, w.server.URL+"/ext/bc/C/rpc")
	for _, c := range []struct{ tip, want int64 }{{9, 9}, {5, 5}, {7, 5}, {0, 5}, {0, 5}, {4, 4}} {
		if c.tip == 0 {
			w.c.block()
		} else {
			w.c.block(&types.DynamicFeeTx{To: w.c.counter(), GasTipCap: big.NewInt(c.tip)})
		}
		if tip, err := client.SuggestGasTipCap(t.Context()); err != nil || tip.Int64() != c.want {
			t.Errorf("after a block with a tip of %d: %d, %v; want %d", c.tip, tip, err, c.want)
		}
	}
}
