package seed

import (
	"math/big"
	"slices"
	"testing"

	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// rushed is a world whose C-Chains are just long enough for a rush.
func rushed(t *testing.T) *sim.World {
	t.Helper()
	p, err := ParseProfile("rushed", []byte("name: rushed\ndays: 20\nchains: 2\ntransactions: 3200\n"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := Generate(t.Context(), Options{Path: store.Memory, Seed: 5, Profile: p, Until: DefaultUntil})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// headers are all headers of a chain.
func headers(t *testing.T, c *reader.Chain) []*evm.Header {
	t.Helper()
	head := must(c.Head(t.Context()))(t)
	all := make([]*evm.Header, head.Number+1)
	for n := range all {
		all[n] = must(c.Block(t.Context(), uint64(n)))(t).Header
	}
	return all
}

// TestFeesRiseInARushAndFall looks for what drives the base fee of a C-Chain: blocks that follow each other at the minimal delay.
// Before and after, gas costs a wei.
func TestFeesRiseInARushAndFall(t *testing.T) {
	for _, c := range rushed(t).Chains {
		all := headers(t, c)
		peak := 0
		for n, h := range all[1:] {
			if h.BaseFee.Cmp(all[peak+1].BaseFee) > 0 {
				peak = n
			}
		}
		peak++
		hurried := 0
		for n := peak; n > 1 && all[n].TimeMilliseconds == all[n-1].EarliestChild(); n-- {
			hurried++
		}
		if fee := all[peak].BaseFee; fee.Cmp(big.NewInt(10)) < 0 || hurried < 100 {
			t.Errorf("chain %d: gas costs %d wei at most, in block %d, after %d blocks at the minimal delay", c.Row.EVMID, fee, peak, hurried)
		}
		rest := slices.IndexFunc(all[peak:], func(h *evm.Header) bool { return h.BaseFee.Cmp(big.NewInt(1)) == 0 })
		if rest < 3 || all[peak+rest].Time-all[peak].Time > 3600 {
			t.Errorf("chain %d: after the rush in block %d, block %d is the first in which gas costs a wei again", c.Row.EVMID, peak, peak+rest)
		}
		floor := 0
		for _, h := range all[1:] {
			if h.BaseFee.Cmp(big.NewInt(1)) == 0 {
				floor++
			}
		}
		if floor < len(all)/2 {
			t.Errorf("chain %d: gas costs a wei in %d of %d blocks", c.Row.EVMID, floor, len(all))
		}
	}
}

// TestHeadersFollowFromTheirParents looks at time, base fee and gas of every block, of L1s too.
func TestHeadersFollowFromTheirParents(t *testing.T) {
	for _, c := range world(t, "tiny", 1).Chains {
		fractions, config := 0, precompile.FeeConfig{}
		for n, h := range headers(t, c) {
			if n == 0 {
				continue
			}
			parent := must(c.Block(t.Context(), uint64(n-1)))(t)
			if c.Kind == evm.KindL1 {
				var err error
				if config, _, err = c.FeeConfigAt(t.Context(), parent); err != nil {
					t.Fatal(err)
				}
			}
			if first := parent.Header.EarliestChild(); h.TimeMilliseconds < first || h.Time != h.TimeMilliseconds/1000 {
				t.Errorf("chain %d, block %d is at %d s, %d ms, before %d ms", c.Row.EVMID, n, h.Time, h.TimeMilliseconds, first)
			}
			if want := evm.NextBaseFee(c.Kind, config, parent.Header, h.TimeMilliseconds); h.BaseFee.Cmp(want) != 0 {
				t.Errorf("chain %d, block %d: gas costs %d wei, want %d", c.Row.EVMID, n, h.BaseFee, want)
			}
			used := h.GasUsed
			if c.Kind == evm.KindC {
				used += h.ExtDataGasUsed.Uint64()
			}
			if capacity := evm.GasCapacity(c.Kind, config, parent.Header, h.TimeMilliseconds); used > capacity || capacity > h.GasLimit {
				t.Errorf("chain %d, block %d: %d gas, there were %d, the limit is %d", c.Row.EVMID, n, used, capacity, h.GasLimit)
			}
			if h.TimeMilliseconds%1000 != 0 {
				fractions++
			}
		}
		if fractions < 20 {
			t.Errorf("chain %d: %d blocks are at a fraction of a second", c.Row.EVMID, fractions)
		}
	}
}

// TestTipsDiffer counts what people pay above the base fee: next to nothing, a habit, or the price of former years.
func TestTipsDiffer(t *testing.T) {
	c := world(t, "tiny", 1).Chains[0]
	classes, tips := map[int]int{}, map[string]bool{}
	for n := range must(c.Head(t.Context()))(t).Number {
		b := must(c.Block(t.Context(), n+1))(t)
		for _, tx := range must(c.Transactions(t.Context(), b))(t) {
			tip := new(big.Int).Sub(tx.Price(), b.Header.BaseFee)
			classes[len(tip.String())]++
			tips[tip.String()] = true
		}
	}
	if len(classes) < 4 || len(tips) < 30 || classes[1] == 0 {
		t.Errorf("%d different tips, by digits %v", len(tips), classes)
	}
}

// TestProposersMoveAChain finds that Fuji's validators raise the gas target and shorten the delay, and mainnet's leave both.
func TestProposersMoveAChain(t *testing.T) {
	w := world(t, "tiny", 1)
	for i, moves := range []bool{false, true} {
		all := headers(t, w.Chains[i])
		first, last := all[1], all[len(all)-1]
		if (last.GasLimit > first.GasLimit) != moves || (last.MinDelayExcess < first.MinDelayExcess) != moves || !moves && last.GasLimit != 10_000_000 {
			t.Errorf("chain %d: the gas limit goes from %d to %d, the delay excess from %d to %d",
				w.Chains[i].Row.EVMID, first.GasLimit, last.GasLimit, first.MinDelayExcess, last.MinDelayExcess)
		}
	}
}
