package data_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// filterUTXOs compares with the rows of random personas.
func filterUTXOs(t *testing.T, g *globe, rng *rand.Rand, network, base string) {
	t.Helper()
	people := []string{"alice", "bob", "whale", "hoarder", "traveller", "committee", "staker", "delegator"}
	for kind, chain := range chainAliases {
		for range times(25) {
			a, b := owner(t, g, network, people[rng.IntN(len(people))]), owner(t, g, network, people[rng.IntN(len(people))])
			all := outputsOf(t, ledger(t, g, network), txs.Chain(kind), a, b)
			q := newTrial(t, g, rng, base+"/blockchains/"+chain+"/utxos", "utxos", "utxoId", all)
			q.query.Set("addresses", a+","+b)
			if !q.sometimes(2, "includeSpent", "true", func(object) bool { return true }) {
				q.holds = append(q.holds, func(o object) bool { return o["spent"] == false })
			}
			if len(all) > 0 {
				asset, least := q.one()["asset"], integer(q.one()["amount"])
				q.sometimes(4, "assetId", fmt.Sprint(asset), func(o object) bool { return o["asset"] == asset })
				q.sometimes(4, "minUtxoAmount", fmt.Sprint(least), func(o object) bool { return integer(o["amount"]) >= least })
			}
			if q.sometimes(2, "sortBy", "amount", func(object) bool { return true }) {
				slices.SortStableFunc(q.all, func(a, b object) int { return cmp.Compare(integer(b["amount"]), integer(a["amount"])) })
			}
			q.run(true)
		}
	}
}

// outputsOf are the outputs of two owners, spent or not, newest first.
func outputsOf(t *testing.T, n *sim.Network, kind txs.Chain, owners ...string) (all []object) {
	t.Helper()
	type made struct {
		store.UTXO
		time int64
	}
	var rows []made
	for _, maker := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
		if (kind == txs.CChain) == (maker == txs.CChain) && kind == txs.CChain || kind != txs.CChain && maker != kind {
			continue
		}
		found, err := n.DB.UTXOsMadeBy(t.Context(), n.Chain(maker))
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range found {
			parsed, err := txs.ParseUTXO(maker, u.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			mine := slices.ContainsFunc(parsed.Owners().Addresses, func(a ids.ShortID) bool { return slices.Contains(owners, n.Rules.Bech32(a)) })
			if u.Chain != n.Chain(kind) || !mine {
				continue
			}
			time, err := n.DB.PrimaryTime(t.Context(), store.At(n.Chain(maker), u.ID.Height(), 0))
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, made{u, time})
		}
	}
	slices.SortFunc(rows, func(a, b made) int { return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(b.ID, a.ID)) })
	for _, u := range rows {
		all = append(all, object{"utxoId": ids.ID(u.Hash).String(), "asset": ids.ID(u.Asset).String(), "amount": strconv.FormatUint(uint64(u.Amount), 10), "spent": u.Spent != nil})
	}
	return all
}
