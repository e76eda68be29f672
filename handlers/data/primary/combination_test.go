package primary_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data/datatest"
)

// TestListsAreWhatARowByRowEvaluationSays requests random combinations of all filters of the primary network's lists, over several worlds, each up to
// the last page.
func TestListsAreWhatARowByRowEvaluationSays(t *testing.T) {
	for _, number := range []int64{1, 2}[:datatest.Times(t, 2)] {
		g, rng := datatest.Open(t, number), rand.New(rand.NewPCG(uint64(number), 55))
		for _, network := range datatest.Networks {
			base := "/v1/networks/" + network
			for _, chain := range datatest.Chains {
				filterBlocks(t, g, rng, base+"/blockchains/"+chain)
			}
			filterTransactions(t, g, rng, base)
			filterUTXOs(t, g, rng, network, base)
		}
	}
}

func filterBlocks(t *testing.T, g *datatest.Globe, rng *rand.Rand, base string) {
	t.Helper()
	all := g.Pages(t, base+"/blocks", "blocks", 100)
	for i := 1; i < len(all); i++ {
		if datatest.Integer(all[i-1]["blockNumber"]) != datatest.Integer(all[i]["blockNumber"])+1 {
			t.Fatalf("block %v comes before %v", all[i-1]["blockNumber"], all[i]["blockNumber"])
		}
	}
	for range datatest.Times(t, 25) {
		q := datatest.NewTrial(t, g, rng, base+"/blocks", "blocks", "blockHash", all)
		q.Between("blockTimestamp")
		node := datatest.Dig(q.One(), "proposerDetails", "proposerNodeId")
		if node != nil && rng.IntN(3) == 0 {
			q.Path = fmt.Sprint(base, "/nodes/", node, "/blocks")
			q.Holds = append(q.Holds, func(o datatest.Object) bool { return datatest.Dig(o, "proposerDetails", "proposerNodeId") == node })
		}
		q.Run(false)
	}
}

// filterTransactions compares the filters with the transactions' own fields.
func filterTransactions(t *testing.T, g *datatest.Globe, rng *rand.Rand, base string) {
	t.Helper()
	active := map[any]bool{}
	for _, list := range []string{"validators?validationStatus=active&subnetId=" + ids.Empty.String(), "delegators?delegationStatus=active"} {
		for _, o := range g.Pages(t, base+"/"+list, list[:len("validators")], 100) {
			active[o["txHash"]] = true
		}
	}
	for _, chain := range datatest.Chains {
		all := g.Pages(t, base+"/blockchains/"+chain+"/transactions", "transactions", 100)
		stakes, ended := map[any]datatest.Object{}, map[any]any{} // staking transactions, and those that returned their stakes
		for _, tx := range all {                                  // newest first
			stakes[tx["txHash"]] = tx
			if staking := tx["stakingTxHash"]; ended[staking] == nil && !active[staking] {
				ended[staking] = tx["txHash"]
			}
		}
		for _, tx := range all {
			var returned datatest.Object
			if staking := tx["stakingTxHash"]; ended[staking] == tx["txHash"] {
				returned = stakes[staking]
			}
			describeTransaction(tx, returned)
		}
		for range datatest.Times(t, 40) {
			q := datatest.NewTrial(t, g, rng, base+"/blockchains/"+chain+"/transactions", "transactions", "txHash", all)
			q.Between("time")
			x, y := toucher(q), toucher(q)
			if x != "" && y != "" {
				q.Sometimes(2, "addresses", prefixed(x)+","+y, func(o datatest.Object) bool {
					return datatest.Holds(o["touched"], x) || datatest.Holds(o["touched"], y)
				})
			}
			a, b := q.One()["txType"], q.One()["txType"]
			q.Sometimes(3, "txTypes", fmt.Sprint(a, ",", b), func(o datatest.Object) bool { return o["txType"] == a || o["txType"] == b })
			sorts := true
			if id := datatest.Dig(q.One(), "validations", 0); id != nil {
				q.Sometimes(1, "l1ValidationId", id.(string), func(o datatest.Object) bool { return datatest.Holds(o["validations"], id.(string)) })
			} else if asset := datatest.Dig(q.One(), "assets", 0); chain == "x-chain" && len(q.Query["addresses"]) == 0 && rng.IntN(3) == 0 {
				q.Path, sorts = fmt.Sprint(base, "/blockchains/", chain, "/assets/", asset, "/transactions"), false
				q.Holds = append(q.Holds, func(o datatest.Object) bool { return datatest.Holds(o["assets"], asset.(string)) })
			}
			if chain == "p-chain" && len(q.Query["l1ValidationId"]) == 0 && rng.IntN(3) == 0 {
				q.Path += ":listStaking"
				q.Holds = append(q.Holds, func(o datatest.Object) bool { return active[o["txHash"]] })
			}
			q.Run(sorts)
		}
	}
}

// toucher returns an address or account that a transaction touched, or an empty one.
func toucher(q *datatest.Trial) string {
	touched, _ := q.One()["touched"].([]any)
	if len(touched) == 0 {
		return ""
	}
	return touched[q.Rng.IntN(len(touched))].(string)
}

// prefixed returns an address with a chain's prefix; an account has none.
func prefixed(address string) string {
	if strings.HasPrefix(address, "0x") {
		return address
	}
	return "X-" + address
}

// describeTransaction adds everything by which a transaction can be found: owners of the outputs it touched, assets and validations. A reward
// transaction also touches the stake that it returned.
func describeTransaction(tx, returned datatest.Object) {
	for _, name := range []string{"blockTimestamp", "timestamp"} {
		if tx[name] != nil {
			tx["time"] = tx[name]
		}
	}
	var touched, assets, validations []any
	outputs := func(o datatest.Object, kind string, passes func(datatest.Object) bool) {
		list, _ := o[kind].([]any)
		for _, u := range list {
			if u := u.(datatest.Object); passes(u) {
				touched = append(touched, u["addresses"].([]any)...)
				assets = append(assets, datatest.Dig(u, "asset", "assetId"))
			}
		}
	}
	every := func(datatest.Object) bool { return true }
	outputs(tx, "consumedUtxos", every)
	outputs(tx, "emittedUtxos", every)
	if tx["txType"] != "RewardValidatorTx" && tx["txType"] != "RewardAutoRenewedValidatorTx" {
		owners, _ := tx["rewardAddresses"].([]any)
		touched = append(touched, owners...)
	} else {
		outputs(returned, "emittedUtxos", func(u datatest.Object) bool { return u["utxoStartTimestamp"] != nil })
	}
	for name, key := range map[string]string{"evmInputs": "fromAddress", "evmOutputs": "toAddress"} {
		list, _ := tx[name].([]any)
		for _, account := range list {
			touched = append(touched, datatest.Dig(account, key))
		}
	}
	list, _ := tx["l1ValidatorDetails"].([]any)
	for _, v := range list {
		validations = append(validations, datatest.Dig(v, "validationId"))
	}
	tx["touched"], tx["assets"], tx["validations"] = touched, assets, validations
}
