package staking_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data/datatest"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

func TestNetworkDetailsAddUp(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, network := range datatest.Networks {
		base := "/v1/networks/" + network
		count, staked := 0, int64(0)
		for _, v := range g.Pages(t, base+"/validators?validationStatus=active&subnetId="+ids.Empty.String(), "validators", 50) {
			n, _ := strconv.ParseInt(v["amountStaked"].(string), 10, 64)
			count, staked = count+1, staked+n
		}
		d := g.Get(t, base)
		if fmt.Sprint(datatest.Dig(d, "validatorDetails", "validatorCount")) != strconv.Itoa(count) || datatest.Dig(d, "validatorDetails", "totalAmountStaked") != strconv.Itoa(int(staked)) {
			t.Errorf("%s has %v: want %d validators with %d", network, d["validatorDetails"], count, staked)
		}
		delegations := g.Pages(t, base+"/delegators?delegationStatus=active", "delegators", 50)
		n := g.Network(t, network)
		rows, err := n.DB.Stakers(context.Background(), n.Chain(txs.PChain))
		if err != nil {
			t.Fatal(err)
		}
		rewards := uint64(0)
		for _, row := range rows {
			if row.Status == store.StakerActive && row.Start <= n.Clock.Unix() && n.Clock.Unix() < row.End && ids.ID(row.Subnet) == ids.Empty {
				rewards += uint64(row.PotentialReward)
			}
		}
		if have := datatest.Dig(d, "validatorDetails", "estimatedAnnualStakingReward"); have != fmt.Sprint(rewards) || rewards == 0 {
			t.Errorf("%s: rewards of %v, want %d", network, have, rewards)
		}
		if fmt.Sprint(datatest.Dig(d, "delegatorDetails", "delegatorCount")) != strconv.Itoa(len(delegations)) {
			t.Errorf("%s has %v: want %d delegators", network, d["delegatorDetails"], len(delegations))
		}
		for _, share := range datatest.Dig(d, "validatorDetails", "stakingDistributionByVersion").([]any) {
			n, _ := strconv.Atoi(fmt.Sprint(datatest.Dig(share, "validatorCount")))
			count -= n
		}
		if count != 0 {
			t.Errorf("%s: the versions' shares leave out %d validators", network, count)
		}
	}
}

// TestRewardsAreTheOutputsThatPaidThem compares with every output that pays a reward.
func TestRewardsAreTheOutputsThatPaidThem(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, network := range datatest.Networks {
		n, base := g.Network(t, network), "/v1/networks/"+network
		outputs, err := n.DB.UTXOsMadeBy(context.Background(), n.Chain(txs.PChain))
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for _, u := range outputs {
			if u.Reward {
				want[ids.ID(u.Hash).String()] = strconv.FormatUint(uint64(u.Amount), 10)
			}
		}
		nodes := map[string]bool{}
		stakers, _ := n.DB.Stakers(context.Background(), n.Chain(txs.PChain))
		pending := map[string]int{} // by staking transaction: a reward, and of a delegation also the validator's fee
		for _, s := range stakers {
			nodes[ids.NodeID(s.Node).String()] = true
			if s.Status == store.StakerActive && s.Owner != nil {
				pending[ids.ID(s.Tx).String()] = 1
			}
			if s.Status == store.StakerActive && s.Delegator {
				pending[ids.ID(s.Tx).String()] = 2
			}
		}
		found := 0
		for node := range nodes {
			for _, paid := range g.Pages(t, base+"/rewards?nodeIds="+node, "historicalRewards", 1) {
				found++
				if amount := datatest.Dig(paid, "reward", "amount"); amount != want[paid["utxoId"].(string)] {
					t.Errorf("reward %v is %v: want %s", paid["utxoId"], amount, want[paid["utxoId"].(string)])
				}
				listed, block := map[any]datatest.Object{}, g.Get(t, base+"/blockchains/p-chain/transactions/"+paid["rewardTxHash"].(string))
				for _, u := range g.Pages(t, fmt.Sprint(base, "/blockchains/p-chain/utxos?includeSpent=true&addresses=", datatest.Dig(paid, "addresses", 0)), "utxos", 100) {
					listed[u["utxoId"]] = u
				}
				maker := paid["txHash"]
				if strings.HasPrefix(block["txType"].(string), "RewardAutoRenewed") || block["txType"] == "UNKNOWN" {
					maker = paid["rewardTxHash"] // each cycle's outputs are its own
				}
				if u := listed[paid["utxoId"]]; u == nil || u["blockNumber"] != block["blockNumber"] || u["blockTimestamp"] != block["blockTimestamp"] || u["txHash"] != maker {
					t.Errorf("reward %v is listed as %v: want block %v", paid, u, block["blockNumber"])
				}
				mine := g.Pages(t, fmt.Sprint(base, "/rewards?addresses=", datatest.Dig(paid, "addresses", 0)), "historicalRewards", 50)
				if !slices.Contains(datatest.Text(mine, "utxoId"), paid["utxoId"].(string)) {
					t.Errorf("reward %v is not in the list of its owner", paid["utxoId"])
				}
			}
			for _, reward := range g.Pages(t, base+"/rewards:listPending?sortOrder=asc&nodeIds="+node, "pendingRewards", 3) {
				hash := reward["txHash"].(string)
				if pending[hash]--; pending[hash] == 0 {
					delete(pending, hash)
				}
			}
		}
		if found != len(want) || len(pending) != 0 {
			t.Errorf("%s: %d rewards were paid: want %d; %v pending ones are missing or too many", network, found, len(want), pending)
		}
		g.Ask(t, base+"/rewards", 400)
	}
}
