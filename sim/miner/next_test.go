package miner_test

import (
	"errors"
	"iter"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/seed"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
)

// neverHelicon is an upgrade time with which a C-Chain keeps the rules before Helicon.
const neverHelicon = "helicon=never"

func generate(t *testing.T, upgrades ...string) *sim.World {
	t.Helper()
	return seedtest.Copy(t, 3, upgrades...)
}

// miners returns the miners of a C-Chain and of an L1.
func miners(w *sim.World) iter.Seq2[string, *miner.Miner] {
	return func(yield func(string, *miner.Miner) bool) {
		_ = yield("C", w.MinerOf(w.Networks[0].CChain())) && yield("L1", w.Miners[len(w.Miners)-1])
	}
}

// impersonated returns a payment of 1 wei for an account without a key, with a fee cap and no tip.
func impersonated(t *testing.T, m *miner.Miner, from common.Address, cap *big.Int, value int64) *types.Transaction {
	t.Helper()
	id := new(big.Int).SetUint64(m.Chain.Row.EVMID)
	nonce, err := m.Nonce(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := evm.Impersonate(types.NewTx(&types.DynamicFeeTx{ChainID: id, Nonce: nonce, Gas: 21_000, GasTipCap: new(big.Int), GasFeeCap: cap, To: &common.Address{1}, Value: big.NewInt(value)}), id, from)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// rich returns an account with funds.
func rich(t *testing.T, w *sim.World) common.Address {
	t.Helper()
	personas, err := w.DB.Personas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return common.BytesToAddress(personas[0].Address)
}

// TestNextBlock: with any overrides and at any time of the clock, the mined block is the one that NextBlock, Prices and Pending described, with
// automine and without.
func TestNextBlock(t *testing.T) {
	t.Parallel()
	w := generate(t)
	from := rich(t, w)
	for name, m := range miners(w) {
		for _, c := range []struct {
			asked string
			ask   func() error
		}{
			{"nothing", func() error { return nil }},
			{"a base fee", func() error { m.SetNextBaseFee(big.NewInt(50e9)); return nil }},
			{"a base fee of 0", func() error { m.SetNextBaseFee(new(big.Int)); return nil }},
			{"a time", func() error { return m.SetNextTime(t.Context(), uint64(w.Clock.UnixMilli())+1) }},
			{"another clock", func() error { return w.Advance(t.Context(), w.Clock.Now().Add(time.Hour)) }},
			{"a gas limit", func() error { m.SetGasLimit(9_000_000); return nil }},
			{"a coinbase", func() error { m.SetCoinbase(common.Address{7}); return nil }},
			{"a time between them", func() error { m.SetSpacing(time.Minute); return nil }},
			{"both", func() error {
				m.SetSpacing(time.Minute)
				return w.Advance(t.Context(), w.Clock.Now().Add(time.Hour))
			}},
			{"soon after the other", func() error { m.SetSpacing(time.Millisecond); return nil }},
		} {
			for _, automine := range []bool{true, false} {
				m.SetAutomine(automine)
				if err := c.ask(); err != nil {
					t.Fatal(err)
				}
				now := uint64(w.Clock.UnixMilli())
				next, err := m.NextBlock(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				fee, tip, err := m.Prices(t.Context())
				if err != nil || fee.Cmp(next.BaseFee) != 0 || tip.Sign() > 0 == (c.asked == "a base fee of 0") {
					t.Errorf("%s, %s: base fee %d and tip %d, the next block has %d: %v", name, c.asked, fee, tip, next.BaseFee, err)
				}
				if err := m.SendFrom(t.Context(), impersonated(t, m, from, fee, 1), from); err != nil {
					t.Fatalf("%s, %s, automine %t: %v", name, c.asked, automine, err)
				}
				if !automine {
					pending, err := m.Pending(t.Context())
					if err != nil || !alike(pending.Header, next.Header) || pending.Row.Txs != 1 {
						t.Errorf("%s, %s: pending is %+v with %d transactions, the next block was to be %+v: %v", name, c.asked, pending.Header, pending.Row.Txs, next.Header, err)
					}
					if err := m.Mine(t.Context(), 1, 0); err != nil {
						t.Fatal(err)
					}
				}
				if made := head(t, m.Chain); !alike(made.Header, next.Header) || made.Row.Txs != 1 || made.Header.TimeMilliseconds < now {
					t.Errorf("%s, %s, automine %t: made was %+v with %d transactions, the next block was to be %+v", name, c.asked, automine, made.Header, made.Row.Txs, next.Header)
				}
			}
			m.SetSpacing(0)
		}
	}
}

// alike compares the properties of a block that are known before its execution.
func alike(a, b *evm.Header) bool {
	return a.TimeMilliseconds == b.TimeMilliseconds && a.BaseFee.Cmp(b.BaseFee) == 0 && a.GasLimit == b.GasLimit && a.Coinbase == b.Coinbase &&
		a.Number.Cmp(b.Number) == 0 && a.ParentHash == b.ParentHash
}

func head(t *testing.T, c *reader.Chain) *reader.Block {
	t.Helper()
	b, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestPendingFollows: the pending block has the current time even if neither the chain nor the pool changed, and shows overrides of the next block
// even if no transaction waits.
func TestPendingFollows(t *testing.T) {
	t.Parallel()
	w := generate(t)
	from := rich(t, w)
	for name, m := range miners(w) {
		pending := func() *reader.Block {
			t.Helper()
			b, err := m.Pending(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		if pending() != head(t, m.Chain) {
			t.Errorf("%s: something is pending", name)
		}
		m.SetNextBaseFee(big.NewInt(1234))
		if b := pending(); !b.Pending() || b.Header.BaseFee.Int64() != 1234 {
			t.Errorf("%s: pending is %+v, a base fee of 1234 was asked for", name, b.Header)
		}
		if err := m.Mine(t.Context(), 1, 0); err != nil || pending() != head(t, m.Chain) {
			t.Errorf("%s: something is pending after the block: %v", name, err)
		}
		m.SetCoinbase(common.Address{0xc0})
		if b := pending(); !b.Pending() || b.Header.Coinbase != (common.Address{0xc0}) {
			t.Errorf("%s: pending is %+v, another coinbase was set", name, b.Header)
		}
		if err := m.Mine(t.Context(), 1, 0); err != nil || pending() != head(t, m.Chain) { // the head has the coinbase
			t.Errorf("%s: something is pending after the block with the coinbase: %v", name, err)
		}
		m.SetAutomine(false)
		if err := m.SendFrom(t.Context(), impersonated(t, m, from, big.NewInt(1e12), 1), from); err != nil {
			t.Fatal(err)
		}
		before := pending()
		if err := w.Advance(t.Context(), w.Clock.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		after := pending()
		if err := m.Mine(t.Context(), 1, 0); err != nil {
			t.Fatal(err)
		}
		if made := head(t, m.Chain).Header; before.Header.TimeMilliseconds == made.TimeMilliseconds || !alike(after.Header, made) {
			t.Errorf("%s: pending was %+v, the block made of it is %+v", name, after.Header, made)
		}
		m.SetAutomine(true)
	}
}

// TestFreeGas: while the next base fee is set to 0, an account without funds can send, and transactions accepted for such a block wait for the next
// one, also after a revert to that state. Later, transactions that pay nothing are refused.
func TestFreeGas(t *testing.T) {
	t.Parallel()
	w := generate(t)
	poor := common.Address{0xee}
	for name, m := range miners(w) {
		m.SetAutomine(false)
		m.SetNextBaseFee(new(big.Int))
		tx := impersonated(t, m, poor, new(big.Int), 0)
		if err := m.SendFrom(t.Context(), tx, poor); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		m.SetNextBaseFee(big.NewInt(1e9))
		if err := m.Mine(t.Context(), 1, 0); err != nil || !m.Pool.Has(tx.Hash()) {
			t.Fatalf("%s: a block of 1 gwei took what pays nothing: %v", name, err)
		}
		s, err := w.TakeSnapshot(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		m.DropAll(t.Context())
		if err := w.Revert(t.Context(), s.ID, true); err != nil || !m.Pool.Has(tx.Hash()) {
			t.Errorf("%s: what waited at a snapshot does not wait after it: %v", name, err)
		}
		m.SetNextBaseFee(new(big.Int))
		if err := m.Mine(t.Context(), 1, 0); err != nil || m.Pool.Has(tx.Hash()) {
			t.Errorf("%s: a free block did not take it: %v", name, err)
		}
		if err := m.SendFrom(t.Context(), impersonated(t, m, poor, new(big.Int), 0), poor); err == nil {
			t.Errorf("%s: it is taken although nobody asked for a free block", name)
		}
		m.SetAutomine(true)
		m.SetNextBaseFee(new(big.Int))
		if err := m.SendFrom(t.Context(), impersonated(t, m, poor, new(big.Int), 0), poor); err != nil || head(t, m.Chain).Row.Txs != 1 {
			t.Errorf("%s: with automine: %v", name, err)
		}
	}
}

// TestTheClockHasAnEnd: no action of a miner moves the clock beyond the world's end, and a refused action changes nothing.
func TestTheClockHasAnEnd(t *testing.T) {
	t.Parallel()
	w := generate(t)
	m := w.MinerOf(w.Networks[0].CChain())
	from, end := rich(t, w), seed.DefaultUntil.Add(sim.Furthest)
	refused := func(what string, do func() error) {
		t.Helper()
		before, at := head(t, m.Chain), w.Clock.Now()
		if err := do(); !errors.Is(err, sim.ErrFar) || head(t, m.Chain) != before || !w.Clock.Now().Equal(at) {
			t.Errorf("%s: %v, the clock went from %s to %s", what, err, at, w.Clock.Now())
		}
		if ready, queued := m.Pool.Count(); ready+queued > 0 {
			t.Errorf("%s: something waits", what)
		}
	}
	const year = 365 * 24 * time.Hour
	refused("a block a millisecond after the end", func() error { return m.SetNextTime(t.Context(), uint64(end.UnixMilli())+1) })
	refused("31 blocks, a year apart", func() error { return m.Mine(t.Context(), 31, year) })
	refused("very many blocks", func() error { return m.Mine(t.Context(), 1<<63, year) })
	m.SetSpacing(year)
	refused("31 blocks, a year apart by themselves", func() error { return m.Mine(t.Context(), 31, 0) })
	m.SetSpacing(0)
	if err := m.SetNextTime(t.Context(), uint64(end.UnixMilli())); err != nil {
		t.Fatal(err)
	}
	if err := m.Mine(t.Context(), 1, 0); err != nil || !w.Clock.Now().Equal(end) {
		t.Fatalf("a block at the end: %v, it is %s", err, w.Clock.Now())
	}
	refused("a block after the last", func() error { return m.Mine(t.Context(), 1, 0) })
	refused("a transaction", func() error { return m.SendFrom(t.Context(), impersonated(t, m, from, big.NewInt(1e12), 1), from) })
	refused("a move of the clock", func() error { return w.Advance(t.Context(), end.Add(time.Millisecond)) })
	other := w.Miners[len(w.Miners)-1]
	if err := other.Mine(t.Context(), 1, 0); err != nil || !w.Clock.Now().Equal(end) {
		t.Errorf("another chain has no block at the end: %v, it is %s", err, w.Clock.Now())
	}
	beyond := end.Add(time.Hour) // an earlier version may have made such a file
	w.Clock.Set(beyond)
	if err := w.Miners[1].Mine(t.Context(), 1, 0); err != nil || !w.Clock.Now().Equal(beyond) {
		t.Errorf("where the clock stands already there is no block: %v, it is %s", err, w.Clock.Now())
	}
}
