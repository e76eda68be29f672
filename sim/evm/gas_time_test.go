package evm

import (
	"encoding/json"
	"math/big"
	"os"
	"testing"
)

// TestGasTimeIsThatOfTheNetwork repeats what avalanchego's vms/saevm/gastime and cchain/dynamic computed for random chains.
func TestGasTimeIsThatOfTheNetwork(t *testing.T) {
	raw, err := os.ReadFile("testdata/gas_time.json")
	if err != nil {
		t.Fatal(err)
	}
	var chains []struct {
		TimeMS, TargetExponent, BaseFee, Excess uint64
		Blocks                                  []struct {
			TimeMS, Price, Gas, TargetExponent, PriceExponent, Unix, Numerator, Excess, Target, MinPrice uint64
		}
	}
	if err := json.Unmarshal(raw, &chains); err != nil {
		t.Fatal(err)
	}
	cheap, dear := 0, 0 // blocks at the least price, and above it
	for i, c := range chains {
		h := &Header{Number: big.NewInt(7), TimeMilliseconds: c.TimeMS, BaseFee: bigOf(c.BaseFee), Extra: feeState{targetExcess: c.TargetExponent}.encode()}
		clock := h.gasTimeAfter()
		if clock.excess != c.Excess {
			t.Errorf("chain %d begins with an excess of %d, want %d", i, clock.excess, c.Excess)
		}
		for n, b := range c.Blocks {
			clock.beforeBlock(b.TimeMS)
			price := clock.price()
			made := &Header{TargetExponent: &b.TargetExponent, MinPriceExponent: &b.PriceExponent}
			clock.afterBlock(b.Gas, made.GasTarget(), made.minPrice())
			have, want := [...]uint64{price, clock.unix, clock.numerator, clock.excess, clock.target, clock.minPrice}, [...]uint64{b.Price, b.Unix, b.Numerator, b.Excess, b.Target, b.MinPrice}
			if have != want {
				t.Fatalf("chain %d, block %d: price, seconds, numerator, excess, target and least price are %d, want %d", i, n, have, want)
			}
			if price == clock.minPrice {
				cheap++
			} else {
				dear++
			}
		}
	}
	if cheap == 0 || dear == 0 {
		t.Errorf("%d blocks at the least price, %d above it", cheap, dear)
	}
}

// TestGasTimeComparesWithMilliseconds: a block settles if it ended no later than five seconds before.
func TestGasTimeComparesWithMilliseconds(t *testing.T) {
	clock := gasTime{unix: 100, numerator: 1, target: 1_000_000} // half a microsecond past
	for ms, after := range map[uint64]bool{99_999: true, 100_000: true, 100_001: false} {
		if clock.after(ms) != after {
			t.Errorf("after %d ms: %t", ms, !after)
		}
	}
	if ms := clock.milliseconds(); ms != 100_001 {
		t.Errorf("it is past until %d ms", ms)
	}
	clock.numerator = 2_000 * 7
	if ms := clock.milliseconds(); ms != 100_007 || clock.after(ms) || !clock.after(ms-1) {
		t.Errorf("a whole millisecond is %d ms", ms)
	}
}
