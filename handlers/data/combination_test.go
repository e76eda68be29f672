package data_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data/datatest"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// TestListsAreWhatARowByRowEvaluationSays requests random combinations of all filters of the primary network's lists, over several worlds, each up to
// the last page.
func TestListsAreWhatARowByRowEvaluationSays(t *testing.T) {
	for _, number := range []int64{1, 2}[:datatest.Times(t, 2)] {
		g, rng := datatest.Open(t, number), rand.New(rand.NewPCG(uint64(number), 55))
		for _, network := range datatest.Networks {
			base := "/v1/networks/" + network
			filterDelegators(t, g, rng, g.Network(t, network).Name, base)
			filterL1Validators(t, g, rng, network, base)
			for _, chain := range datatest.Chains {
				filterBlocks(t, g, rng, base+"/blockchains/"+chain)
			}
			filterTransactions(t, g, rng, base)
			filterUTXOs(t, g, rng, network, base)
		}
	}
}

// filterDelegators compares with the rows, in the terms of a delegation.
func filterDelegators(t *testing.T, g *datatest.Globe, rng *rand.Rand, network, base string) {
	t.Helper()
	n := g.Network(t, network)
	rows, err := n.DB.Stakers(context.Background(), n.Chain(txs.PChain))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(rows, func(a, b store.Staker) int {
		return cmp.Or(cmp.Compare(b.ID.Number(), a.ID.Number()), slices.Compare(b.Tx, a.Tx))
	})
	var all []datatest.Object
	for _, s := range rows {
		if !s.Delegator {
			continue
		}
		status, now := statusNames[s.Status], n.Clock.Unix()
		switch {
		case s.Status < store.StakerCompleted && s.End <= now:
			status = "completed"
		case s.Status == store.StakerPending && s.Start <= now:
			status = "active"
		}
		var owners []any
		for _, a := range store.ParseOutputOwners(s.Owner).Addresses {
			owners = append(owners, n.Rules.Bech32(ids.ShortID(a)))
		}
		all = append(all, datatest.Object{"txHash": ids.ID(s.Tx).String(), "nodeId": ids.NodeID(s.Node).String(), "owners": owners, "status": status})
	}
	for range datatest.Times(t, 80) {
		q := datatest.NewTrial(t, g, rng, base+"/delegators", "delegators", "txHash", all)
		status := []string{"completed", "active", "pending"}[rng.IntN(3)]
		q.Sometimes(3, "delegationStatus", status, func(o datatest.Object) bool { return o["status"] == status })
		a, b := q.One()["nodeId"], q.One()["nodeId"]
		q.Sometimes(3, "nodeIds", fmt.Sprint(a, ",", b), func(o datatest.Object) bool { return o["nodeId"] == a || o["nodeId"] == b })
		x, y := datatest.Dig(q.One(), "owners", 0).(string), datatest.Dig(q.One(), "owners", 0).(string)
		q.Sometimes(3, "rewardAddresses", "P-"+x+","+y+","+x, func(o datatest.Object) bool { return datatest.Holds(o["owners"], x) || datatest.Holds(o["owners"], y) })
		q.Run(true)
	}
}

func filterL1Validators(t *testing.T, g *datatest.Globe, rng *rand.Rand, network, base string) {
	t.Helper()
	n := g.Network(t, network)
	head, err := n.DB.PrimaryHead(context.Background(), n.Chain(txs.PChain))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := n.DB.L1Validators(context.Background(), n.Chain(txs.PChain), head.ID.Number())
	if err != nil {
		t.Fatal(err)
	}
	var all []datatest.Object
	for _, v := range slices.Backward(rows) {
		all = append(all, datatest.Object{"validationId": ids.ID(v.Validation).String(), "nodeId": ids.NodeID(v.Node).String(), "subnetId": ids.ID(v.Subnet).String(),
			"active": v.Weight > 0 && v.EndAccumulatedFee > n.Accrued(head)})
	}
	for range datatest.Times(t, 60) {
		q := datatest.NewTrial(t, g, rng, base+"/l1Validators", "validators", "validationId", all)
		if !q.Sometimes(2, "includeInactiveL1Validators", "true", func(datatest.Object) bool { return true }) {
			q.Holds = append(q.Holds, func(o datatest.Object) bool { return o["active"] == true })
		}
		for _, name := range []string{"nodeId", "subnetId", "validationId"} {
			value := q.One()[name]
			q.Sometimes(4, strings.Replace(name, "validationId", "l1ValidationId", 1), fmt.Sprint(value), func(o datatest.Object) bool { return o[name] == value })
		}
		q.Run(false)
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
