package rules

import (
	"encoding/json"
	"os"
	"testing"
)

// Avalanchego's reward.NewPrimaryNetworkCalculator gives these rewards to stakes that start before, at and after Helicon.
// testdata/avalanchego/record wrote them.
func TestRewardsAsAvalanchegoCalculatesThem(t *testing.T) {
	text, err := os.ReadFile("testdata/rewards.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Network                              uint32
		Start, Duration, Stake, Supply, Want uint64
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, n := range []*Network{Mainnet, Fuji} {
		seen := 0
		for _, v := range all {
			if v.Network != n.NetworkID {
				continue
			}
			seen++
			if got := n.StakingAt(v.Start).Reward(v.Duration, v.Stake, v.Supply); got != v.Want {
				t.Errorf("%s: %+v: %d", n.Name, v, got)
			}
		}
		if seen < 300 {
			t.Errorf("%s: %d rewards", n.Name, seen)
		}
	}
}
