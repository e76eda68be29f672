package rules

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ava-labs/avalanchego/vms/components/gas"
	"github.com/ava-labs/avalanchego/vms/platformvm/validators/fee"
)

// spread draws numbers of all magnitudes.
func spread(r *rand.Rand, bits uint) uint64 { return r.Uint64N(1<<r.UintN(bits) + 1) }

// TestFeesAreThoseOfACP103 compares gas, capacity, excess and price with avalanchego's own package.
func TestFeesAreThoseOfACP103(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		f := &FeeConfig{MaxCapacity: 1 + spread(random, 63), MaxPerSecond: 1 + spread(random, 63), TargetPerSecond: 1 + spread(random, 63), MinPrice: 1 + spread(random, 40), ExcessConversion: 1 + spread(random, 63)}
		have, want := FeeState{spread(random, 63), spread(random, 63)}, gas.State{}
		want.Capacity, want.Excess = gas.Gas(have.Capacity), gas.Gas(have.Excess)
		seconds := spread(random, 63)
		have, want = have.Advance(f, seconds), want.AdvanceTime(gas.Gas(f.MaxCapacity), gas.Gas(f.MaxPerSecond), gas.Gas(f.TargetPerSecond), seconds)
		if have != (FeeState{uint64(want.Capacity), uint64(want.Excess)}) {
			t.Fatalf("%+v, %d seconds: %+v, ACP-103 has %+v", f, seconds, have, want)
		}
		used := spread(random, 63)
		if random.IntN(4) == 0 {
			used = have.Capacity + random.Uint64N(2)
		}
		after, err := have.Consume(used)
		wanted, refused := want.ConsumeGas(gas.Gas(used))
		if (err == nil) != (refused == nil) || err == nil && after != (FeeState{uint64(wanted.Capacity), uint64(wanted.Excess)}) {
			t.Fatalf("%+v uses %d: %+v, %v; ACP-103 has %+v, %v", have, used, after, err, wanted, refused)
		}
		if have, want := after.Price(f), gas.CalculatePrice(gas.Price(f.MinPrice), gas.Gas(after.Excess), gas.Gas(f.ExcessConversion)); have != uint64(want) {
			t.Fatalf("%+v, %+v: price %d, ACP-103 has %d", f, after, have, want)
		}
		f.Weights = Complexity{random.Uint64N(5000), random.Uint64N(5000), random.Uint64N(5000), random.Uint64N(5000)}
		c := Complexity{random.Uint64N(1e9), random.Uint64N(1e9), random.Uint64N(1e9), random.Uint64N(1e9)}
		total, err := gas.Dimensions{c.Bandwidth, c.Reads, c.Writes, c.Compute}.ToGas(gas.Dimensions{f.Weights.Bandwidth, f.Weights.Reads, f.Weights.Writes, f.Weights.Compute})
		if err != nil || f.Gas(c) != uint64(total) {
			t.Fatalf("%+v weighs %d, ACP-103 has %d: %v", c, f.Gas(c), total, err)
		}
	}
}

// TestFeesAreThoseOfACP77 compares the continuous fee of L1 validators with avalanchego's own package.
func TestFeesAreThoseOfACP77(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 2_000 {
		f := &ValidatorFeeConfig{Capacity: 20_000, Target: spread(random, 14), MinPrice: 1 + spread(random, 12), ExcessConversion: 1 + spread(random, 31)}
		config := fee.Config{Capacity: 20_000, Target: gas.Gas(f.Target), MinPrice: gas.Price(f.MinPrice), ExcessConversionConstant: gas.Gas(f.ExcessConversion)}
		state := fee.State{Current: gas.Gas(spread(random, 15)), Excess: gas.Gas(spread(random, 40))}
		if random.IntN(4) == 0 {
			state.Current, state.Excess = config.Target, gas.Gas(random.Uint64N(2))
		}
		seconds, funds := spread(random, 12), spread(random, 50)
		active, excess := uint64(state.Current), uint64(state.Excess)
		cost, after := f.Cost(active, excess, seconds)
		if want := state.CostOf(config, seconds); cost != want || after != uint64(state.AdvanceTime(config.Target, seconds).Excess) {
			t.Fatalf("%+v, %+v, %d seconds cost %d, then excess %d; ACP-77 has %d, %d", f, state, seconds, cost, after, want, state.AdvanceTime(config.Target, seconds).Excess)
		}
		if have, want := f.Seconds(active, excess, funds, seconds), state.SecondsRemaining(config, seconds, funds); have != want {
			t.Fatalf("%+v, %+v: %d last %d seconds of %d, ACP-77 has %d", f, state, funds, have, seconds, want)
		}
		s := ValidatorFeeState{Time: 100, Accrued: spread(random, 63), Excess: excess, Active: active}
		later := s.At(f, 100+seconds)
		if want := s.Accrued + cost; later.Accrued != max(want, s.Accrued) && later.Accrued != math.MaxUint64 || later.Excess != after || later.Time != 100+seconds || later.Active != active {
			t.Fatalf("%+v after %d seconds: %+v", s, seconds, later)
		}
		if s.At(f, 99) != s || s.At(f, 100) != s {
			t.Fatal("an earlier moment is another state")
		}
	}
}
