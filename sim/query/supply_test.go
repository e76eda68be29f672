package query_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"snowglobe/fixtures"
	"snowglobe/sim/query"
	"snowglobe/sim/rules"
	"snowglobe/sim/simtest"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// TestTheSupplyIsTheSumOfBalances of every account that ever had one, read one by one, also after some became empty and rich again.
func TestTheSupplyIsTheSumOfBalances(t *testing.T) {
	w := holderWorld(t)
	for round := range 2 {
		for _, c := range w.Chains[:2] {
			head := headOf(t, c)
			state, err := c.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			states, err := c.State(t.Context(), state)
			if err != nil {
				t.Fatal(err)
			}
			accounts, err := w.DB.AccountsAt(t.Context(), c.Row.ID, head)
			if err != nil {
				t.Fatal(err)
			}
			want, rich := new(uint256.Int), 0
			for _, a := range accounts {
				balance := states.GetBalance(common.BytesToAddress(a.Address))
				if want.Add(want, balance); !balance.IsZero() {
					rich++
				}
			}
			if got, err := query.NativeSupply(t.Context(), w.DB, c); err != nil || !got.Eq(want) || rich < 10 {
				t.Errorf("chain %d has %s, %v: want %s of %d accounts", c.Row.EVMID, got, err, want, rich)
			}
			for _, last := range []uint64{head, head - 1, head / 2} {
				found, err := query.NativeHolders(t.Context(), w.DB, c, last+1, last, func(r *query.HeldRange) bool {
					if !r.Lowest.Eq(&r.Last) || !r.Highest.Eq(&r.Last) {
						t.Errorf("%s has %s to %s after one block", r.Owner, &r.Lowest, &r.Highest)
					}
					return !r.Last.IsZero()
				})
				if err != nil {
					t.Fatal(err)
				}
				var naive []common.Address
				rows, err := w.DB.AccountsAt(t.Context(), c.Row.ID, last)
				if err != nil {
					t.Fatal(err)
				}
				for _, a := range rows {
					if slices.ContainsFunc(a.Balance, func(b byte) bool { return b != 0 }) {
						naive = append(naive, common.BytesToAddress(a.Address))
					}
				}
				slices.SortFunc(found, common.Address.Cmp)
				slices.SortFunc(naive, common.Address.Cmp)
				if !slices.Equal(found, naive) {
					t.Errorf("after block %d of %d, %d addresses of chain %d hold something: want %d", last, head, len(found), c.Row.EVMID, len(naive))
				}
			}
		}
		if err := simtest.SendRandomly(t.Context(), w, uint64(70+round), 20); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUpcomingUpgrades are those with a date after the clock, of each network by its own schedule.
func TestUpcomingUpgrades(t *testing.T) {
	w := tinyWorld(t)
	for _, day := range []string{"2024-01-01", "2025-10-01", "2026-06-01", "2026-08-15", "2030-01-01"} {
		now, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		w.Clock.Set(now)
		var want, got []string
		kinds := map[query.EventKind]bool{}
		for _, n := range w.Networks {
			for _, u := range rules.Upgrades() {
				at := n.Rules.ActivationTime(u)
				if kinds[query.EventKind(u.String())] = true; int64(at) > now.Unix() && at < fixtures.Unscheduled {
					want = append(want, fmt.Sprint(n.Name, " ", u, " ", at))
				}
			}
		}
		all, err := query.Upcoming(t.Context(), w, math.MaxInt)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			if kinds[e.Kind] {
				got = append(got, fmt.Sprint(e.Network.Name, " ", e.Kind, " ", e.Time))
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) || day == "2025-10-01" && len(want) == 0 {
			t.Errorf("on %s there are to come %v: want %v", day, got, want)
		}
	}
}

// TestTheLastOutputOfGenesis is found for each of several owners, in whatever order they are asked about.
func TestTheLastOutputOfGenesis(t *testing.T) {
	w := tinyWorld(t)
	found := 0
	eachLedger(t, w, func(_ *ledger, b *query.ChainReader) {
		for _, kind := range []txs.Chain{txs.PChain, txs.XChain} {
			made, err := b.DB.UTXOsMadeBy(t.Context(), b.Chain(kind))
			if err != nil {
				t.Fatal(err)
			}
			made = slices.DeleteFunc(made, func(u store.UTXO) bool { return u.ID.Height() > 0 || len(u.Out) <= 20 })
			for i := range min(len(made), 12) {
				owners := []ids.ShortID{{1}}
				for _, u := range made[i:min(len(made), i+3)] {
					owners = append(owners, ids.ShortID(u.Out[len(u.Out)-20:]))
				}
				var want *store.UTXO
				for k := range made {
					if slices.ContainsFunc(owners, func(o ids.ShortID) bool { return bytes.HasSuffix(made[k].Out, o[:]) }) && (want == nil || cmp.Less(want.ID, made[k].ID)) {
						want = &made[k]
					}
				}
				for range 2 {
					slices.Reverse(owners)
					got, err := b.GenesisUTXO(kind, owners)
					if err != nil || got == nil || got.ID < want.ID {
						t.Errorf("%v of %v, %v: want %v", got, owners, err, want)
					}
				}
				found++
			}
			if got, err := b.GenesisUTXO(kind, []ids.ShortID{{1}}); got != nil || err != nil {
				t.Errorf("of nobody: %v, %v", got, err)
			}
		}
	})
	if found == 0 {
		t.Error("nobody has an output of a genesis")
	}
}
