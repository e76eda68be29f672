package query_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"snowglobe/sim/metric"
	"snowglobe/sim/primary"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// TestKeysets pages through random lists, up and down, past items that are filtered out and after ones that are gone.
func TestKeysets(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	cursor := func(v *uint64) uint64 { return *v }
	for range 300 {
		var all []*uint64
		for n := range uint64(random.IntN(20)) {
			all = append(all, &[]uint64{n*3 + 1}[0])
		}
		slices.Reverse(all)
		k := query.NewKeyset(all, cursor)
		odd := random.IntN(2) == 0
		passes := func(v *uint64) bool { return !odd || *v%2 == 1 }
		for _, ascending := range []bool{false, true} {
			q := query.KeysetQuery{Resumed: random.IntN(3) > 0, After: random.Uint64N(70), Ascending: ascending, Size: random.IntN(6)}
			var want []uint64
			for _, v := range all {
				if passes(v) && (!q.Resumed || !ascending && *v < q.After || ascending && *v > q.After) {
					want = append(want, *v)
				}
			}
			if ascending {
				slices.Reverse(want)
			}
			page, more := k.Page(q, passes)
			var have []uint64
			for _, v := range page {
				have = append(have, *v)
			}
			if more != (len(want) > q.Size) || !slices.Equal(have, want[:min(len(want), q.Size)]) {
				t.Fatalf("%+v: %v, more %t, want %v", q, have, more, want)
			}
		}
	}
}

// TestSeriesCountBlocks compares the numbers of transactions of each interval with the blocks', and pages with the whole series.
func TestSeriesCountBlocks(t *testing.T) {
	w := tinyWorld(t)
	for _, c := range w.Chains {
		blocks, err := w.DB.Blocks(t.Context(), c.Row.ID, 0, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		for i := range metric.Intervals {
			interval := metric.Interval(i)
			counts := map[int64]uint64{}
			for _, b := range blocks {
				counts[interval.Start(b.Time)] += uint64(b.Txs)
			}
			for _, name := range []string{"txCount", "cumulativeTxCount"} {
				q := query.SeriesQuery{Metric: metric.ByName(name), Scope: metric.Scope(c.Row.ID), Interval: interval, To: math.MaxInt64, Limit: 1 << 20}
				all, more, err := query.Series(t.Context(), w, q)
				if err != nil || more || len(all) == 0 || all[len(all)-1].Start != interval.Start(blocks[0].Time) || all[0].Start != interval.Begun(w.Clock.Unix()) {
					t.Fatalf("%s of each %s: %d points, more %t, %v", name, metric.Intervals[i], len(all), more, err)
				}
				sum := uint64(0)
				for at := len(all) - 1; at >= 0; at-- {
					want := counts[all[at].Start]
					if sum += want; name == "cumulativeTxCount" {
						want = sum
					}
					if all[at].Value.Amount.Uint64() != want || at > 0 && interval.Next(all[at].Start) != all[at-1].Start {
						t.Fatalf("%s of each %s at %d: %s, want %d", name, metric.Intervals[i], all[at].Start, all[at].Value.Amount.Dec(), want)
					}
				}
				for _, size := range []int{1, 7, len(all)} {
					q.Limit, q.To = size, math.MaxInt64
					var paged []metric.Point
					for more := true; more; {
						var page []metric.Point
						if page, more, err = query.Series(t.Context(), w, q); err != nil || len(page) == 0 || len(page) > size {
							t.Fatalf("a page of %d points: %v", len(page), err)
						}
						paged = append(paged, page...)
						q.To = page[len(page)-1].Start
					}
					if !slices.Equal(paged, all) {
						t.Fatalf("%s of each %s in pages of %d: %d points of %d, or others", name, metric.Intervals[i], size, len(paged), len(all))
					}
				}
				q.From, q.To, q.Limit = all[len(all)/2].Start+1, all[0].Start, 1<<20
				part, more, err := query.Series(t.Context(), w, q)
				if err != nil || more || !slices.Equal(part, all[min(1, len(all)/2):len(all)/2]) {
					t.Fatalf("%s of each %s from %d: %d points, more %t, %v", name, metric.Intervals[i], q.From, len(part), more, err)
				}
			}
		}
	}
}

// TestBalancesAreThoseOfTheState compares each owner's balances on the P-Chain and the X-Chain with the outputs of the chains.
func TestBalancesAreThoseOfTheState(t *testing.T) {
	w := tinyWorld(t)
	for _, n := range w.Networks {
		state, err := primary.Restore(t.Context(), n.DB, n.Rules.NetworkID)
		if err != nil {
			t.Fatal(err)
		}
		now := uint64(n.Clock.Unix())
		b := query.NewChainReaders(w.DB.Caches()).Reader(t.Context(), n)
		for kind, outputs := range map[txs.Chain][]*txs.UTXO{txs.PChain: slices.Collect(maps.Keys(maps.Collect(state.P.UTXOs()))), txs.XChain: slices.Collect(maps.Keys(maps.Collect(state.X.UTXOs())))} {
			type sums struct {
				outputs                              int
				unlocked, locked, stakeable, exports uint64
			}
			want := map[ids.ShortID]*sums{}
			of := func(a ids.ShortID) *sums {
				if want[a] == nil {
					want[a] = &sums{}
				}
				return want[a]
			}
			for _, u := range outputs {
				for _, a := range u.Owners().Addresses {
					s := of(a)
					s.outputs++
					switch {
					case u.AssetID != n.Rules.AVAXAssetID:
					case u.StakeableUntil() > now:
						s.stakeable += u.Amount()
					case u.Owners().Locktime > now:
						s.locked += u.Amount()
					default:
						s.unlocked += u.Amount()
					}
				}
			}
			for _, to := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
				for _, u := range state.Exported(kind, to) {
					for _, a := range u.Owners().Addresses {
						of(a).exports += u.Amount()
					}
				}
				for _, u := range state.Exported(to, kind) {
					for _, a := range u.Owners().Addresses {
						of(a).exports += u.Amount()
					}
				}
			}
			owners := make([]ids.ShortID, 0, len(want))
			for a := range want {
				owners = append(owners, a)
			}
			slices.SortFunc(owners, ids.ShortID.Compare)
			if len(owners) < 10 {
				t.Fatalf("%d owners", len(owners))
			}
			for i := 0; i < len(owners); i += 1 + len(owners)/60 {
				a, s := owners[i], want[owners[i]]
				sum, err := b.SumBalances(kind, []ids.ShortID{a}, int64(now), false)
				if err != nil {
					t.Fatal(err)
				}
				have := sums{0, sum.AVAX(query.Unlocked), sum.AVAX(query.Locked), sum.AVAX(query.LockedStakeable), sum.AVAX(query.AtomicUnlocked) + sum.AVAX(query.AtomicLocked)}
				if have.unlocked != s.unlocked || have.locked+have.stakeable != s.locked+s.stakeable || have.exports != s.exports {
					t.Errorf("%s of %s: %+v, want %+v", kind, a, have, *s)
				}
				past, err := b.SumBalances(kind, []ids.ShortID{a}, int64(now), true)
				if err != nil || past.AVAX(query.Unlocked) != s.unlocked {
					t.Errorf("%s of %s, with what was spent: %d, want %d: %v", kind, a, past.AVAX(query.Unlocked), s.unlocked, err)
				}
			}
		}
	}
}

// TestHoldersAreThoseOfTheState finds the holders of a chain's own token, and compares with the chain's state.
func TestHoldersAreThoseOfTheState(t *testing.T) {
	w := tinyWorld(t)
	for _, c := range w.Chains {
		head, err := c.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		states, err := c.State(t.Context(), head)
		if err != nil {
			t.Fatal(err)
		}
		least := uint256.NewInt(1e18)
		for _, first := range []uint64{head.Number, head.Number + 1} {
			seen := map[common.Address]uint256.Int{}
			rich, err := query.NativeHolders(t.Context(), w.DB, c, first, head.Number, func(r *query.HeldRange) bool {
				return !r.Last.Lt(least)
			})
			if err != nil || len(rich) == 0 {
				t.Fatalf("%d holders: %v", len(rich), err)
			}
			for _, a := range rich {
				if _, twice := seen[a]; twice || states.GetBalance(a).Lt(least) {
					t.Errorf("%s holds %s, or is there twice", a, states.GetBalance(a))
				}
				seen[a] = *states.GetBalance(a)
			}
			personas, err := w.DB.Personas(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range personas {
				a := common.BytesToAddress(p.Address)
				if _, found := seen[a]; found == states.GetBalance(a).Lt(least) {
					t.Errorf("%s holds %s: found %t", p.Name, states.GetBalance(a), found)
				}
			}
		}
	}
}

// TestCursors increase with the history, and within a block with an output's position.
func TestCursors(t *testing.T) {
	if query.CursorOfTx(store.At(3, 5, 1)) <= query.CursorOfTx(store.At(3, 5, 0)) || query.CursorOfTx(store.At(3, 6, 0)) <= query.CursorOfTx(store.At(3, 5, 9)) || query.CursorOfTx(store.First(3)) != 0 {
		t.Error("cursors of transactions do not go up")
	}
	for _, c := range []struct {
		height, index int
		want          uint64
	}{{0, 0, 0}, {0, 5, 5}, {2, 3, 2<<16 | 3}} {
		if got := query.CursorOfUTXO(store.NewUTXONumber(4, uint64(c.height), c.index)); got != c.want {
			t.Errorf("output %d of block %d: %d, want %d", c.index, c.height, got, c.want)
		}
	}
}
