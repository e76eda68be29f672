package export_test

import (
	"testing"

	"snowglobe/sim/export"
	"snowglobe/sim/store"
)

func TestRewardKind(t *testing.T) {
	for _, c := range []struct {
		staker store.Staker
		n      int
		want   string
	}{
		{store.Staker{Delegator: true, Rewarded: true, Reward: 5}, 0, "DELEGATOR"},
		{store.Staker{Rewarded: true, Reward: 5}, 0, "VALIDATOR"},
		{store.Staker{Rewarded: true, Reward: 5}, 1, "VALIDATOR_FEE"},
		{store.Staker{Rewarded: true}, 0, "VALIDATOR_FEE"},
		{store.Staker{Reward: 5}, 0, "VALIDATOR_FEE"},
	} {
		if got := export.RewardKind(&c.staker, c.n); got != c.want {
			t.Errorf("%+v, output %d: %s, want %s", c.staker, c.n, got, c.want)
		}
	}
}
