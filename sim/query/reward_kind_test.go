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
		if got := query.PaidRewardKind(&c.staker, c.n); got != c.want {
			t.Errorf("%+v, output %d: %s, want %s", c.staker, c.n, got, c.want)
		}
	}
}
