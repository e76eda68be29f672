package staking_test

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

// TestDelegatorsAndL1ValidatorsAreWhatARowByRowEvaluationSays requests random combinations of all filters, each up to the last page.
func TestDelegatorsAndL1ValidatorsAreWhatARowByRowEvaluationSays(t *testing.T) {
	for _, number := range []int64{1, 2}[:datatest.Times(t, 2)] {
		g, rng := datatest.Open(t, number), rand.New(rand.NewPCG(uint64(number), 55))
		for _, network := range datatest.Networks {
			base := "/v1/networks/" + network
			filterDelegators(t, g, rng, network, base)
			filterL1Validators(t, g, rng, network, base)
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
