// Results of anvil's newest methods, compared with those of a node's methods.

package handlers_test

import (
	"encoding/json"
	"log/slog"
	"maps"
	"math/big"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	ethrpc "github.com/ethereum/go-ethereum/rpc"

	"snowglobe/fixtures/contracts"
	"snowglobe/handlers"
	"snowglobe/sim/simtest"
)

// TestMineDetailed sends a transaction that returns something, one that reverts with a reason, one that reverts without, and a payment, and mines
// them. Every block equals eth_getBlockByNumber's, and the outputs equal those of eth_call.
func TestMineDetailed(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	for _, c := range w.Chains[:2] {
		d := newDevnet(t, w, c)
		reverter, err := contracts.Load("Reverter")
		if err != nil {
			t.Fatal(err)
		}
		pack := func(method string, args ...any) []byte {
			data, err := reverter.ABI.Pack(method, args...)
			if err != nil {
				t.Fatal(err)
			}
			return data
		}
		d.call(nil, "evm_setAutomine", false)
		nonce, to := d.nonce(), d.contract("reverter")
		sent := []*types.DynamicFeeTx{
			{To: to, Data: pack("divide", big.NewInt(84), big.NewInt(2))},
			{To: to, Data: pack("withReason", `so "it" goes`)},
			{To: to, Data: pack("withoutData")},
			{To: &someone, Value: big.NewInt(1)},
		}
		wants := []struct{ output, reason string }{
			{hexutil.Encode(common.LeftPadBytes([]byte{42}, 32)), ""},
			{"0x08c379a0", `so "it" goes`}, {"0x", ""}, {"0x", ""},
		}
		hashes := make([]common.Hash, len(sent))
		for i, tx := range sent {
			tx.Nonce, tx.Gas = nonce+uint64(i), 100_000
			hashes[i] = d.mustSend(tx)
		}
		before := d.head().Number.Uint64()
		var blocks []map[string]any
		d.call(&blocks, "evm_mine_detailed", map[string]any{"blocks": 2})
		if len(blocks) != 2 {
			t.Fatalf("%d blocks", len(blocks))
		}
		found := 0
		for i, block := range blocks {
			var plain map[string]any
			d.call(&plain, "eth_getBlockByNumber", hexutil.EncodeUint64(before+1+uint64(i)), true)
			for _, tx := range block["transactions"].([]any) {
				tx := tx.(map[string]any)
				at := slices.Index(hashes, common.HexToHash(tx["hash"].(string)))
				reason, _ := tx["revertReason"].(string)
				if output := tx["output"].(string); at < 0 || !strings.HasPrefix(output, wants[at].output) || wants[at].output == "0x" && output != "0x" || reason != wants[at].reason {
					t.Errorf("transaction %d: output %v, reason %q", at, tx["output"], reason)
				}
				maps.DeleteFunc(tx, func(key string, _ any) bool { return key == "output" || key == "revertReason" })
				found++
			}
			if got, want := asJSON(t, block), asJSON(t, plain); got != want {
				t.Errorf("block %d: %s\nwant %s", i, got, want)
			}
		}
		if found != len(sent) {
			t.Errorf("%d transactions in the blocks", found)
		}
		if err := d.client.Client().Call(&blocks, "anvil_mine_detailed", map[string]any{"blocks": 1001}); err == nil || !strings.Contains(err.Error(), "at most 1000") {
			t.Error(err)
		}
	}
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAnvilTells checks small facts: the first block's time, when the head last changed by this computer's clock, and the chain id.
func TestAnvilTells(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	d := newDevnet(t, w, w.Networks[0].CChain())
	first, err := d.client.HeaderByNumber(t.Context(), common.Big0)
	if err != nil {
		t.Fatal(err)
	}
	var genesis uint64
	if d.call(&genesis, "anvil_getGenesisTime"); genesis != first.Time {
		t.Errorf("genesis at %d, want %d", genesis, first.Time)
	}
	var was, id string
	d.call(&id, "evm_snapshot")
	for _, change := range []func(){
		func() { d.call(nil, "evm_mine") },
		func() { d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone}) },
		func() { d.call(nil, "evm_revert", id) },
	} {
		before := time.Now().UnixMilli()
		var at int64
		if d.call(&at, "anvil_getLastBlockWallTime"); at > before {
			t.Errorf("the head changed %d ms from now", at-before)
		}
		change()
		if d.call(&at, "anvil_getLastBlockWallTime"); at < before || at > time.Now().UnixMilli() {
			t.Errorf("the head changed at %d, want from %d on", at, before)
		}
	}
	d.call(&id, "eth_networkId")
	if d.call(&was, "net_version"); id != was {
		t.Errorf("network %s, want %s", id, was)
	}
	d.call(&id, "eth_chainId")
	d.call(nil, "anvil_setChainId", id)
	if got := codeOf(d.client.Client().Call(nil, "anvil_setChainId", 31337)); !strings.HasPrefix(got, "-32004 the chain id is 43114 for good") {
		t.Error(got)
	}
}

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

// TestSignaturesAreImpersonated lets ecrecover return another account for one signature: in calls, in blocks, in copies of the state, and until the
// world is reverted.
func TestSignaturesAreImpersonated(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	for _, c := range w.Chains {
		if c.Row.EVMID != 43114 && c.Row.EVMID != 70411 {
			continue
		}
		d := newDevnet(t, w, c)
		// It passes its input to ecrecover, stores the answer in slot 0 and returns it.
		recoverer := common.HexToAddress("0xec5e")
		d.call(nil, "anvil_setCode", recoverer, "0x366000600037602060003660006001"+"5afa50"+"600051600055"+"60206000f3")
		hash := crypto.Keccak256([]byte("one"))
		signature, err := crypto.Sign(hash, d.key)
		if err != nil {
			t.Fatal(err)
		}
		input := func(hash []byte) hexutil.Bytes {
			return slices.Concat(hash, common.LeftPadBytes([]byte{27 + signature[64]}, 32), signature[:64])
		}
		recovered := func(hash []byte, at string) common.Address {
			var answer hexutil.Bytes
			d.call(&answer, "eth_call", map[string]any{"to": recoverer, "data": input(hash)}, at)
			return common.BytesToAddress(answer)
		}
		other := crypto.Keccak256([]byte("two"))
		if got := recovered(hash, "latest"); got != d.from {
			t.Fatalf("%s signed", got)
		}
		before := d.text("eth_blockNumber")
		var snapshot string
		d.call(nil, "evm_mine")
		d.call(&snapshot, "evm_snapshot")
		d.call(nil, "anvil_impersonateSignature", hexutil.Encode(signature), someone) // v is 0 or 1
		for _, hash := range [][]byte{hash, other} {
			if got := recovered(hash, "latest"); got != someone {
				t.Errorf("%s signed", got)
			}
		}
		if got := recovered(hash, strings.Trim(before, `"`)); got != d.from {
			t.Errorf("%s signed a block before", got)
		}
		sent := d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &recoverer, Data: input(other), Gas: 100_000})
		if stored := d.text("eth_getStorageAt", recoverer, "0x0", "latest"); common.HexToAddress(strings.Trim(stored, `"`)) != someone {
			t.Errorf("a block stored %s", stored)
		}
		var trace struct{ Output hexutil.Bytes }
		d.call(&trace, "debug_traceTransaction", sent, map[string]any{"tracer": "callTracer"})
		if got := common.BytesToAddress(trace.Output); got != someone {
			t.Errorf("traced again, %s signed", got)
		}
		d.verify()
		d.call(nil, "anvil_impersonateSignature", hexutil.Encode(append(signature[:64:64], 27+signature[64])), common.Address{})
		if got := recovered(hash, "latest"); got != d.from {
			t.Errorf("%s signed after the end", got)
		}
		d.call(nil, "evm_revert", snapshot)
		if got := recovered(hash, "latest"); got != d.from {
			t.Errorf("%s signed after a revert", got)
		}
		if got := recovered(other, "latest"); got == someone || got == d.from {
			t.Errorf("%s signed another message", got)
		}
	}
}
