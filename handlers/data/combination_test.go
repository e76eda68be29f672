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

	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// TestListsAreWhatARowByRowEvaluationSays requests random combinations of all filters of the primary network's lists, over several worlds, each up to
// the last page.
func TestListsAreWhatARowByRowEvaluationSays(t *testing.T) {
	for _, number := range []int64{1, 2}[:times(t, 2)] {
		g, rng := open(t, number), rand.New(rand.NewPCG(uint64(number), 55))
		for _, network := range networks {
			base := "/v1/networks/" + network
			filterDelegators(t, g, rng, ledger(t, g, network).Name, base)
			filterL1Validators(t, g, rng, network, base)
			for _, chain := range chainAliases {
				filterBlocks(t, g, rng, base+"/blockchains/"+chain)
			}
			filterTransactions(t, g, rng, base)
			filterUTXOs(t, g, rng, network, base)
		}
	}
}

var chainAliases = []string{"p-chain", "x-chain", "c-chain"}

// filterDelegators compares with the rows, in the terms of a delegation.
func filterDelegators(t *testing.T, g *globe, rng *rand.Rand, network, base string) {
	t.Helper()
	n := ledger(t, g, network)
	rows, err := n.DB.Stakers(context.Background(), n.Chain(txs.PChain))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(rows, func(a, b store.Staker) int {
		return cmp.Or(cmp.Compare(b.ID.Number(), a.ID.Number()), slices.Compare(b.Tx, a.Tx))
	})
	var all []object
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
		all = append(all, object{"txHash": ids.ID(s.Tx).String(), "nodeId": ids.NodeID(s.Node).String(), "owners": owners, "status": status})
	}
	for range times(t, 80) {
		q := newTrial(t, g, rng, base+"/delegators", "delegators", "txHash", all)
		status := []string{"completed", "active", "pending"}[rng.IntN(3)]
		q.sometimes(3, "delegationStatus", status, func(o object) bool { return o["status"] == status })
		a, b := q.one()["nodeId"], q.one()["nodeId"]
		q.sometimes(3, "nodeIds", fmt.Sprint(a, ",", b), func(o object) bool { return o["nodeId"] == a || o["nodeId"] == b })
		x, y := dig(q.one(), "owners", 0).(string), dig(q.one(), "owners", 0).(string)
		q.sometimes(3, "rewardAddresses", "P-"+x+","+y+","+x, func(o object) bool { return holds(o["owners"], x) || holds(o["owners"], y) })
		q.run(true)
	}
}

func filterL1Validators(t *testing.T, g *globe, rng *rand.Rand, network, base string) {
	t.Helper()
	n := ledger(t, g, network)
	head, err := n.DB.PrimaryHead(context.Background(), n.Chain(txs.PChain))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := n.DB.L1Validators(context.Background(), n.Chain(txs.PChain), head.ID.Number())
	if err != nil {
		t.Fatal(err)
	}
	var all []object
	for _, v := range slices.Backward(rows) {
		all = append(all, object{"validationId": ids.ID(v.Validation).String(), "nodeId": ids.NodeID(v.Node).String(), "subnetId": ids.ID(v.Subnet).String(),
			"active": v.Weight > 0 && v.EndAccumulatedFee > n.Accrued(head)})
	}
	for range times(t, 60) {
		q := newTrial(t, g, rng, base+"/l1Validators", "validators", "validationId", all)
		if !q.sometimes(2, "includeInactiveL1Validators", "true", func(object) bool { return true }) {
			q.holds = append(q.holds, func(o object) bool { return o["active"] == true })
		}
		for _, name := range []string{"nodeId", "subnetId", "validationId"} {
			value := q.one()[name]
			q.sometimes(4, strings.Replace(name, "validationId", "l1ValidationId", 1), fmt.Sprint(value), func(o object) bool { return o[name] == value })
		}
		q.run(false)
	}
}

func filterBlocks(t *testing.T, g *globe, rng *rand.Rand, base string) {
	t.Helper()
	all := g.pages(t, base+"/blocks", "blocks", 100)
	for i := 1; i < len(all); i++ {
		if integer(all[i-1]["blockNumber"]) != integer(all[i]["blockNumber"])+1 {
			t.Fatalf("block %v comes before %v", all[i-1]["blockNumber"], all[i]["blockNumber"])
		}
	}
	for range times(t, 25) {
		q := newTrial(t, g, rng, base+"/blocks", "blocks", "blockHash", all)
		q.between("blockTimestamp")
		node := dig(q.one(), "proposerDetails", "proposerNodeId")
		if node != nil && rng.IntN(3) == 0 {
			q.path = fmt.Sprint(base, "/nodes/", node, "/blocks")
			q.holds = append(q.holds, func(o object) bool { return dig(o, "proposerDetails", "proposerNodeId") == node })
		}
		q.run(false)
	}
}

// filterTransactions compares the filters with the transactions' own fields.
func filterTransactions(t *testing.T, g *globe, rng *rand.Rand, base string) {
	t.Helper()
	active := map[any]bool{}
	for _, list := range []string{"validators?validationStatus=active&subnetId=" + ids.Empty.String(), "delegators?delegationStatus=active"} {
		for _, o := range g.pages(t, base+"/"+list, list[:len("validators")], 100) {
			active[o["txHash"]] = true
		}
	}
	for _, chain := range chainAliases {
		all := g.pages(t, base+"/blockchains/"+chain+"/transactions", "transactions", 100)
		stakes, ended := map[any]object{}, map[any]any{} // staking transactions, and those that returned their stakes
		for _, tx := range all {                         // newest first
			stakes[tx["txHash"]] = tx
			if staking := tx["stakingTxHash"]; ended[staking] == nil && !active[staking] {
				ended[staking] = tx["txHash"]
			}
		}
		for _, tx := range all {
			var returned object
			if staking := tx["stakingTxHash"]; ended[staking] == tx["txHash"] {
				returned = stakes[staking]
			}
			describeTransaction(tx, returned)
		}
		for range times(t, 40) {
			q := newTrial(t, g, rng, base+"/blockchains/"+chain+"/transactions", "transactions", "txHash", all)
			q.between("time")
			x, y := toucher(q), toucher(q)
			if x != "" && y != "" {
				q.sometimes(2, "addresses", prefixed(x)+","+y, func(o object) bool { return holds(o["touched"], x) || holds(o["touched"], y) })
			}
			a, b := q.one()["txType"], q.one()["txType"]
			q.sometimes(3, "txTypes", fmt.Sprint(a, ",", b), func(o object) bool { return o["txType"] == a || o["txType"] == b })
			sorts := true
			if id := dig(q.one(), "validations", 0); id != nil {
				q.sometimes(1, "l1ValidationId", id.(string), func(o object) bool { return holds(o["validations"], id.(string)) })
			} else if asset := dig(q.one(), "assets", 0); chain == "x-chain" && len(q.query["addresses"]) == 0 && rng.IntN(3) == 0 {
				q.path, sorts = fmt.Sprint(base, "/blockchains/", chain, "/assets/", asset, "/transactions"), false
				q.holds = append(q.holds, func(o object) bool { return holds(o["assets"], asset.(string)) })
			}
			if chain == "p-chain" && len(q.query["l1ValidationId"]) == 0 && rng.IntN(3) == 0 {
				q.path += ":listStaking"
				q.holds = append(q.holds, func(o object) bool { return active[o["txHash"]] })
			}
			q.run(sorts)
		}
	}
}

// toucher returns an address or account that a transaction touched, or an empty one.
func toucher(q *trial) string {
	touched, _ := q.one()["touched"].([]any)
	if len(touched) == 0 {
		return ""
	}
	return touched[q.rng.IntN(len(touched))].(string)
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
func describeTransaction(tx, returned object) {
	for _, name := range []string{"blockTimestamp", "timestamp"} {
		if tx[name] != nil {
			tx["time"] = tx[name]
		}
	}
	var touched, assets, validations []any
	outputs := func(o object, kind string, passes func(object) bool) {
		list, _ := o[kind].([]any)
		for _, u := range list {
			if u := u.(object); passes(u) {
				touched = append(touched, u["addresses"].([]any)...)
				assets = append(assets, dig(u, "asset", "assetId"))
			}
		}
	}
	every := func(object) bool { return true }
	outputs(tx, "consumedUtxos", every)
	outputs(tx, "emittedUtxos", every)
	if tx["txType"] != "RewardValidatorTx" && tx["txType"] != "RewardAutoRenewedValidatorTx" {
		owners, _ := tx["rewardAddresses"].([]any)
		touched = append(touched, owners...)
	} else {
		outputs(returned, "emittedUtxos", func(u object) bool { return u["utxoStartTimestamp"] != nil })
	}
	for name, key := range map[string]string{"evmInputs": "fromAddress", "evmOutputs": "toAddress"} {
		list, _ := tx[name].([]any)
		for _, account := range list {
			touched = append(touched, dig(account, key))
		}
	}
	list, _ := tx["l1ValidatorDetails"].([]any)
	for _, v := range list {
		validations = append(validations, dig(v, "validationId"))
	}
	tx["touched"], tx["assets"], tx["validations"] = touched, assets, validations
}
