package data_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/data/datatest"
	"snowglobe/sim"
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

func TestSubnetsAndTheirBlockchains(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, network := range datatest.Networks {
		n, base := g.Network(t, network), "/v1/networks/"+network
		chains := g.Pages(t, base+"/blockchains", "blockchains", 2)
		back := g.Pages(t, base+"/blockchains?sortOrder=asc", "blockchains", 3)
		if slices.Reverse(back); datatest.Encode(back) != datatest.Encode(chains) {
			t.Error("ascending is not descending backwards")
		}
		rows, err := n.DB.Blockchains(context.Background(), n.Chain(txs.PChain))
		if err != nil || len(chains) != len(rows)+3 {
			t.Errorf("%s has %d blockchains: want %d and the primary network's, %v", network, len(chains), len(rows), err)
		}
		for _, c := range chains {
			one := g.Get(t, base+"/blockchains/"+c["blockchainId"].(string))
			genesis, hasGenesis := one["genesisData"].(datatest.Object)
			delete(one, "genesisData")
			if datatest.Encode(one) != datatest.Encode(c) {
				t.Errorf("blockchain %v is another by itself", c["blockchainId"])
			}
			checkGenesis(t, n, c, genesis, hasGenesis)
		}
		for alias, id := range map[string]ids.ID{"p-chain": ids.Empty, "x-chain": n.Rules.XChainID, "c-chain": n.Rules.CChainID} {
			if have := g.Get(t, base+"/blockchains/"+alias)["blockchainId"]; have != id.String() {
				t.Errorf("%s is %v", alias, have)
			}
		}
		found, l1s := 0, 0
		for _, s := range g.Pages(t, base+"/subnets", "subnets", 2) {
			found += len(s["blockchains"].([]any))
			if s["isL1"] == true {
				l1s++
				id, err := ids.FromString(s["l1ConversionTransactionHash"].(string))
				tx, missing := n.DB.PrimaryTxByHash(context.Background(), n.Chain(txs.PChain), id[:])
				if err != nil || missing != nil || tx.Type != "ConvertSubnetToL1Tx" || datatest.Dig(s, "l1ValidatorManagerDetails", "contractAddress") == nil {
					t.Errorf("L1 %v was converted by %v: %v", s["subnetId"], s["l1ConversionTransactionHash"], missing)
				}
			}
			if one := g.Get(t, base+"/subnets/"+s["subnetId"].(string)); datatest.Encode(one) != datatest.Encode(s) {
				t.Errorf("subnet %v is another by itself", s["subnetId"])
			}
		}
		if found != len(chains) || l1s == 0 {
			t.Errorf("the subnets have %d blockchains, %d are L1s: want %d blockchains", found, l1s, len(chains))
		}
		g.Ask(t, base+"/subnets/"+ids.ID{7}.String(), 404)
		g.Ask(t, base+"/blockchains/"+ids.ID{7}.String(), 404)
	}
}

func TestThereAreNoVertices(t *testing.T) {
	g := datatest.Open(t, 1)
	base := "/v1/networks/fuji/blockchains/x-chain/vertices"
	for _, p := range []string{base, base + ":listByHeight?vertexHeight=3"} {
		if list := g.Get(t, p); len(list["vertices"].([]any)) != 0 || datatest.Dig(list, "chainInfo", "chainName") != "x-chain" {
			t.Errorf("GET %s is %v", p, list)
		}
	}
	g.Ask(t, base+"/"+ids.ID{7}.String(), 404)
	g.Ask(t, base+":listByHeight", 400)
	g.Ask(t, strings.Replace(base, "x-chain", "p-chain", 1), 400)
}

func TestAssetsAreTheRows(t *testing.T) {
	g := datatest.Open(t, 1)
	for _, network := range datatest.Networks {
		n := g.Network(t, network)
		rows, err := n.DB.Assets(context.Background(), n.Chain(txs.XChain))
		if err != nil {
			t.Fatal(err)
		}
		caps := map[any]bool{}
		for _, row := range rows {
			a := g.Get(t, "/v1/networks/"+network+"/blockchains/x-chain/assets/"+ids.ID(row.Hash).String())
			if a["name"] != row.Name || a["symbol"] != row.Symbol {
				t.Errorf("asset %s is %v", row.Name, a)
			}
			caps[a["cap"]] = true
			made, err := n.DB.PrimaryTime(context.Background(), row.ID.Block())
			if row.ID.Number() == 0 {
				made = 1599696000 // AVAX's, as in the live service
			}
			if err != nil || datatest.Integer(a["createdAtTimestamp"]) != made || (row.Name == "Avalanche") != (row.ID.Number() == 0) {
				t.Errorf("asset %v was made at %d: %v", a, made, err)
			}
		}
		if !caps["fixed"] || !caps["variable"] {
			t.Errorf("caps of the assets of %s are %v", network, caps)
		}
		g.Ask(t, "/v1/networks/"+network+"/blockchains/x-chain/assets/"+ids.ID{7}.String(), 404)
	}
}

// checkGenesis compares the genesis of a single blockchain: for an EVM chain, the object that its virtual machine reads; for the X-Chain, the
// bytes with the transaction that made AVAX; for the P-Chain, none.
func checkGenesis(t *testing.T, n *sim.Network, c, genesis datatest.Object, given bool) {
	t.Helper()
	const began = 1599696000 // as in the live service
	primary := c["subnetId"] == ids.Empty.String()
	if primary != (c["createBlockNumber"] == "-1") || primary && datatest.Integer(c["createBlockTimestamp"]) != began {
		t.Errorf("blockchain %v was made at %v", c["blockchainId"], c["createBlockTimestamp"])
	}
	if !primary {
		height := uint64(datatest.Integer(c["createBlockNumber"]))
		if time, err := n.DB.PrimaryTime(t.Context(), store.At(n.Chain(txs.PChain), height, 0)); err != nil || time != datatest.Integer(c["createBlockTimestamp"]) {
			t.Errorf("block %d, which made %v, is of %d: %v", height, c, time, err)
		}
	}
	switch id := c["blockchainId"]; {
	case id == ids.Empty.String():
		if given {
			t.Errorf("the P-Chain is %v with genesis %v", c, genesis)
		}
	case id == n.Rules.XChainID.String():
		raw, err := hexutil.Decode(fmt.Sprint(genesis["data"]))
		if err != nil || genesis["encoding"] != "hex" || !bytes.Contains(raw, []byte("\x00\x04AVAX")) {
			t.Errorf("the X-Chain's genesis is %v: %v", genesis, err)
		}
	case c["evmChainId"] != nil:
		if have := datatest.Integer(datatest.Dig(genesis, "config", "chainId")); have != datatest.Integer(c["evmChainId"]) || genesis["alloc"] == nil {
			t.Errorf("the genesis of %v is of chain %d", id, have)
		}
	case !given:
		t.Errorf("blockchain %v has no genesis", id)
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
