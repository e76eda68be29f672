package anvil_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

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
