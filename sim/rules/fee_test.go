package rules

import (
	"math"
	"testing"
)

// After the last recorded block, which used 10,139 gas, the node reported this state.
func TestFeeStateAsRecorded(t *testing.T) {
	state := FeeState{Capacity: 981_484, Excess: 18_516}.Advance(&dynamicFees, 1)
	state, err := state.Consume(10_139)
	if err != nil {
		t.Fatal(err)
	}
	if want := (FeeState{Capacity: 989_861, Excess: 10_139}); state != want {
		t.Errorf("state %+v, want %+v", state, want)
	}
	if _, err := state.Consume(1_000_000); err == nil {
		t.Error("more gas than there is can be consumed")
	}
}

func TestPriceGrowsExponentially(t *testing.T) {
	cases := []struct{ minimum, excess, conversion, want uint64 }{
		{1, 0, 2_164_043, 1},
		{512, 0, 1_246_488_515, 512},
		{1000, 2_164_043, 2_164_043, 2718},
		{1000, 2 * 2_164_043, 2_164_043, 7389},
		{1, math.MaxUint64, 2_164_043, math.MaxUint64},
	}
	for _, c := range cases {
		if got := Exponential(c.minimum, c.excess, c.conversion); got != c.want {
			t.Errorf("Exponential(%d, %d, %d) is %d, want %d", c.minimum, c.excess, c.conversion, got, c.want)
		}
	}
}

func TestContinuousFee(t *testing.T) {
	f := &Mainnet.ValidatorFees
	if cost, excess := f.Cost(60, 0, 30*day); cost != 512*30*day || excess != 0 {
		t.Errorf("below the target a month costs %d, excess %d", cost, excess)
	}
	if got := f.Seconds(60, 0, 512*100+511, math.MaxUint64); got != 100 {
		t.Errorf("the balance lasts %d seconds", got)
	}
	cost, excess := f.Cost(20_000, 0, 3600)
	if cost <= 512*3600 || excess != 10_000*3600 {
		t.Errorf("above the target an hour costs %d, excess %d", cost, excess)
	}
	if got := f.Seconds(20_000, 0, cost, math.MaxUint64); got != 3600 {
		t.Errorf("the hour's cost lasts %d seconds", got)
	}
}
