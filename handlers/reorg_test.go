// A reorganisation, seen through subscriptions, the Data API and the node at once.

package handlers_test

import (
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"

	"snowglobe/sim/verify/verifytest"
)

// TestReorg replaces the newest blocks of one chain. Its subscribers get the removed logs and the new heads, every interface forgets the old blocks,
// changes on another chain stay, and the world still verifies.
func TestReorg(t *testing.T) {
	t.Parallel()
	world := tinyWorld(t)
	d := newDevnet(t, world, world.Chains[0])
	other := d.on(world.Chains[1])
	socket, err := ethclient.Dial(d.rpc("ws", "ws"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	token := d.contract("usdx")
	logs, heads := make(chan types.Log, 10), make(chan *types.Header, 20)
	if _, err := socket.SubscribeFilterLogs(t.Context(), ethereum.FilterQuery{Addresses: []common.Address{*token}}, logs); err != nil {
		t.Fatal(err)
	}
	if _, err := socket.SubscribeNewHead(t.Context(), heads); err != nil {
		t.Fatal(err)
	}
	transfer := append(crypto.Keccak256([]byte("transfer(address,uint256)"))[:4], append(common.LeftPadBytes(someone[:], 32), common.LeftPadBytes([]byte{1}, 32)...)...)
	create := &types.DynamicFeeTx{Gas: 200_000, Data: common.FromHex("0x600a600c600039600a6000f3602a60005260206000f3")}
	stays := d.head().Number.Uint64() + 1
	d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone, Value: big.NewInt(1)})
	filter := strings.Trim(d.text("eth_newFilter", map[string]any{"address": token}), `"`)
	blocks := strings.Trim(d.text("eth_newBlockFilter"), `"`)
	hashOf := func(number uint64) string {
		var block struct{ Hash string }
		d.call(&block, "eth_getBlockByNumber", fmt.Sprintf("0x%x", number), false)
		return block.Hash
	}
	kept := hashOf(stays)
	snapshot := strings.Trim(d.text("evm_snapshot"), `"`)
	digest := world.Digest()
	gone := d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: token, Gas: 200_000, Data: transfer})
	create.Nonce = d.nonce()
	d.mustSend(create)
	elsewhere := other.mustSend(&types.DynamicFeeTx{Nonce: other.nonce(), Gas: 200_000, Data: create.Data}) // the same code
	d.mustSend(&types.DynamicFeeTx{Nonce: d.nonce(), To: &someone, Value: big.NewInt(3)})
	d.text("eth_getFilterChanges", filter)
	d.text("eth_getFilterChanges", blocks)
	old, oldHash := d.head(), hashOf(stays+3)
	receive(t, logs)
	for range 4 {
		receive(t, heads)
	}

	again := map[string]any{"from": d.from.Hex(), "to": token.Hex(), "data": "0x" + common.Bytes2Hex(transfer), "value": "0x0"}
	if got := d.text("anvil_reorg", 3, []any{[]any{again, 1}}); got != "null" {
		t.Fatal(got)
	}
	if head := d.head(); head.Number.Uint64() != stays+3 || hashOf(stays+3) == oldHash || head.Time < old.Time {
		t.Errorf("%+v after %+v", head, old)
	}
	if got := hashOf(stays); got != kept {
		t.Errorf("block %d is %s, it was %s", stays, got, kept)
	}
	if removed := receive(t, logs); !removed.Removed || removed.TxHash != gone || removed.BlockNumber != stays+1 {
		t.Errorf("%+v", removed)
	}
	if added := receive(t, logs); added.Removed || added.BlockNumber != stays+2 || added.TxHash == gone {
		t.Errorf("%+v", added)
	}
	var numbers []uint64
	for range 3 {
		numbers = append(numbers, receive(t, heads).Number.Uint64())
	}
	if want := []uint64{stays + 1, stays + 2, stays + 3}; !slices.Equal(numbers, want) {
		t.Errorf("heads %d, not %d", numbers, want)
	}
	if told, want := d.text("eth_getFilterChanges", blocks), fmt.Sprintf(`["%s","%s","%s"]`, hashOf(stays+1), hashOf(stays+2), hashOf(stays+3)); told != want {
		t.Errorf("the filter of blocks tells %s, not %s", told, want)
	}
	if told := d.text("eth_getFilterChanges", filter); !strings.Contains(told, `"removed":true`) || !strings.Contains(told, `"removed":false`) {
		t.Error(told)
	}
	if got := d.text("eth_getTransactionByHash", gone); got != "null" {
		t.Error(got)
	}
	if status, said, _ := (&clocked{t, d.url}).send(fmt.Sprintf("/v1/chains/%d/transactions/%s", d.chain.Row.EVMID, gone.Hex()), ""); status != http.StatusNotFound {
		t.Error(status, said)
	}
	if got := other.text("eth_getTransactionReceipt", elsewhere); !strings.Contains(got, `"status":"0x1"`) {
		t.Error(got)
	}
	if testing.Short() {
		other.Log("left out of a short run: verification")
	} else {
		other.verify()
	}

	if got := d.text("anvil_rollback", 2); got != "null" || d.head().Number.Uint64() != stays+1 {
		t.Error(got, d.head().Number)
	}
	if told, again := d.text("eth_getFilterChanges", blocks), receive(t, heads); told != `["`+hashOf(stays+1)+`"]` || again.Number.Uint64() != stays+1 {
		t.Errorf("after a rollback the filter of blocks tells %s, the new head is %d", told, again.Number)
	}
	for what, params := range map[string][]any{
		"were made since the world was generated": {stays, []any{}},
		"at most 1000":                     {1001},
		"must not exceed (depth-1) 0":      {1, []any{[]any{again, 1}}},
		"expected a list of a transaction": {1, []any{again}},
		"unknown account":                  {1, []any{[]any{map[string]any{"from": someone.Hex(), "to": someone.Hex()}, 0}}},
	} {
		if said := codeOf(d.client.Client().CallContext(t.Context(), nil, "anvil_reorg", params...)); !strings.Contains(said, what) || !strings.HasPrefix(said, "-32602") {
			t.Errorf("%s: %s", what, said)
		}
	}
	if said := codeOf(d.client.Client().CallContext(t.Context(), nil, "anvil_reorg", 1, []any{[]any{map[string]any{"from": d.from.Hex(), "to": someone.Hex(), "nonce": "0xffff", "gas": "0x5208"}, 0}})); !strings.Contains(said, "was left out of block") {
		t.Error(said)
	}
	verifytest.Sound(t, world)
	if got := d.text("evm_revert", snapshot); got != "true" || !slices.Equal(world.Digest(), digest) {
		t.Errorf("%s, digest %x, it was %x", got, world.Digest(), digest)
	}
}

// receive returns the next value, and fails if none arrives within a time that suffices on any machine.
func receive[T any](t *testing.T, from <-chan T) (next T) {
	t.Helper()
	select {
	case next = <-from:
	case <-time.After(20 * time.Second):
		t.Fatal("nothing came")
	}
	return next
}
