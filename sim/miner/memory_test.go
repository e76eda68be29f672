package miner_test

import (
	"math/big"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/evm"
	"snowglobe/sim/miner"
	"snowglobe/sim/store"
)

// TestSettingsComeBack: after a revert and in a copy, overrides of the next blocks, waiting transactions and impersonated accounts are as they were
// at the snapshot. A reset discards them and restores the user's settings for automatic blocks.
func TestSettingsComeBack(t *testing.T) {
	t.Parallel()
	w := generate(t)
	m, from := w.Miners[0], rich(t, w)
	m.SetDefaults(false, time.Hour)
	memory := func(m *miner.Miner) *miner.Memory {
		t.Helper()
		kept, err := m.Memory()
		if err != nil {
			t.Fatal(err)
		}
		return kept
	}
	nothing := memory(m)
	ask := func(number int64) {
		t.Helper()
		m.SetSpacing(time.Duration(number) * time.Minute)
		m.SetNextBaseFee(big.NewInt(number))
		m.SetGasLimit(10_000_000 + uint64(number))
		m.SetCoinbase(common.Address{byte(number)})
		m.Impersonation.Start(common.Address{byte(number)})
		m.Impersonation.SetAll(number == 1)
		if err := m.SetNextTime(t.Context(), uint64(w.Clock.UnixMilli()+number)); err != nil {
			t.Fatal(err)
		}
		if err := m.SendFrom(t.Context(), impersonated(t, m, from, big.NewInt(1e12), number), from); err != nil {
			t.Fatal(err)
		}
	}
	ask(1)
	then := memory(m)
	v := reflect.ValueOf(*then)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("nothing was asked for as to %s: ask for it here", v.Type().Field(i).Name)
		}
	}
	s, err := w.TakeSnapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := w.CopyTo(t.Context(), filepath.Join(t.TempDir(), "copy.db"), store.Limits{Readers: 1, CacheKiB: 512})
	if err != nil {
		t.Fatal(err)
	}
	if got := memory(c.Miners[0]); !reflect.DeepEqual(got, then) {
		t.Errorf("in a copy\n%+v\nin the world\n%+v", got, then)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	ask(2)
	m.SetAutomine(true)
	m.SetInterval(time.Minute)
	if err := w.Revert(t.Context(), s.ID, false); err != nil || !reflect.DeepEqual(memory(m), then) {
		t.Errorf("%v: after a revert\n%+v\nat the snapshot\n%+v", err, memory(m), then)
	}
	if !m.Automine() || m.Interval() != time.Minute {
		t.Errorf("a revert decides when blocks are made: %t, %s", m.Automine(), m.Interval())
	}
	if err := w.Reset(t.Context()); err != nil || !reflect.DeepEqual(memory(m), nothing) {
		t.Errorf("%v: after a reset\n%+v", err, memory(m))
	}
	if m.Automine() || m.Interval() != time.Hour {
		t.Errorf("after a reset blocks are made so: %t, %s", m.Automine(), m.Interval())
	}
}

// TestHeavyTransactionsWait: with automine, a transaction for which the C-Chain lacks capacity (ACP-176, until Helicon) is in a block as soon as
// there is enough.
func TestHeavyTransactionsWait(t *testing.T) {
	t.Parallel()
	w := generate(t, neverHelicon)
	m, from := w.MinerOf(w.Networks[0].CChain()), rich(t, w)
	id := new(big.Int).SetUint64(m.Chain.Row.EVMID)
	var waited time.Duration
	for range 3 {
		before := head(t, m.Chain).Header
		nonce, err := m.Nonce(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		forever := []byte{0x5b, 0x60, 0x00, 0x56} // JUMPDEST PUSH1 0 JUMP
		tx, err := evm.Impersonate(types.NewTx(&types.DynamicFeeTx{ChainID: id, Nonce: nonce, Gas: before.GasLimit * 99 / 100, GasTipCap: new(big.Int), GasFeeCap: big.NewInt(1e10), Data: forever}), id, from)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.SendFrom(t.Context(), tx, from); err != nil {
			t.Fatal(err)
		}
		made := head(t, m.Chain)
		if made.Row.Txs != 1 || made.Header.GasUsed != tx.Gas() {
			t.Errorf("block %d has %d transactions, of %d gas", made.Number, made.Row.Txs, made.Header.GasUsed)
		}
		waited = time.Duration(made.Header.TimeMilliseconds-before.EarliestChild()) * time.Millisecond
	}
	if waited < time.Second {
		t.Errorf("the last of them waited %s", waited)
	}
}
