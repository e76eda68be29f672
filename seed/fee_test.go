package seed_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/seed"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// rushed returns a world with two C-Chains and just enough transactions for a rush of each kind, made once.
func rushed(t *testing.T, upgrades ...string) *sim.World {
	t.Helper()
	name := fmt.Sprint("rushed", upgrades)
	if w := worlds[name]; w != nil {
		return w
	}
	p, err := seed.ParseProfile("rushed", []byte("name: rushed\ndays: 20\nchains: 2\ntransactions: 3200\n"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := seed.Generate(t.Context(), seed.Options{Path: store.Memory, Seed: 5, Profile: p, Until: seed.DefaultUntil, Upgrades: upgrades})
	if err != nil {
		t.Fatal(err)
	}
	worlds[name] = w
	return w
}

// headers returns all headers of a chain as their blocks were executed.
func headers(t *testing.T, c *reader.Chain) []*evm.Header {
	t.Helper()
	var all []*evm.Header
	for _, b := range chainOf(t, c) {
		all = append(all, b.Executed)
	}
	return all
}

func chainOf(t *testing.T, c *reader.Chain) []*reader.Block {
	t.Helper()
	head := must(c.Head(t.Context()))(t)
	all := make([]*reader.Block, head.Number+1)
	for n := range all {
		all[n] = must(c.Block(t.Context(), uint64(n)))(t)
	}
	return all
}

// eras runs a test with the rules before Helicon, and with those since.
func eras(t *testing.T, test func(t *testing.T, upgrades ...string)) {
	t.Run("before Helicon", func(t *testing.T) { test(t, "helicon=never") })
	t.Run("since Helicon", func(t *testing.T) { test(t) })
}

// TestFeesRiseInARushAndFall: a C-Chain's base fee rises while blocks follow each other at the minimal delay. Before and afterwards, gas costs a wei.
func TestFeesRiseInARushAndFall(t *testing.T) { eras(t, feesRiseInARushAndFall) }

func feesRiseInARushAndFall(t *testing.T, upgrades ...string) {
	for _, c := range rushed(t, upgrades...).Chains {
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

// rushOf returns the rush of a block's first transaction, judging by the function it calls; empty for everyday activity.
func rushOf(t *testing.T, c *reader.Chain, n uint64) string {
	t.Helper()
	txs := must(c.Transactions(t.Context(), must(c.Block(t.Context(), n))(t)))(t)
	if len(txs) == 0 || len(txs[0].Data()) < 4 {
		return ""
	}
	for signature, rush := range map[string]string{
		"mint(uint256)": "mint", "grant(address,address[],uint256)": "airdrop",
		"touch(uint256)": "liquidation", "invalid()": "liquidation",
	} {
		if bytes.HasPrefix(txs[0].Data(), crypto.Keccak256([]byte(signature))[:4]) {
			return rush
		}
	}
	return ""
}

// gasExcess returns the gas excess after a C-Chain's block, which determines the base fee. Until Helicon it is in the header's fee state (ACP-176:
// capacity, excess, target excess).
func gasExcess(b *reader.Block) uint64 {
	if b.Header.Asynchronous() {
		return b.Results.Excess
	}
	return binary.BigEndian.Uint64(b.Header.Extra[8:16])
}

// TestEachKindOfRush checks the longest mint, airdrop and liquidation of each C-Chain: blocks come at the minimal delay, to fractions of a second, so
// full that each leaves more gas excess than the one before. At the end gas costs at least twice as much, and some minutes later less again.
func TestEachKindOfRush(t *testing.T) { eras(t, eachKindOfRush) }

func eachKindOfRush(t *testing.T, upgrades ...string) {
	for _, c := range rushed(t, upgrades...).Chains[:2] {
		all, made := headers(t, c), chainOf(t, c)
		longest := map[string][2]int{} // the first block of a rush, and the number of blocks
		for n := 1; n < len(all); n++ {
			first := n
			for n+1 < len(all) && all[n+1].TimeMilliseconds == all[n].EarliestChild() {
				n++
			}
			rush := rushOf(t, c, uint64(first))
			if count := n - first + 1; count > longest[rush][1] {
				longest[rush] = [2]int{first, count}
			}
		}
		for _, rush := range []string{"mint", "airdrop", "liquidation"} {
			first, count := longest[rush][0], longest[rush][1]
			if count < 36 {
				t.Errorf("chain %d, %s: %d blocks", c.Row.EVMID, rush, count)
				continue
			}
			last, fractions := first+count-1, 0
			for n := first; n <= last; n++ {
				if all[n].TimeMilliseconds%1000 != 0 {
					fractions++
				}
				if n > first && gasExcess(made[n]) <= gasExcess(made[n-1]) {
					t.Errorf("chain %d, %s: block %d has a gas excess of %d, the one before %d", c.Row.EVMID, rush, n, gasExcess(made[n]), gasExcess(made[n-1]))
				}
			}
			if fractions < count/2 {
				t.Errorf("chain %d, %s: %d of %d blocks are at a fraction of a second", c.Row.EVMID, rush, fractions, count)
			}
			t.Logf("chain %d, %s: blocks %d to %d, gas excess %d to %d, base fee %d to %d", c.Row.EVMID, rush, first, last, gasExcess(made[first]), gasExcess(made[last]), all[first].BaseFee, all[last].BaseFee)
			after := made[min(last+12, len(all)-1)]
			double := new(big.Int).Lsh(all[first].BaseFee, 1)
			if rush == "mint" && len(upgrades) == 0 {
				double = all[first].BaseFee // since Helicon blocks make room for gas limits, and minting uses less than its limits
			}
			if before, end := all[first].BaseFee, all[last].BaseFee; end.Cmp(double) < 0 || after.Results.BaseFee.Cmp(end) > 0 || rush != "mint" && after.Results.BaseFee.Cmp(end) == 0 || gasExcess(after) >= gasExcess(made[last]) {
				t.Errorf("chain %d, %s: gas costs %d wei, %d in the rush, %d afterwards", c.Row.EVMID, rush, before, end, after.Results.BaseFee)
			}
		}
	}
}

// TestHeadersFollowFromTheirParents checks time, base fee and gas of every block before Helicon, including L1s' blocks. avalanchego's own packages
// check later ones, in testdata/saevm.
func TestHeadersFollowFromTheirParents(t *testing.T) {
	for _, c := range world(t, "tiny", 1, "helicon=never").Chains {
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

// TestTipsDiffer counts the tips that people pay: almost none, a habitual one, or the price of earlier years.
func TestTipsDiffer(t *testing.T) {
	c := world(t, "tiny", 1).Chains[0]
	classes, tips := map[int]int{}, map[string]bool{}
	for n := range must(c.Head(t.Context()))(t).Number {
		b := must(c.Block(t.Context(), n+1))(t)
		for _, tx := range must(c.Transactions(t.Context(), b))(t) {
			tip := new(big.Int).Sub(tx.Price(), b.Results.BaseFee)
			classes[len(tip.String())]++
			tips[tip.String()] = true
		}
	}
	if len(classes) < 4 || len(tips) < 30 || classes[1] == 0 {
		t.Errorf("%d different tips, by digits %v", len(tips), classes)
	}
}

// TestProposersMoveAChain: Fuji's validators raise the gas target and shorten the delay, and mainnet's leave both alone.
func TestProposersMoveAChain(t *testing.T) { eras(t, proposersMoveAChain) }

func proposersMoveAChain(t *testing.T, upgrades ...string) {
	w, limit := world(t, "tiny", 1, upgrades...), uint64(20_000_000) // ten seconds of twice the target
	if len(upgrades) > 0 {
		limit = 10_000_000 // of the target
	}
	for i, moves := range []bool{false, true} {
		all := headers(t, w.Chains[i])
		first, last := all[1], all[len(all)-1]
		if (last.GasLimit > first.GasLimit) != moves || (last.MinDelayExcess < first.MinDelayExcess) != moves || !moves && last.GasLimit != limit {
			t.Errorf("chain %d: the gas limit goes from %d to %d, the delay excess from %d to %d",
				w.Chains[i].Row.EVMID, first.GasLimit, last.GasLimit, first.MinDelayExcess, last.MinDelayExcess)
		}
	}
}
