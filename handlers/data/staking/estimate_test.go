package staking_test

import (
	"strings"
	"testing"
	"time"

	"snowglobe/handlers/data/datatest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/rules"
)

// TestPendingStakersKnowWhatToExpect compares the estimates for pending stakers with the network's formula at the current supply, wherever they are
// shown, also after the clock lets them begin before a block does.
func TestPendingStakersKnowWhatToExpect(t *testing.T) {
	g := datatest.Serve(t, seedtest.Copy(t, 4))
	defer func() {
		if err := g.DB.Close(); err != nil {
			t.Error(err)
		}
	}()
	start := g.Clock.Now()
	for _, network := range datatest.Networks {
		g.Clock.Set(start)
		base := "/v1/networks/" + network
		delegators := g.Pages(t, base+"/delegators?delegationStatus=pending", "delegators", 10)
		validators := g.Pages(t, base+"/validators?validationStatus=pending&minFeePercentage=2", "validators", 10)
		if len(delegators) == 0 || len(validators) == 0 {
			t.Fatalf("%d delegators and %d validators wait on %s", len(delegators), len(validators), network)
		}
		var first int64
		for _, d := range delegators {
			gross := expected(t, g, network, d, "amountDelegated")
			percents, rest, _ := strings.Cut(d["delegationFee"].(string), ".")
			_, net := rules.SplitReward(uint64(gross), uint32(datatest.Integer(percents+rest[:4])))
			for field, want := range map[string]int64{"grossReward": gross, "estimatedGrossReward": gross, "netReward": int64(net), "estimatedNetReward": int64(net)} {
				if gross == 0 || datatest.Integer(d[field]) != want {
					t.Errorf("%s of %v is %v: want %d", field, d["txHash"], d[field], want)
				}
			}
			tellsTheSame(t, g, base, d, gross)
			first = datatest.Integer(d["startTimestamp"])
		}
		for _, v := range validators {
			reward := expected(t, g, network, v, "amountStaked")
			if reward == 0 || datatest.Integer(datatest.Dig(v, "rewards", "validationRewardAmount")) != reward {
				t.Errorf("reward of %v is %v: want %d", v["txHash"], v["rewards"], reward)
			}
			tellsTheSame(t, g, base, v, reward)
		}
		g.Clock.Set(time.Unix(first, 0))
		for _, d := range g.Pages(t, base+"/delegators?delegationStatus=active", "delegators", 100) {
			if datatest.Integer(d["startTimestamp"]) == first && (datatest.Integer(d["estimatedNetReward"]) == 0 || datatest.Integer(d["estimatedNetReward"]) >= datatest.Integer(d["estimatedGrossReward"])) {
				t.Errorf("delegation %v, which began now, expects %v of %v", d["txHash"], d["estimatedNetReward"], d["estimatedGrossReward"])
			}
		}
	}
}

// expected returns the reward by the network's formula, at the supply of the last block.
func expected(t *testing.T, g *datatest.Globe, network string, staker datatest.Object, stake string) int64 {
	t.Helper()
	head := g.Get(t, "/v1/networks/"+network+"/blockchains/p-chain/blocks?pageSize=1")
	supply := uint64(datatest.Integer(datatest.Dig(head, "blocks", 0, "currentSupply")))
	start := uint64(datatest.Integer(staker["startTimestamp"]))
	duration := uint64(datatest.Integer(staker["endTimestamp"])) - start
	return int64(g.Network(t, network).Rules.StakingAt(start).Reward(duration, uint64(datatest.Integer(staker[stake])), supply))
}

// tellsTheSame compares with the staker's transaction.
func tellsTheSame(t *testing.T, g *datatest.Globe, base string, staker datatest.Object, reward int64) {
	t.Helper()
	tx := g.Get(t, base+"/blockchains/p-chain/transactions/"+staker["txHash"].(string))
	if datatest.Integer(tx["estimatedReward"]) != reward {
		t.Errorf("transaction %v expects %v: want %d", staker["txHash"], tx["estimatedReward"], reward)
	}
}
