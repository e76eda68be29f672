package miner_test

import (
	"errors"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/miner"
)

// TestAFullQueueWaits: while settlement lags, two full blocks of gas limits fill the queue. Another transaction stays in the pool until they settle.
func TestAFullQueueWaits(t *testing.T) {
	t.Parallel()
	w := generate(t)
	m := w.MinerOf(w.Networks[0].CChain())
	from := funded(t, m, 1)
	ok(t, m.SetBalance(t.Context(), from, new(uint256.Int).Lsh(uint256.NewInt(1), 200)))
	ok(t, m.SetFault(t.Context(), miner.Fault{SettlementLag: 3_600_000}))
	for range 8 {
		ok(t, pay(t, m, from, common.Address{0xad}, common.Big1, head(t, m.Chain).Header.GasLimit/2))
	}
	if pending, _ := m.Pool.Count(); pending == 0 {
		t.Fatal("eight half blocks are accepted while nothing settles")
	}
	if err := m.Mine(t.Context(), 1, 0); !errors.Is(err, evm.ErrQueueFull) {
		t.Errorf("a block with a full queue: %v", err)
	}
	for range 4 {
		ok(t, w.Advance(t.Context(), w.Clock.Now().Add(2*time.Hour)))
	}
	if pending, _ := m.Pool.Count(); pending > 0 {
		t.Errorf("%d wait after the queue settled", pending)
	}
}

// TestAReorgMakesItsBlocks: a reorganisation keeps the chain's length, even if too little would be settled for the new blocks because of the lag or
// of the block times that a client chose.
func TestAReorgMakesItsBlocks(t *testing.T) {
	t.Parallel()
	for name, choose := range map[string]func(*miner.Miner){
		"lag":      func(m *miner.Miner) { ok(t, m.SetFault(t.Context(), miner.Fault{SettlementLag: 3_600_000})) },
		"distance": func(m *miner.Miner) { m.SetSpacing(time.Second) },
	} {
		w := generate(t)
		m := w.MinerOf(w.Networks[0].CChain())
		from := funded(t, m, 1)
		ok(t, m.Mine(t.Context(), 5, 0))
		before := head(t, m.Chain)
		choose(m)
		var full [][]*miner.Transaction
		for nonce := range uint64(5) {
			tx := asked(t, m, from, &types.DynamicFeeTx{Nonce: nonce, To: &common.Address{0xad}, Gas: before.Header.GasLimit})
			full = append(full, []*miner.Transaction{{Transaction: tx, Sender: from}})
		}
		ok(t, w.Reorg(t.Context(), m.Chain, 5, full))
		if b := head(t, m.Chain); b.Number != before.Number || b.Row.Txs != 1 {
			t.Errorf("%s: the newest block is %d with %d transactions, was %d", name, b.Number, b.Row.Txs, before.Number)
		}
	}
}

// TestExecutionLagsAfterGoingBack: a lag applies to the blocks after a revert or a rollback, whatever had been executed before.
func TestExecutionLagsAfterGoingBack(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]func(w *sim.World, m *miner.Miner, snapshot int64) error{
		"revert":   func(w *sim.World, _ *miner.Miner, snapshot int64) error { return w.Revert(t.Context(), snapshot, true) },
		"rollback": func(w *sim.World, m *miner.Miner, _ int64) error { return w.Reorg(t.Context(), m.Chain, 3, nil) },
		"reorg": func(w *sim.World, m *miner.Miner, _ int64) error {
			return w.Reorg(t.Context(), m.Chain, 3, make([][]*miner.Transaction, 3))
		},
	} {
		w := generate(t)
		m := w.MinerOf(w.Networks[0].CChain())
		s, err := w.TakeSnapshot(t.Context(), "")
		ok(t, err)
		start := head(t, m.Chain).Number
		ok(t, m.Mine(t.Context(), 3, 0))
		ok(t, m.SetFault(t.Context(), miner.Fault{ExecutionLag: miner.Lag{Milliseconds: 3_600_000}}))
		ok(t, back(w, m, s.ID))
		ok(t, m.Mine(t.Context(), 1, 0))
		executed := func(want uint64) {
			t.Helper()
			if b, err := m.LastExecuted(t.Context()); err != nil || b.Number != want {
				t.Errorf("%s: block %d is executed, want %d of %d: %v", name, b.Number, want, head(t, m.Chain).Number, err)
			}
		}
		executed(start)
		ok(t, m.SetFault(t.Context(), miner.Fault{}))
		executed(head(t, m.Chain).Number)
	}
}
