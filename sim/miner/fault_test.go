package miner_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/miner"
)

// TestExecutionLags by blocks or by time, on a C-Chain alone. What was executed before stays executed, unless the chain goes back.
func TestExecutionLags(t *testing.T) {
	t.Parallel()
	w := generate(t)
	for name, m := range miners(w) {
		lags := name == "C"
		ok(t, m.Mine(t.Context(), 1, time.Minute))
		start := head(t, m.Chain).Number
		set := func(lag miner.Lag) {
			t.Helper()
			changed := m.FaultChanged()
			ok(t, m.SetFault(t.Context(), miner.Fault{ExecutionLag: lag}))
			select {
			case <-changed:
			default:
				t.Errorf("%s: nobody learns of %+v", name, lag)
			}
			if m.Fault() != (miner.Fault{ExecutionLag: lag}) {
				t.Errorf("%s: %+v instead of %+v", name, m.Fault(), lag)
			}
		}
		executed := func(what string, want uint64) {
			t.Helper()
			if !lags {
				want = head(t, m.Chain).Number
			}
			b, err := m.LastExecuted(t.Context())
			if err != nil || b.Number != want {
				t.Errorf("%s, %s: block %d is executed, want %d (%d on): %v", name, what, b.Number, want, int64(want-start), err)
			}
			settled, err := m.LastSettled(t.Context())
			really, failure := m.Chain.Settled(t.Context())
			if err != nil || failure != nil || settled.Number != min(b.Number, really.Number) {
				t.Errorf("%s, %s: block %d is settled, with %d executed and %d settled: %v", name, what, settled.Number, b.Number, really.Number, err)
			}
		}
		executed("without a lag", start)
		set(miner.Lag{Blocks: 2})
		for _, want := range []uint64{start, start, start + 1, start + 2} {
			ok(t, m.Mine(t.Context(), 1, time.Minute))
			executed("two blocks", want)
		}
		set(miner.Lag{Blocks: 4})
		executed("four blocks, since two blocks ago", start+2)
		ok(t, m.Mine(t.Context(), 1, time.Minute))
		executed("four blocks", start+2)
		ok(t, w.Reorg(t.Context(), m.Chain, 4, nil))
		executed("a shorter chain", start+1)
		ok(t, m.Mine(t.Context(), 5, time.Minute))
		executed("a longer chain", start+2)

		set(miner.Lag{Milliseconds: 90_000})
		executed("ninety seconds", start+4) // minutes ago: 4, 3, 2, 1, 0
		for _, c := range []struct{ wait, blocks time.Duration }{{29_999 * time.Millisecond, 4}, {time.Millisecond, 5}, {time.Minute, 6}} {
			ok(t, w.Advance(t.Context(), w.Clock.Now().Add(c.wait)))
			executed("ninety seconds and "+c.wait.String(), start+uint64(c.blocks))
		}
		set(miner.Lag{})
		executed("no lag again", head(t, m.Chain).Number)
	}
}

// TestSettlementLags: blocks settle others that many milliseconds after these ended, and transactions that need settled funds wait in the pool.
func TestSettlementLags(t *testing.T) {
	t.Parallel()
	w := generate(t)
	m := w.MinerOf(w.Networks[0].CChain())
	from, to := funded(t, m, 1), common.Address{0xad}
	ok(t, m.Mine(t.Context(), 1, time.Minute))
	ok(t, pay(t, m, from, to, big.NewInt(1e18), 21_000))
	given := head(t, m.Chain)
	due := func(what string, after uint64) {
		t.Helper()
		at, is, err := m.SettlesAt(t.Context())
		if waits := int64(at - given.Header.TimeMilliseconds); err != nil || is != (after > 0) || is && (waits < int64(after) || waits > int64(after)+100) {
			t.Errorf("%s: settled after %d ms: %v, %v; want %d", what, waits, is, err, after)
		}
	}
	due("by the rules", 5_000)
	for _, c := range []struct {
		name      string
		set, undo func()
	}{
		{"no automine", func() { m.SetAutomine(false) }, func() { m.SetAutomine(true) }},
		{"a base fee", func() { m.SetNextBaseFee(big.NewInt(1e9)) }, func() { m.SetNextBaseFee(nil) }},
	} {
		c.set()
		due(c.name, 0)
		c.undo()
	}
	ok(t, m.SetFault(t.Context(), miner.Fault{SettlementLag: 15_000}))
	due("with a lag", 15_000)
	settle := func(wait time.Duration, want bool) {
		t.Helper()
		ok(t, w.Advance(t.Context(), time.UnixMilli(int64(given.Header.TimeMilliseconds)).Add(wait)))
		before := head(t, m.Chain)
		made, err := m.Settle(t.Context())
		if now := head(t, m.Chain); err != nil || made != want || now.Number > before.Number != want || now.Settled() >= given.Number != want {
			t.Errorf("after %s: a block was made: %v, block %d settles %d: %v", wait, made, now.Number, now.Settled(), err)
		}
	}
	m.SetAutomine(false) // with it the world's clock would have the block made
	settle(14*time.Second, false)
	settle(16*time.Second, true)
	m.SetAutomine(true)

	later := common.Address{0xad, 1}
	ok(t, pay(t, m, from, later, big.NewInt(1e18), 21_000))
	given = head(t, m.Chain)
	poor := asked(t, m, later, &types.DynamicFeeTx{To: &from, Value: big.NewInt(1), Gas: 21_000, GasFeeCap: big.NewInt(1e12)})
	mined := func(what string, want uint64, waits bool) {
		t.Helper()
		if h := head(t, m.Chain); h.Number != given.Number+want || want > 0 && h.Row.Txs != 1 || m.Pool.Has(poor.Hash()) != waits {
			t.Errorf("%s: %d blocks, want %d; what cannot be paid for waits: %v", what, h.Number-given.Number, want, m.Pool.Has(poor.Hash()))
		}
	}
	ok(t, m.SendFrom(t.Context(), poor, later))
	mined("funds that are not settled", 0, true)
	ok(t, pay(t, m, from, to, big.NewInt(1), 21_000))
	mined("another's funds", 1, true)
	ok(t, m.MineWaiting(t.Context()))
	mined("still not", 1, true)
	ok(t, w.Advance(t.Context(), time.UnixMilli(int64(given.Header.TimeMilliseconds)).Add(16*time.Second)))
	m.SetAutomine(false)
	ok(t, m.MineWaiting(t.Context()))
	mined("no automine", 1, true)
	m.SetAutomine(true)
	ok(t, m.MineWaiting(t.Context()))
	mined("settled funds", 2, false)
	ok(t, m.MineWaiting(t.Context()))
	mined("nothing", 2, false)
	due("what comes last", head(t, m.Chain).Header.TimeMilliseconds-given.Header.TimeMilliseconds+15_000)
	ok(t, m.SetFault(t.Context(), miner.Fault{}))
	ok(t, m.Mine(t.Context(), 1, 0))
	due("everything", 0)
}

// TestPricesRise: gas costs more in a block than was announced before, at least a wei; not if a client chose the price, nor on an L1.
func TestPricesRise(t *testing.T) {
	t.Parallel()
	w := generate(t)
	for name, m := range miners(w) {
		for _, c := range []struct{ rise, percent uint64 }{{0, 100}, {15, 115}, {1, 101}, {100, 200}, {math.MaxUint64, math.MaxUint64}} {
			ok(t, m.SetFault(t.Context(), miner.Fault{PriceRise: c.rise}))
			ok(t, m.Mine(t.Context(), 1, time.Minute))
			next, err := m.NextBlock(t.Context())
			ok(t, err)
			want := new(big.Int).Set(next.BaseFee)
			if name == "C" {
				product := new(big.Int).Mul(want, new(big.Int).SetUint64(c.percent))
				rest := new(big.Int)
				if want.DivMod(product, big.NewInt(100), rest); rest.Sign() > 0 {
					want.Add(want, common.Big1)
				}
			}
			ok(t, m.MineAtOnce(t.Context()))
			if fee := head(t, m.Chain).Header.BaseFee; fee.Cmp(want) != 0 {
				t.Errorf("%s: %d percent more than %d are %d, want %d", name, c.rise, next.BaseFee, fee, want)
			}
			m.SetNextBaseFee(big.NewInt(7e9))
			ok(t, m.MineAtOnce(t.Context()))
			if fee := head(t, m.Chain).Header.BaseFee; fee.Cmp(big.NewInt(7e9)) != 0 {
				t.Errorf("%s: a chosen fee rises to %d", name, fee)
			}
			ok(t, w.Reorg(t.Context(), m.Chain, 2, nil)) // the next price follows from this one
		}
	}
}

// TestAnnouncedPrices: a node announces the most that the next block can cost, and suggests no less than the newest block's price. Before Helicon
// and on an L1 both are the next block's, as they are if a client chose it.
func TestAnnouncedPrices(t *testing.T) {
	t.Parallel()
	w, old := generate(t), generate(t, neverHelicon)
	check := func(name string, m *miner.Miner, since bool) {
		for _, price := range []int64{0, 3e9} {
			if price > 0 {
				m.SetNextBaseFee(big.NewInt(price))
			}
			next, err := m.NextBlock(t.Context())
			ok(t, err)
			announced, suggested, err := m.PriceBound(t.Context())
			ok(t, err)
			wantAnnounced, wantSuggested := next.BaseFee, next.BaseFee
			if newest := head(t, m.Chain); since && price == 0 {
				bound, err := m.Chain.PriceBound(t.Context(), newest)
				ok(t, err)
				wantAnnounced = bound.Price()
				if fee := newest.Header.BaseFee; fee.Cmp(next.BaseFee) > 0 {
					wantSuggested = fee
				}
			}
			if announced.Cmp(wantAnnounced) != 0 || suggested.Cmp(wantSuggested) != 0 || since && price == 0 && announced.Cmp(next.BaseFee) < 0 {
				t.Errorf("%s, asked for %d: announced %d, suggested %d, want %d and %d", name, price, announced, suggested, wantAnnounced, wantSuggested)
			}
			m.SetNextBaseFee(nil)
		}
	}
	check("before Helicon", old.MinerOf(old.Networks[0].CChain()), false)
	for name, m := range miners(w) {
		check(name, m, name == "C")
		m.SetNextBaseFee(big.NewInt(50e9)) // more than the next block's
		ok(t, m.Mine(t.Context(), 1, time.Minute))
		check(name+" after a dear block", m, name == "C")
		m.SetNextBaseFee(big.NewInt(1))
		ok(t, m.Mine(t.Context(), 1, time.Minute))
		check(name+" after a cheap block", m, name == "C")
	}
}

// TestBlocksAreNumbered mines three blocks and replaces blocks: all get consecutive numbers, and a client that has gone away gets none.
func TestBlocksAreNumbered(t *testing.T) {
	t.Parallel()
	w := generate(t)
	gone, leave := context.WithCancel(t.Context())
	leave()
	for name, m := range miners(w) {
		if _, err := m.Settle(gone); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		before := head(t, m.Chain).Number
		if made, err := m.MineNumbered(t.Context(), 3, time.Second); err != nil || !slices.Equal(made, []uint64{before + 1, before + 2, before + 3}) {
			t.Errorf("%s: blocks %d after %d: %v", name, made, before, err)
		}
		if made, err := m.MineNumbered(gone, 3, time.Second); !errors.Is(err, context.Canceled) || made != nil {
			t.Errorf("%s: blocks %d for nobody: %v", name, made, err)
		}
		// A block that replaces one is a millisecond later, or as soon as the rules allow.
		ok(t, m.Mine(t.Context(), 1, time.Minute))
		removed := head(t, m.Chain)
		ok(t, w.Reorg(t.Context(), m.Chain, 1, [][]*miner.Transaction{nil}))
		if now := head(t, m.Chain); now.Number != removed.Number || now.Header.TimeMilliseconds != removed.Header.TimeMilliseconds+1 {
			t.Errorf("%s: block %d at %d ms replaces block %d", name, now.Number, now.Header.TimeMilliseconds-removed.Header.TimeMilliseconds, removed.Number)
		}
		// Blocks that replace others come where a client wants them, and the clock jumps there.
		m.SetSpacing(time.Minute)
		jumps, newest := w.Clock.Jumps(), head(t, m.Chain).Header.TimeMilliseconds
		ok(t, w.Reorg(t.Context(), m.Chain, 1, [][]*miner.Transaction{nil, nil}))
		if now := head(t, m.Chain); w.Clock.Jumps() != jumps+2 || now.Number != before+5 || now.Header.TimeMilliseconds < newest+60_000 {
			t.Errorf("%s: %d jumps, block %d at %d ms", name, w.Clock.Jumps()-jumps, now.Number-before, now.Header.TimeMilliseconds-newest)
		}
	}
}
