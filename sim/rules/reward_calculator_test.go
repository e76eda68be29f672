package rules

import (
	"testing"
)

// The recorded network paid these rewards; the supply after the last is recorded too.
func TestRewardsAsRecorded(t *testing.T) {
	const (
		supply    = uint64(361_196_350_549_095_157)
		delegator = uint64(200_449_660)
		validator = uint64(16_597_893_348)
	)
	networkRules := stakingRules(2000*avax, 25*avax, day, hour)
	got := networkRules.Reward(1_797_720_071-1_795_214_472, 25*avax, supply-delegator)
	if got != delegator {
		t.Errorf("delegator earns %d, want %d", got, delegator)
	}
	got = networkRules.Reward(1_797_806_471-1_795_214_471, 2000*avax, supply-delegator-validator)
	if got != validator {
		t.Errorf("validator earns %d, want %d", got, validator)
	}
}

func TestRewardNeverExceedsTheCap(t *testing.T) {
	networkRules := Mainnet.BaseStaking
	if got := networkRules.Reward(365*day, networkRules.SupplyCap, networkRules.SupplyCap-10); got > 10 {
		t.Errorf("earns %d of 10 that remain", got)
	}
	if got := networkRules.Reward(365*day, 3_000_000*avax, networkRules.SupplyCap); got != 0 {
		t.Errorf("earns %d when nothing remains", got)
	}
}

func TestSplitReward(t *testing.T) {
	cases := []struct {
		reward    uint64
		shares    uint32
		fee, rest uint64
	}{
		{1000, 20_000, 20, 980},
		{1001, 20_000, 21, 980},
		{7, 1_000_000, 7, 0},
		{7, 0, 0, 7},
		{1<<64 - 1, 20_000, 368_934_881_474_731_615, 18_077_809_192_234_820_000}, // a product of more than 64 bits: rounded first, as reward.Split does
	}
	for _, c := range cases {
		fee, rest := SplitReward(c.reward, c.shares)
		if fee != c.fee || rest != c.rest {
			t.Errorf("%d at %d: %d and %d, want %d and %d", c.reward, c.shares, fee, rest, c.fee, c.rest)
		}
	}
}

func TestMaxWeight(t *testing.T) {
	networkRules := Mainnet.BaseStaking
	if got := networkRules.MaxWeight(2000 * avax); got != 10_000*avax {
		t.Errorf("five times 2000 is %d", got)
	}
	if got := networkRules.MaxWeight(1_000_000 * avax); got != 3_000_000*avax {
		t.Errorf("the ceiling is %d", got)
	}
}
