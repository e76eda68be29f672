package anvil_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/fixtures"
	"snowglobe/fixtures/contracts"
	"snowglobe/handlers/node/nodetest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/verify/verifytest"
)

// onBothKinds runs a test on a C-Chain and on an L1, and verifies the world afterwards.
func onBothKinds(t *testing.T, test func(*nodetest.Chain)) {
	t.Helper()
	t.Parallel()
	w := seedtest.Copy(t, 1)
	for _, c := range []*reader.Chain{w.Networks[0].CChain(), w.Chains[len(w.Chains)-1]} {
		t.Run(c.Row.Name, func(t *testing.T) { test(nodetest.Open(t, w, c)) })
	}
	verifytest.Sound(t, w)
}

// TestAsSoonAsTheRulesAllow: while the clock stands still, a block follows its parent as soon as ACP-226 allows, and the clock moves to it. After the clock was
// advanced, a block has the clock's time.
func TestAsSoonAsTheRulesAllow(t *testing.T) { onBothKinds(t, asSoonAsAllowed) }

func asSoonAsAllowed(d *nodetest.Chain) {
	send := func() (milliseconds, delay uint64) {
		d.Helper()
		d.Send(&types.DynamicFeeTx{Nonce: d.Nonce(), To: &someone})
		var head struct{ Timestamp, TimestampMilliseconds, MinDelayExcess hexutil.Uint64 }
		d.Call(&head, "eth_getBlockByNumber", "latest", false)
		if now := d.World.Clock.UnixMilli(); now != int64(head.TimestampMilliseconds) || head.Timestamp != head.TimestampMilliseconds/1000 {
			d.Errorf("the clock is at %d, the block at %d, second %d", now, head.TimestampMilliseconds, head.Timestamp)
		}
		return uint64(head.TimestampMilliseconds), uint64(math.Exp(float64(head.MinDelayExcess) / (1 << 20)))
	}
	before, delay := send()
	for range 3 {
		at, next := send()
		if at != before+delay || delay < 500 {
			d.Errorf("%d ms after its parent, the delay is %d", at-before, delay)
		}
		before, delay = at, next
	}
	d.Text("evm_increaseTime", 3600)
	if at, _ := send(); at != before+3_600_000 {
		d.Errorf("%d ms after its parent, the clock was an hour on", at-before)
	}
}

// TestBlocksAsAskedFor makes blocks with times, fees, limits and coinbases that the network would not allow.
func TestBlocksAsAskedFor(t *testing.T) { onBothKinds(t, blocksAsAskedFor) }

func blocksAsAskedFor(d *nodetest.Chain) {
	before := d.Head().Header
	d.Text("anvil_mine", "0x3", "0x3c")
	head := d.Head().Header
	if head.Number.Uint64() != before.Number.Uint64()+3 || head.Time < before.Time+180 || int64(head.Time) != d.World.Clock.Unix() {
		d.Errorf("%d at %d, before %d at %d", head.Number, head.Time, before.Number, before.Time)
	}
	d.Text("evm_setNextBlockTimestamp", head.Time+1)
	d.Text("anvil_setNextBlockBaseFeePerGas", "0x4d2")
	d.Text("anvil_setBlockGasLimit", "0xe4e1c0")
	d.Text("hardhat_setCoinbase", someone)
	defer d.Text("anvil_setCoinbase", "0x0100000000000000000000000000000000000000")
	if got := d.Problem("evm_setNextBlockTimestamp", head.Time); got != fmt.Sprintf("-32000 timestamp error: %d is lower than or equal to previous block's timestamp %d", head.Time, head.Time) {
		d.Error(got)
	}
	var earned, now hexutil.Big
	d.Call(&earned, "eth_getBalance", someone, "latest")
	d.Send(&types.DynamicFeeTx{Nonce: d.Nonce(), To: &d.From})
	made := d.Head().Header
	if made.Time != head.Time+1 || made.BaseFee.Int64() != 1234 || made.GasLimit != 15_000_000 || made.Coinbase != someone {
		d.Errorf("%d, base fee %d, gas limit %d, coinbase %s", made.Time, made.BaseFee, made.GasLimit, made.Coinbase)
	}
	if d.Call(&now, "eth_getBalance", someone, "latest"); new(big.Int).Sub(now.ToInt(), earned.ToInt()).Int64() != 21_000*1235 {
		d.Errorf("the coinbase had %d, and has %d", earned.ToInt(), now.ToInt())
	}
	if got := d.Text("evm_mine", map[string]any{"blocks": 2}); got != `"0x0"` || d.Head().Header.Number.Uint64() != made.Number.Uint64()+2 || d.Head().Header.BaseFee.Int64() == 1234 && d.Chain.Row.Kind == "C" {
		d.Errorf("%s, %d", got, d.Head().Header.BaseFee)
	}
	if got := d.Problem("evm_setNextBlockTimestamp", int64(99_999_999_999)); got != "-32000 timestamp error: the world's clock cannot go that far: 5138-11-16T09:46:39Z is after 2056-10-24T00:00:00Z" {
		d.Error(got)
	}
	if got := d.Problem("anvil_mine", 1000, 86_400*30); !strings.Contains(got, "1000 blocks 720h0m0s apart: the world's clock cannot go that far: ") {
		d.Error(got)
	}
	if got := d.Problem("anvil_mine", "0xffffff"); got != "-32000 the number of blocks is 16777215: expected at most 100000" {
		d.Error(got)
	}
}

// TestHeavyTransactions sends transactions that each use almost all of a block: each waits until the chain has capacity again, by the world's clock.
func TestHeavyTransactions(t *testing.T) {
	t.Parallel()
	w := seedtest.Copy(t, 1)
	d := nodetest.Open(t, w, w.Networks[0].CChain())
	burner := d.Deploy([]byte{0xfe}) // takes all gas
	for range 3 {
		before := d.Head().Header
		hash := d.Send(&types.DynamicFeeTx{Nonce: d.Nonce(), To: &burner, Gas: before.GasLimit * 99 / 100, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e12)})
		if row := d.Transaction(hash).Row; row.GasUsed != before.GasLimit*99/100 || row.Status != 0 {
			d.Errorf("%+v", row)
		}
		if after := d.Head().Header; after.Time < before.Time+2 || after.Time > before.Time+7 {
			d.Errorf("%d seconds later", after.Time-before.Time)
		}
	}
}

// TestBlocksByThemselves: the chain makes blocks at an interval.
func TestBlocksByThemselves(t *testing.T) {
	t.Parallel()
	w := seedtest.Copy(t, 1)
	d := nodetest.Open(t, w, w.Networks[0].CChain())
	ctx, stop := context.WithCancel(d.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.World.Mine(ctx, func(err error) { d.Error(err) })
	}()
	d.Text("anvil_setIntervalMining", 1)
	if d.Text("anvil_getAutomine") != "false" || d.Text("anvil_getIntervalMining") != "1" {
		d.Error("the modes are not as set")
	}
	d.Text("evm_setIntervalMining", 20)
	hash := d.Send(&types.DynamicFeeTx{Nonce: d.Nonce(), To: &someone})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if d.Text("eth_getTransactionReceipt", hash) != "null" {
			break
		}
		if time.Now().After(deadline) {
			d.Fatal("no block was made")
		}
	}
	d.Text("evm_setIntervalMining", 0)
	d.Text("evm_setAutomine", true)
	stop()
	<-ended
}

// TestMineDetailed sends a transaction that returns something, one that reverts with a reason, one that reverts without, and a payment, and mines
// them. Every block equals eth_getBlockByNumber's, and the outputs equal those of eth_call.
func TestMineDetailed(t *testing.T) {
	t.Parallel()
	w := seedtest.Copy(t, 1)
	for _, c := range w.Chains[:2] {
		d := nodetest.Open(t, w, c)
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
		d.Text("evm_setAutomine", false)
		nonce, to := d.Nonce(), d.Contract("reverter")
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
			hashes[i] = d.Send(tx)
		}
		before := d.Head().Number
		var blocks []map[string]any
		d.Call(&blocks, "evm_mine_detailed", map[string]any{"blocks": 2})
		if len(blocks) != 2 {
			t.Fatalf("%d blocks", len(blocks))
		}
		found := 0
		for i, block := range blocks {
			var plain map[string]any
			d.Call(&plain, "eth_getBlockByNumber", hexutil.EncodeUint64(before+1+uint64(i)), true)
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
		if got := d.Problem("anvil_mine_detailed", map[string]any{"blocks": 1001}); !strings.Contains(got, "at most 1000") {
			t.Error(got)
		}
	}
}

// TestAnvilTells checks small facts: the first block's time, when the head last changed by this computer's clock, and the chain id.
func TestAnvilTells(t *testing.T) {
	t.Parallel()
	w := seedtest.Copy(t, 1)
	d := nodetest.Open(t, w, w.Networks[0].CChain())
	var genesis uint64
	if d.Call(&genesis, "anvil_getGenesisTime"); genesis != d.Block(0).Header.Time {
		t.Errorf("genesis at %d, want %d", genesis, d.Block(0).Header.Time)
	}
	var was, id string
	d.Call(&id, "evm_snapshot")
	for _, change := range []func(){
		func() { d.Text("evm_mine") },
		func() { d.Send(&types.DynamicFeeTx{Nonce: d.Nonce(), To: &someone}) },
		func() { d.Text("evm_revert", id) },
	} {
		before := time.Now().UnixMilli()
		var at int64
		if d.Call(&at, "anvil_getLastBlockWallTime"); at > before {
			t.Errorf("the head changed %d ms from now", at-before)
		}
		change()
		if d.Call(&at, "anvil_getLastBlockWallTime"); at < before || at > time.Now().UnixMilli() {
			t.Errorf("the head changed at %d, want from %d on", at, before)
		}
	}
	d.Call(&id, "eth_networkId")
	if d.Call(&was, "net_version"); id != was {
		t.Errorf("network %s, want %s", id, was)
	}
	d.Call(&id, "eth_chainId")
	d.Text("anvil_setChainId", id)
	if got := d.Problem("anvil_setChainId", 31337); !strings.HasPrefix(got, "-32004 the chain id is 43114 for good") {
		t.Error(got)
	}
}

// TestSignaturesAreImpersonated lets ecrecover return another account for one signature: in calls, in blocks, in copies of the state, and until the
// world is reverted.
func TestSignaturesAreImpersonated(t *testing.T) {
	t.Parallel()
	w := seedtest.Copy(t, 1)
	for _, c := range w.Chains {
		if c.Row.EVMID != 43114 && c.Row.EVMID != 70411 {
			continue
		}
		d := nodetest.Open(t, w, c)
		// It passes its input to ecrecover, stores the answer in slot 0 and returns it.
		recoverer := common.HexToAddress("0xec5e")
		d.Text("anvil_setCode", recoverer, "0x366000600037602060003660006001"+"5afa50"+"600051600055"+"60206000f3")
		hash := crypto.Keccak256([]byte("one"))
		key, err := crypto.HexToECDSA(fixtures.Personas[0].Key)
		if err != nil {
			t.Fatal(err)
		}
		signature, err := crypto.Sign(hash, key)
		if err != nil {
			t.Fatal(err)
		}
		input := func(hash []byte) hexutil.Bytes {
			return slices.Concat(hash, common.LeftPadBytes([]byte{27 + signature[64]}, 32), signature[:64])
		}
		recovered := func(hash []byte, at string) common.Address {
			var answer hexutil.Bytes
			d.Call(&answer, "eth_call", map[string]any{"to": recoverer, "data": input(hash)}, at)
			return common.BytesToAddress(answer)
		}
		other := crypto.Keccak256([]byte("two"))
		if got := recovered(hash, "latest"); got != d.From {
			t.Fatalf("%s signed", got)
		}
		before := d.Text("eth_blockNumber")
		var snapshot string
		d.Text("evm_mine")
		d.Call(&snapshot, "evm_snapshot")
		d.Text("anvil_impersonateSignature", hexutil.Encode(signature), someone) // v is 0 or 1
		for _, hash := range [][]byte{hash, other} {
			if got := recovered(hash, "latest"); got != someone {
				t.Errorf("%s signed", got)
			}
		}
		if got := recovered(hash, strings.Trim(before, `"`)); got != d.From {
			t.Errorf("%s signed a block before", got)
		}
		sent := d.Send(&types.DynamicFeeTx{Nonce: d.Nonce(), To: &recoverer, Data: input(other), Gas: 100_000})
		if stored := d.Text("eth_getStorageAt", recoverer, "0x0", "latest"); common.HexToAddress(strings.Trim(stored, `"`)) != someone {
			t.Errorf("a block stored %s", stored)
		}
		var trace struct{ Output hexutil.Bytes }
		d.Call(&trace, "debug_traceTransaction", sent, map[string]any{"tracer": "callTracer"})
		if got := common.BytesToAddress(trace.Output); got != someone {
			t.Errorf("traced again, %s signed", got)
		}
		verifytest.Sound(t, w)
		d.Text("anvil_impersonateSignature", hexutil.Encode(append(signature[:64:64], 27+signature[64])), common.Address{})
		if got := recovered(hash, "latest"); got != d.From {
			t.Errorf("%s signed after the end", got)
		}
		d.Text("evm_revert", snapshot)
		if got := recovered(hash, "latest"); got != d.From {
			t.Errorf("%s signed after a revert", got)
		}
		if got := recovered(other, "latest"); got == someone || got == d.From {
			t.Errorf("%s signed another message", got)
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
