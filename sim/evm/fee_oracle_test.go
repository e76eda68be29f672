package evm

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/ava-labs/avalanchego/vms/components/gas"
	"github.com/ava-labs/avalanchego/vms/evm/acp176"
	"github.com/ava-labs/avalanchego/vms/evm/acp226"

	"snowglobe/sim/evm/precompile"
)

// TestFeesAreThoseOfACP176 lets avalanchego's own package follow a C-Chain through blocks of all sizes, close together and after long pauses, with
// proposers that vote for other targets.
func TestFeesAreThoseOfACP176(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	rules := feeRules{kind: KindC}
	for range 200 {
		head := &Header{Number: big.NewInt(1), TimeMilliseconds: 1_000_000, ExtDataGasUsed: new(big.Int), MinDelayExcess: initialDelay}
		start := feeState{random.Uint64N(20_000_000), uint64(math.Exp(random.Float64() * 40)), random.Uint64N(1 << (1 + random.UintN(30)))}
		head.Extra = start.encode()
		for range 10 {
			elapsed := []uint64{0, 1, random.Uint64N(2000), random.Uint64N(100_000), random.Uint64N(1 << 40)}[random.IntN(5)]
			want, err := acp176.ParseState(head.Extra)
			if err != nil {
				t.Fatal(err)
			}
			want.AdvanceMilliseconds(elapsed)
			next := head.nextHeader(head.ParentHash, head.TimeMilliseconds+elapsed)
			rules.beforeExecution(head, next)
			if next.BaseFee.Uint64() != uint64(want.GasPrice()) || next.GasLimit != uint64(want.MaxCapacity()) {
				t.Fatalf("after %d ms of %+v: base fee %d, gas limit %d; ACP-176 has %d, %d", elapsed, parseFeeState(head.Extra), next.BaseFee, next.GasLimit, want.GasPrice(), want.MaxCapacity())
			}
			if capacity := GasCapacity(KindC, precompile.FeeConfig{}, head, next.TimeMilliseconds); capacity != uint64(want.Gas.Capacity) {
				t.Fatalf("capacity %d, ACP-176 has %d", capacity, want.Gas.Capacity)
			}
			room := min(uint64(want.Gas.Capacity), 1<<50)
			next.GasUsed = random.Uint64N(room + 1)
			next.ExtDataGasUsed = new(big.Int).SetUint64(random.Uint64N(room - next.GasUsed + 1))
			if err := want.ConsumeGas(next.GasUsed, next.ExtDataGasUsed); err != nil {
				t.Fatal(err)
			}
			var desired Desired
			if random.IntN(2) == 0 {
				target := random.Uint64N(1 << (1 + random.UintN(40)))
				desired.TargetExcess = &target
				want.UpdateTargetExcess(gas.Gas(target))
			}
			if rules.afterExecution(head, next, desired); !bytes.Equal(next.Extra, want.Bytes()) {
				t.Fatalf("after a block of %d and %d gas: %+v, ACP-176 has %+v", next.GasUsed, next.ExtDataGasUsed, parseFeeState(next.Extra), want)
			}
			head = next
		}
	}
	for range 200 {
		target := uint64(math.Exp(random.Float64() * 44))
		if have, want := TargetExcess(target), acp176.DesiredTargetExcess(gas.Gas(target)); have != uint64(want) {
			t.Errorf("the target %d needs the excess %d, ACP-176 has %d", target, have, want)
		}
	}
}

// TestDelaysAreThoseOfACP226 compares delays, and how blocks move them, with avalanchego's own package.
func TestDelaysAreThoseOfACP226(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		from, to := random.Uint64N(60_000_000), random.Uint64N(60_000_000)
		if random.IntN(2) == 0 {
			to = from + random.Uint64N(2*maxDelayDiff) - min(from, maxDelayDiff)
		}
		excess := acp226.DelayExcess(from)
		if delay(from) != excess.Delay() {
			t.Errorf("the excess %d makes a delay of %d ms, ACP-226 has %d", from, delay(from), excess.Delay())
		}
		h := &Header{Number: big.NewInt(2), MinDelayExcess: from, ExtDataGasUsed: new(big.Int)}
		feeRules{kind: KindL1}.afterExecution(h, h, Desired{DelayExcess: &to})
		if excess.UpdateDelayExcess(acp226.DelayExcess(to)); h.MinDelayExcess != uint64(excess) {
			t.Errorf("from %d towards %d: %d, ACP-226 has %d", from, to, h.MinDelayExcess, excess)
		}
		ms := uint64(math.Exp(random.Float64() * 44))
		if have, want := DelayExcess(ms), acp226.DesiredDelayExcess(ms); have != uint64(want) {
			t.Errorf("%d ms need the excess %d, ACP-226 has %d", ms, have, want)
		}
	}
}

// TestFeesAreThoseOfSubnetEVM compares base fees with subnet-evm's, recorded by testdata/avalanchego/record, after parents of all kinds and
// pauses from seconds to days.
func TestFeesAreThoseOfSubnetEVM(t *testing.T) {
	text, err := os.ReadFile("testdata/base_fee.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		TargetGas, Denominator, MinBaseFee, Number, BaseFee, GasUsed, Elapsed uint64
		Window, Want, WantWindow                                              string
	}
	if err := json.Unmarshal(text, &vectors); err != nil || len(vectors) < 100 {
		t.Fatal(len(vectors), err)
	}
	for i, v := range vectors {
		window, err := hex.DecodeString(v.Window)
		if err != nil {
			t.Fatal(err)
		}
		big64 := func(n uint64) *big.Int { return new(big.Int).SetUint64(n) }
		config := precompile.FeeConfig{GasLimit: big64(15_000_000), MinBaseFee: big64(v.MinBaseFee), TargetGas: big64(v.TargetGas), BaseFeeChangeDenominator: big64(v.Denominator)}
		parent := &Header{Number: big64(v.Number), Time: 1_000_000, TimeMilliseconds: 1_000_000_000, BaseFee: big64(v.BaseFee), GasUsed: v.GasUsed, Extra: window}
		next := parent.nextHeader(parent.ParentHash, (1_000_000+v.Elapsed)*1000)
		feeRules{KindL1, config}.beforeExecution(parent, next)
		if next.BaseFee.String() != v.Want || hex.EncodeToString(next.Extra) != v.WantWindow || next.GasLimit != 15_000_000 {
			t.Errorf("vector %d, %+v: base fee %s, window %x", i, v, next.BaseFee, next.Extra)
		}
	}
}
