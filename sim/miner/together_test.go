package miner_test

import (
	"errors"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/miner"
)

// TestTogetherOrNotAtAll sends two payments from an account at once: both in one block, once there is capacity, or none.
func TestTogetherOrNotAtAll(t *testing.T) {
	t.Parallel()
	w := generate(t)
	for name, m := range miners(w) {
		from := funded(t, m, 1)
		pay := func(nonce, gas uint64, data ...byte) *types.Transaction {
			return asked(t, m, from, &types.DynamicFeeTx{Nonce: nonce, Gas: gas, To: &common.Address{9: 9}, Value: big.NewInt(1), Data: data, GasFeeCap: big.NewInt(1e13)})
		}
		reverts := asked(t, m, from, &types.DynamicFeeTx{Nonce: 1, Gas: 100_000, Data: common.FromHex("0x60006000fd"), GasFeeCap: big.NewInt(1e13)})
		before := head(t, m.Chain)
		send := func(transactions ...*types.Transaction) error {
			return m.SendTogether(t.Context(), transactions, from)
		}
		index := func(err error) int {
			reverted := &miner.RevertedTogetherError{Index: -1}
			errors.As(err, &reverted)
			return reverted.Index
		}
		if err := send(pay(0, 21_000), reverts); index(err) != 1 {
			t.Errorf("%s: a batch that reverts: %v", name, err)
		}
		if err := send(pay(0, 21_000), pay(2, 21_000)); !errors.Is(err, core.ErrNonceTooHigh) {
			t.Errorf("%s: a batch with a gap: %v", name, err)
		}
		if h := head(t, m.Chain); h.Number != before.Number {
			t.Fatalf("%s: %d blocks of nothing", name, h.Number-before.Number)
		}
		ok(t, send(pay(0, 21_000), pay(1, 21_000)))
		h := head(t, m.Chain)
		if h.Number != before.Number+1 || h.Row.Txs != 2 {
			t.Errorf("%s: block %d after %d has %d transactions", name, h.Number, before.Number, h.Row.Txs)
		}
		if err := send(pay(1, 21_000)); !errors.Is(err, core.ErrNonceTooLow) {
			t.Errorf("%s: a batch that is there already: %v", name, err)
		}
		m.SetAutomine(false)
		if err := send(pay(2, 21_000)); !errors.Is(err, miner.ErrNotTogether) {
			t.Errorf("%s: a batch without automine: %v", name, err)
		}
		ok(t, m.SendFrom(t.Context(), pay(2, 21_000), from))
		m.SetAutomine(true)
		if err := send(pay(2, 22_000, 1)); !errors.Is(err, miner.ErrNotTogether) {
			t.Errorf("%s: a batch beside what waits: %v", name, err)
		}
	}
}
