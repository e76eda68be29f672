package primary_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/data/datatest"
	"snowglobe/sim"
	"snowglobe/sim/pchain"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// filterUTXOs compares with the rows of random personas.
func filterUTXOs(t *testing.T, g *datatest.Globe, rng *rand.Rand, network, base string) {
	t.Helper()
	people := []string{"alice", "bob", "whale", "hoarder", "traveller", "committee", "staker", "delegator", "proprietor"}
	for kind, chain := range datatest.Chains {
		for range datatest.Times(t, 25) {
			a, b := g.Owner(t, network, people[rng.IntN(len(people))]), g.Owner(t, network, people[rng.IntN(len(people))])
			all := outputsOf(t, g.Network(t, network), txs.Chain(kind), a, b)
			q := datatest.NewTrial(t, g, rng, base+"/blockchains/"+chain+"/utxos", "utxos", "utxoId", all)
			q.Query.Set("addresses", a+","+b)
			if !q.Sometimes(2, "includeSpent", "true", func(datatest.Object) bool { return true }) {
				q.Holds = append(q.Holds, func(o datatest.Object) bool { return o["spent"] == false })
			}
			if len(all) > 0 {
				asset, least := q.One()["asset"], datatest.Integer(q.One()["amount"])
				q.Sometimes(4, "assetId", fmt.Sprint(asset), func(o datatest.Object) bool { return o["asset"] == asset })
				q.Sometimes(4, "minUtxoAmount", fmt.Sprint(least), func(o datatest.Object) bool { return datatest.Integer(o["amount"]) >= least })
			}
			if q.Sometimes(2, "sortBy", "amount", func(datatest.Object) bool { return true }) {
				slices.SortFunc(q.All, func(a, b datatest.Object) int {
					return cmp.Or(cmp.Compare(datatest.Integer(b["amount"]), datatest.Integer(a["amount"])), cmp.Compare(b["utxoId"].(string), a["utxoId"].(string)))
				})
			}
			q.Run(true)
		}
	}
}

// outputsOf returns the outputs of two owners, spent or not, newest first.
func outputsOf(t *testing.T, n *sim.Network, kind txs.Chain, owners ...string) (all []datatest.Object) {
	t.Helper()
	type made struct {
		store.UTXO
		time int64
		held uint64
	}
	var rows []made
	for _, maker := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
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
			if mine && (u.Chain == n.Chain(kind) || maker == kind) {
				held := uint64(u.Amount)
				switch parsed.Out.(type) {
				case *txs.NFTTransferOutput, *txs.PropertyOwnedOutput:
					held = 1
				}
				rows = append(rows, made{u, madeAt(t, n, maker, &u), held})
			}
		}
	}
	if kind == txs.PChain {
		for _, u := range stakedOf(t, n, owners...) {
			rows = append(rows, made{u, madeAt(t, n, txs.PChain, &u), uint64(u.Amount)})
		}
	}
	slices.SortFunc(rows, func(a, b made) int {
		return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(ids.ID(b.Hash).String(), ids.ID(a.Hash).String()))
	})
	for _, u := range rows {
		all = append(all, datatest.Object{"utxoId": ids.ID(u.Hash).String(), "asset": ids.ID(u.Asset).String(), "amount": strconv.FormatUint(u.held, 10), "spent": u.Spent != nil})
	}
	return all
}

// madeAt returns the time of the block that made an output: on the P-Chain its transaction's block, unless it is a reward.
func madeAt(t *testing.T, n *sim.Network, maker txs.Chain, u *store.UTXO) int64 {
	t.Helper()
	at := store.At(n.Chain(maker), u.ID.Height(), 0)
	if maker == txs.PChain && !u.Reward && u.ID.Height() > 0 {
		row, err := n.DB.PrimaryTxByHash(t.Context(), n.Chain(maker), u.Tx)
		if err != nil {
			t.Fatal(err)
		}
		at = row.ID.Block()
	}
	time, err := n.DB.PrimaryTime(t.Context(), at)
	if maker == txs.CChain {
		var row *store.Block
		if row, err = n.DB.Block(t.Context(), n.CChain().Row.ID, u.ID.Height()); err == nil {
			time = row.Time
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return time
}

// stakedOf returns the staked outputs of owners: those of staking transactions that no block has ended.
func stakedOf(t *testing.T, n *sim.Network, owners ...string) (all []store.UTXO) {
	t.Helper()
	stakers, err := n.DB.Stakers(t.Context(), n.Chain(txs.PChain))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stakers {
		row, err := n.DB.PrimaryTx(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		tx, err := txs.ParseTx(txs.PChain, row.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		started, err := pchain.NewStaker(tx, pchain.Active)
		if err != nil || s.Ended != nil {
			continue
		}
		for i, out := range started.Stake() {
			id := txs.UTXOID{TxID: tx.ID(), OutputIndex: uint32(len(tx.Unsigned.Base().Outs) + i)}.InputID()
			if slices.ContainsFunc(out.Out.Owners().Addresses, func(a ids.ShortID) bool { return slices.Contains(owners, n.Rules.Bech32(a)) }) {
				all = append(all, store.UTXO{ID: store.NewUTXONumber(s.ID.Chain(), s.ID.Number(), 0), Hash: id[:], Tx: row.Hash, Asset: out.AssetID[:],
					Amount: store.Amount(txs.AmountOf(out.Out))})
			}
		}
	}
	return all
}
