package evm

import (
	"math"
	"math/big"
	"testing"

	"snowglobe/sim/evm/precompile"
)

// TestFeeStates compares target, gas limit and price with the numbers in avalanchego's own tests of ACP-176.
func TestFeeStates(t *testing.T) {
	const nano = 1_000_000_000
	for _, c := range []struct{ excess, targetExcess, target, limit, price uint64 }{
		{0, 0, 1_000_000, 10_000_000, 1},
		{60_303_808, 33, 1_000_000, 10_000_000, 2},
		{60_303_868, 34, 1_000_001, 10_000_010, 2},
		{95_672_652, maxTargetExcessDiff, 1_000_977, 10_009_770, 3},
		{2_704_386_192, 13_605_152, 1_500_000, 15_000_000, nano + 2},
		{6_610_721_802, 36_863_312, 3_000_000, 30_000_000, 100*nano + 4},
		{220_357_393_400, 154_523_870, 100_000_000, 1_000_000_000, 100*nano + 5},
		{math.MaxUint64, 947_688_691, 1_844_674_384_269_701_322, 18_446_743_842_697_013_220, 2},
		{math.MaxUint64, 1_001_692_466, 9_223_371_923_824_614_091, math.MaxUint64, 2},
		{math.MaxUint64, maxTargetExcess, math.MaxUint64, math.MaxUint64, 2},
		{math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64, 2},
	} {
		s := feeState{excess: c.excess, targetExcess: c.targetExcess}
		if s.target() != c.target || s.maxCapacity() != c.limit || s.price().Uint64() != c.price {
			t.Errorf("%+v: target %d, gas limit %d, price %s; want %d, %d, %d", s, s.target(), s.maxCapacity(), s.price(), c.target, c.limit, c.price)
		}
		if s != parseFeeState(append(s.encode(), 1, 2)) {
			t.Errorf("%+v does not come back from its bytes", s)
		}
	}
	for target, excess := range map[uint64]uint64{1_000_000: 0, 1_000_001: 34, 1_500_000: 13_605_152, 6_000_000: 60_121_472, math.MaxUint64: maxTargetExcess} {
		if have := TargetExcess(target); have != excess {
			t.Errorf("the target %d needs the excess %d, have %d", target, excess, have)
		}
	}
}

// TestDelays compares delays with the numbers in avalanchego's own tests of ACP-226.
func TestDelays(t *testing.T) {
	for excess, want := range map[uint64]uint64{0: 1, 726_820: 2, 4_828_872: 100, 7_243_307: 1_000, 7_970_124: 2_000, 11_536_538: 60_000,
		45_789_502: 9_223_368_741_047_657_702, maxDelayExcess - 1: 18_446_728_723_565_431_225, maxDelayExcess: math.MaxUint64,
		math.MaxUint64: math.MaxUint64} {
		if have := delay(excess); have != want {
			t.Errorf("the excess %d makes a delay of %d ms, want %d", excess, have, want)
		}
	}
	for milliseconds, want := range map[uint64]uint64{1: 0, 500: 6_516_490, 2_000: initialDelay, math.MaxUint64: maxDelayExcess} {
		if have := DelayExcess(milliseconds); have != want {
			t.Errorf("%d ms need the excess %d, want %d", milliseconds, have, want)
		}
	}
	late := &Header{TimeMilliseconds: math.MaxUint64 - 5, MinDelayExcess: initialDelay}
	if have := late.EarliestChild(); have != math.MaxUint64 {
		t.Errorf("the last block's child is at %d", have)
	}
}

// TestFeesFollowLoad fills the blocks of a C-Chain for three minutes and waits for as long: the price doubles each minute and falls back.
func TestFeesFollowLoad(t *testing.T) {
	rules := feeRules{kind: KindC}
	price := func(h *Header, after uint64) uint64 {
		return NextBaseFee(KindC, precompile.FeeConfig{}, h, h.TimeMilliseconds+after).Uint64()
	}
	head := &Header{Number: new(big.Int), MinDelayExcess: initialDelay, TimeMilliseconds: 5_500, ExtDataGasUsed: new(big.Int)}
	if have := GasCapacity(KindC, precompile.FeeConfig{}, head, 6_000); have != 1_000_000 {
		t.Errorf("half a second after block 0 there are %d gas", have)
	}
	for range 90 {
		next := head.nextHeader(head.ParentHash, head.EarliestChild())
		rules.beforeExecution(head, next)
		if next.GasLimit != 10_000_000 || next.TimeMilliseconds != head.TimeMilliseconds+2_000 {
			t.Fatalf("block %d: gas limit %d at %d ms", next.Number, next.GasLimit, next.TimeMilliseconds)
		}
		next.GasUsed = GasCapacity(KindC, precompile.FeeConfig{}, head, next.TimeMilliseconds)
		rules.afterExecution(head, next, Desired{})
		head = next
	}
	if have := price(head, 0); have != 8 {
		t.Errorf("after three minutes gas costs %d wei", have)
	}
	if have := price(head, 61_000); have != 4 {
		t.Errorf("a minute later gas costs %d wei", have)
	}
	if have := price(head, 200_000); have != 1 {
		t.Errorf("after as long a rest gas costs %d wei", have)
	}
	if early := NextBaseFee(KindC, precompile.FeeConfig{}, head, 0); early.Uint64() != price(head, 0) {
		t.Errorf("a time before the parent gives %s", early)
	}
}

// TestProposersMoveTargetAndDelay lets proposers vote for more gas and faster blocks: both move a little with each block, and the price stays.
func TestProposersMoveTargetAndDelay(t *testing.T) {
	rules := feeRules{kind: KindC}
	target, faster := TargetExcess(1_200_000), DelayExcess(1_000)
	head := &Header{Number: big.NewInt(1), MinDelayExcess: initialDelay, ExtDataGasUsed: new(big.Int),
		Extra: feeState{capacity: 9_000_000, excess: 95_700_000}.encode()}
	for range 3 {
		next := head.nextHeader(head.ParentHash, head.TimeMilliseconds)
		rules.beforeExecution(head, next)
		rules.afterExecution(head, next, Desired{TargetExcess: &target, DelayExcess: &faster})
		if same := next.Claimed(KindC); *same.TargetExcess != parseFeeState(head.Extra).targetExcess+maxTargetExcessDiff || *same.DelayExcess != head.MinDelayExcess-maxDelayDiff {
			t.Errorf("a block claims %d and %d", *same.TargetExcess, *same.DelayExcess)
		}
		again := head.nextHeader(head.ParentHash, head.TimeMilliseconds)
		rules.afterExecution(head, again, next.Claimed(KindC))
		if string(again.Extra) != string(next.Extra) || again.MinDelayExcess != next.MinDelayExcess {
			t.Errorf("what a block claims does not make it again")
		}
		head = next
	}
	if s := parseFeeState(head.Extra); s.target() != 1_002_933 || s.price().Uint64() != 3 {
		t.Errorf("after three blocks the target is %d, the price %s", s.target(), s.price())
	}
	if *head.Claimed(KindL1).DelayExcess != initialDelay-3*maxDelayDiff || head.Claimed(KindL1).TargetExcess != nil {
		t.Error("an L1 has no target")
	}
}
