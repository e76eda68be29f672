package miner_test

import (
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/miner"
)

// endless uses all gas: JUMPDEST, PUSH1 0, JUMP.
var endless = []byte{0x5b, 0x60, 0x00, 0x56}

// pay sends a transfer from an account, with a gas limit.
func pay(t *testing.T, m *miner.Miner, from, to common.Address, wei *big.Int, gas uint64) error {
	t.Helper()
	nonce, err := m.Nonce(t.Context(), from)
	ok(t, err)
	return m.SendFrom(t.Context(), asked(t, m, from, &types.DynamicFeeTx{Nonce: nonce, To: &to, Value: wei, Gas: gas, GasFeeCap: big.NewInt(1e13)}), from)
}

// TestFundsAreSpentOnceTheyAreSettled: since Helicon a block accepts a transaction only if its sender can pay without what unsettled blocks gave it
// (ACP-194). With automine the block waits for that; without, the transaction does. On an L1 funds can be spent at once.
func TestFundsAreSpentOnceTheyAreSettled(t *testing.T) {
	t.Parallel()
	w := generate(t)
	coin := new(big.Int).Exp(big.NewInt(10), big.NewInt(18), nil)
	for name, m := range miners(w) {
		from, to := funded(t, m, 1), common.Address{0xab, name[0]}
		ok(t, pay(t, m, from, to, new(big.Int).Mul(coin, big.NewInt(5)), 21_000))
		given := head(t, m.Chain)
		ok(t, pay(t, m, to, from, coin, 21_000))
		spent := head(t, m.Chain)
		waited := spent.Header.TimeMilliseconds - given.Header.TimeMilliseconds
		if spent.Number != given.Number+1 || (waited >= 5_000) != (name == "C") || waited > 6_000 {
			t.Errorf("%s: block %d after block %d, %d ms later", name, spent.Number, given.Number, waited)
		}
		if name == "C" && spent.Settled() != given.Number {
			t.Errorf("block %d settles %d", spent.Number, spent.Settled())
		}
		m.SetAutomine(false)
		ok(t, pay(t, m, from, to, coin, 21_000))
		ok(t, m.Mine(t.Context(), 1, 0))
		nonce, err := m.Nonce(t.Context(), to)
		ok(t, err)
		rest := new(big.Int).Mul(coin, big.NewInt(4)) // more than has settled
		ok(t, m.SendFrom(t.Context(), asked(t, m, to, &types.DynamicFeeTx{Nonce: nonce, To: &from, Value: rest, Gas: 21_000, GasFeeCap: big.NewInt(1e10)}), to))
		ok(t, m.Mine(t.Context(), 1, 0))
		if txs := head(t, m.Chain).Row.Txs; (txs == 0) != (name == "C") {
			t.Errorf("%s: a block takes %d transactions with funds of the block before", name, txs)
		}
		ok(t, m.Mine(t.Context(), 1, 5e9))
		if ready, _ := m.Pool.Count(); ready != 0 {
			t.Errorf("%s: %d transactions still wait", name, ready)
		}
	}
}

// TestClientsChangesAreSettledAtOnce: what a client sets without a transaction is available to the next block, on every chain.
func TestClientsChangesAreSettledAtOnce(t *testing.T) {
	t.Parallel()
	w := generate(t)
	m := w.MinerOf(w.Networks[0].CChain())
	from, poor := funded(t, m, 1), common.Address{0xac}
	ok(t, pay(t, m, from, poor, big.NewInt(1), 21_000))
	ok(t, m.SetBalance(t.Context(), poor, uint256.NewInt(1e18)))
	ok(t, m.SetNonce(t.Context(), poor, 7, false))
	ok(t, pay(t, m, poor, from, big.NewInt(1e17), 21_000))
	before := head(t, m.Chain)
	ok(t, pay(t, m, poor, from, big.NewInt(1e17), 21_000))
	if h := head(t, m.Chain); h.Header.TimeMilliseconds != before.Header.EarliestChild() || h.Row.Txs != 1 {
		t.Errorf("block %d waited %d ms", h.Number, h.Header.TimeMilliseconds-before.Header.TimeMilliseconds)
	}
	if nonce, err := m.Nonce(t.Context(), poor); err != nil || nonce != 9 {
		t.Errorf("the nonce is %d: %v", nonce, err)
	}
	if err := pay(t, m, poor, from, big.NewInt(2e18), 21_000); !errors.Is(err, core.ErrInsufficientFunds) {
		t.Errorf("more than it ever had: %v", err)
	}
}

// TestTheQueueIsBounded: at most two full blocks wait for settlement before another one, so blocks of endless transactions keep their distance.
func TestTheQueueIsBounded(t *testing.T) {
	t.Parallel()
	w := generate(t)
	m := w.MinerOf(w.Networks[0].CChain())
	from := funded(t, m, 1)
	ok(t, m.SetBalance(t.Context(), from, new(uint256.Int).Lsh(uint256.NewInt(1), 200)))
	limit := head(t, m.Chain).Header.GasLimit
	var blocks []*reader.Block
	for nonce := range uint64(5) {
		ok(t, m.SendFrom(t.Context(), asked(t, m, from, &types.DynamicFeeTx{Nonce: nonce, Gas: limit, Data: endless, GasFeeCap: new(big.Int).Lsh(big.NewInt(1), 100)}), from))
		blocks = append(blocks, head(t, m.Chain))
	}
	for n, b := range blocks {
		queued := uint64(0)
		for _, earlier := range blocks[:n] {
			if earlier.Number > b.Settled() {
				queued += earlier.Header.GasUsed
			}
		}
		if queued > 2*b.Header.GasLimit {
			t.Errorf("block %d is accepted while %d gas waits", b.Number, queued)
		}
		if b.Header.GasUsed != limit || b.Results.GasCharged != limit || b.Results.BaseFee.Cmp(b.Header.BaseFee) > 0 {
			t.Errorf("block %d of %d gas was charged %d at %d of %d wei", b.Number, b.Header.GasUsed, b.Results.GasCharged, b.Results.BaseFee, b.Header.BaseFee)
		}
	}
	if first, last := blocks[0].Header.TimeMilliseconds, blocks[4].Header.TimeMilliseconds; last-first < 10_000 {
		t.Errorf("five full blocks in %d ms", last-first)
	}
}

// TestAHugeGasLimitSettlesMonthsLater: a client may choose a gas limit that takes months of gas time. The next block then comes when that is settled,
// at once in real time.
func TestAHugeGasLimitSettlesMonthsLater(t *testing.T) {
	t.Parallel()
	w := generate(t)
	m := w.MinerOf(w.Networks[0].CChain())
	from := funded(t, m, 1)
	ok(t, m.SetBalance(t.Context(), from, new(uint256.Int).Lsh(uint256.NewInt(1), 200)))
	m.SetGasLimit(1 << 62)
	m.SetAutomine(false)
	for range 2 {
		m.SetNextBaseFee(big.NewInt(1))
		ok(t, pay(t, m, from, common.Address{1}, common.Big1, 1<<46))
		before, began := head(t, m.Chain), time.Now()
		ok(t, m.Mine(t.Context(), 1, 0))
		now := head(t, m.Chain)
		if now.Row.Txs != 1 || time.Since(began) > 10*time.Second {
			t.Errorf("a block of %d transactions after %s", now.Row.Txs, time.Since(began))
		}
		if executed := before.Results.GasUnix * 1_000; before.Results.GasCharged > 1<<44 && (now.Header.TimeMilliseconds < executed+5_000 || now.Header.TimeMilliseconds > executed+7_000) {
			t.Errorf("a block whose execution ends at %d ms is followed by one at %d ms", executed, now.Header.TimeMilliseconds)
		}
	}
}

// TestGasIsChargedByHalfTheLimit: a transaction is charged the gas that it uses, but since Helicon at least half of its limit, and pays the price at
// its execution, which is at most the header's.
func TestGasIsChargedByHalfTheLimit(t *testing.T) {
	t.Parallel()
	for helicon, w := range map[bool]*sim.World{true: generate(t), false: generate(t, neverHelicon)} {
		for name, m := range miners(w) {
			from, to := funded(t, m, 1), common.Address{0xad}
			for _, c := range []struct{ limit, charged uint64 }{{21_000, 21_000}, {42_000, 21_000}, {42_001, 21_001}, {42_003, 21_002}, {100_000, 50_000}} {
				if !helicon || name == "L1" {
					c.charged = 21_000
				}
				before := balance(t, m, from)
				ok(t, pay(t, m, from, to, new(big.Int), c.limit))
				h := head(t, m.Chain)
				rows, err := m.Chain.Transactions(t.Context(), h)
				ok(t, err)
				cost := new(big.Int).Mul(rows[0].Price(), new(big.Int).SetUint64(c.charged))
				if spent := new(big.Int).Sub(before, balance(t, m, from)); rows[0].Row.GasUsed != c.charged || spent.Cmp(cost) != 0 {
					t.Errorf("%s, Helicon %t: a limit of %d is charged %d gas and %d wei, want %d and %d", name, helicon, c.limit, rows[0].Row.GasUsed, spent, c.charged, cost)
				}
				wantHeader := c.charged
				if helicon && name == "C" {
					wantHeader = c.limit
				}
				if h.Header.GasUsed != wantHeader || h.Row.GasUsed != c.charged {
					t.Errorf("%s, Helicon %t: the header says %d gas, want %d", name, helicon, h.Header.GasUsed, wantHeader)
				}
			}
		}
	}
}

func balance(t *testing.T, m *miner.Miner, address common.Address) *big.Int {
	t.Helper()
	states, err := m.Chain.State(t.Context(), head(t, m.Chain))
	ok(t, err)
	return states.GetBalance(address).ToBig()
}

// TestAMinedBlockSettles: a block that a client asks for, and that has no transactions to take, comes late enough to settle earlier ones. One that
// takes a transaction, or whose time the client chose, comes as soon as the rules or the client allow.
func TestAMinedBlockSettles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		prepare func(*miner.Miner)
		mine    func(*miner.Miner) error
		settles bool
	}{
		{"alone", nil, func(m *miner.Miner) error { return m.Mine(t.Context(), 1, 0) }, true},
		{"several", nil, func(m *miner.Miner) error { return m.Mine(t.Context(), 3, 0) }, true},
		{"a chosen distance", nil, func(m *miner.Miner) error { return m.Mine(t.Context(), 1, 3e9) }, false},
		{"a chosen time", func(m *miner.Miner) {
			ok(t, m.SetNextTime(t.Context(), head(t, m.Chain).Header.TimeMilliseconds+3_000))
		}, func(m *miner.Miner) error { return m.Mine(t.Context(), 1, 0) }, false},
		{"a transaction", func(m *miner.Miner) {
			m.SetAutomine(false)
			ok(t, pay(t, m, funded(t, m, 2), common.Address{1}, common.Big1, 21_000))
		}, func(m *miner.Miner) error { return m.Mine(t.Context(), 1, 0) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := generate(t)
			m := w.MinerOf(w.Networks[0].CChain())
			ok(t, pay(t, m, funded(t, m, 1), common.Address{1}, common.Big1, 21_000))
			sent := head(t, m.Chain)
			if c.prepare != nil {
				c.prepare(m)
			}
			ok(t, c.mine(m))
			now := head(t, m.Chain)
			if waited := now.Header.TimeMilliseconds - sent.Header.TimeMilliseconds; (now.Settled() >= sent.Number) != c.settles || waited > 10_000 {
				t.Errorf("%d ms after block %d, block %d settles %d", waited, sent.Number, now.Number, now.Settled())
			}
		})
	}
}

// TestSettlementAtItsBounds: a block settles one that ended exactly five seconds before it. A sender whose settled funds cover what gas costs,
// but not what the transaction's cap lets it cost, waits.
func TestSettlementAtItsBounds(t *testing.T) {
	t.Parallel()
	w := generate(t)
	m := w.MinerOf(w.Networks[0].CChain())
	ok(t, m.Mine(t.Context(), 1, time.Minute))
	for _, c := range []struct {
		after   time.Duration
		settles uint64 // blocks before the new one
	}{{4_999 * time.Millisecond, 2}, {5 * time.Second, 1}} {
		empty := head(t, m.Chain)
		ok(t, m.Mine(t.Context(), 1, c.after))
		if next := head(t, m.Chain); next.Settled() != empty.Number+1-c.settles {
			t.Errorf("a block %s after block %d settles %d", c.after, empty.Number, next.Settled())
		}
	}
	coin := new(big.Int).Exp(big.NewInt(10), big.NewInt(18), nil)
	from, to := funded(t, m, 1), common.Address{0xac}
	ok(t, pay(t, m, from, to, coin, 21_000))
	ok(t, m.Mine(t.Context(), 1, time.Minute))
	m.SetAutomine(false)
	ok(t, pay(t, m, from, to, new(big.Int).Mul(coin, big.NewInt(5)), 21_000))
	ok(t, m.Mine(t.Context(), 1, 0))
	ok(t, m.SendFrom(t.Context(), asked(t, m, to, &types.DynamicFeeTx{To: &from, Gas: 21_000, GasFeeCap: big.NewInt(1e14)}), to)) // two coins at most
	for _, c := range []struct {
		after time.Duration
		txs   int
	}{{2 * time.Second, 0}, {10 * time.Second, 1}} {
		ok(t, m.Mine(t.Context(), 1, c.after))
		if b := head(t, m.Chain); b.Row.Txs != c.txs {
			t.Errorf("%s later a block has %d transactions of an account with one coin settled, want %d", c.after, b.Row.Txs, c.txs)
		}
	}
}
