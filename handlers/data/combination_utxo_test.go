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
	"snowglobe/sim/pchain"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// filterUTXOs compares with the rows of random personas.
func filterUTXOs(t *testing.T, g *globe, rng *rand.Rand, network, base string) {
	t.Helper()
	people := []string{"alice", "bob", "whale", "hoarder", "traveller", "committee", "staker", "delegator", "proprietor"}
	for kind, chain := range chainAliases {
		for range times(t, 25) {
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
				slices.SortFunc(q.all, func(a, b object) int {
					return cmp.Or(cmp.Compare(integer(b["amount"]), integer(a["amount"])), cmp.Compare(b["utxoId"].(string), a["utxoId"].(string)))
				})
			}
			q.run(true)
		}
	}
}

// outputsOf returns the outputs of two owners, spent or not, newest first.
func outputsOf(t *testing.T, n *sim.Network, kind txs.Chain, owners ...string) (all []object) {
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
		all = append(all, object{"utxoId": ids.ID(u.Hash).String(), "asset": ids.ID(u.Asset).String(), "amount": strconv.FormatUint(u.held, 10), "spent": u.Spent != nil})
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
