package query_test

import (
	"testing"

	"snowglobe/sim/query"
	"snowglobe/sim/store"
)

func TestRewardKind(t *testing.T) {
	for _, c := range []struct {
		staker store.Staker
		n      int
		want   string
	}{
		{store.Staker{Delegator: true, Rewarded: true, PotentialReward: 5}, 0, "DELEGATOR"},
		{store.Staker{Rewarded: true, PotentialReward: 5}, 0, "VALIDATOR"},
		{store.Staker{Rewarded: true, PotentialReward: 5}, 1, "VALIDATOR_FEE"},
		{store.Staker{Rewarded: true}, 0, "VALIDATOR_FEE"},
		{store.Staker{PotentialReward: 5}, 0, "VALIDATOR_FEE"},
	} {
		if got := query.RewardKind(&c.staker, store.StakerCompleted, c.n); got != c.want {
			t.Errorf("%+v, output %d: %s, want %s", c.staker, c.n, got, c.want)
		}
	}
	if got := query.RewardKind(&store.Staker{PotentialReward: 5}, store.StakerActive, 0); got != "VALIDATOR" {
		t.Errorf("before the stake is completed: %s", got)
	}
}
