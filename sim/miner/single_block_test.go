package miner_test

import (
	"context"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/txpool"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// accepting is a network that accepts every atomic transaction, or refuses it with an error.
type accepting struct {
	err      error
	accepted []uint64 // times of the blocks
	rejected int
}

func (a *accepting) Accept(_ *txs.Tx, h *evm.Header) (*store.PrimaryDelta, error) {
	a.accepted = append(a.accepted, h.TimeMilliseconds)
	return nil, a.err
}

func (a *accepting) Reject() { a.rejected++ }

// TestAtomicTransactionsGetABlockOfTheirOwn sends exports: an accepted one, an empty one, ones that cannot be written or that the network or the
// chain refuses, and one for which the chain lacks the capacity.
func TestAtomicTransactionsGetABlockOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := generate(t)
	m := w.MinerOf(w.Networks[0].CChain())
	from := funded(t, m, 1)
	refused := errors.New("refused")
	export := func(amount, nonce uint64) *txs.Tx {
		out := txs.NewTransferableOutput(ids.ID{2}, 5, txs.OutputOwners{Threshold: 1, Addresses: []ids.ShortID{{7}}})
		tx, err := txs.NewTx(txs.CChain, &txs.AtomicExportTx{Ins: []txs.EVMInput{{Address: from, Amount: amount, Nonce: nonce}}, ExportedOutputs: []*txs.TransferableOutput{out}})
		ok(t, err)
		return tx
	}
	send := func(tx *txs.Tx, wrote error, a *accepting) error {
		return m.SendAtomic(t.Context(), func(*evm.BlockExecution) (*txs.Tx, error) { return tx, wrote }, a)
	}
	before := head(t, m.Chain)
	for _, c := range []struct {
		tx               *txs.Tx
		wrote, err, want error
		asked, rejected  int
	}{
		{nil, nil, nil, nil, 0, 0},
		{export(1, 0), refused, nil, refused, 0, 0},
		{export(1, 0), nil, refused, refused, 1, 0},
		{export(1, 5), nil, nil, evm.ErrAtomicNonce, 1, 1},
	} {
		a := &accepting{err: c.err}
		if err := send(c.tx, c.wrote, a); !errors.Is(err, c.want) || len(a.accepted) != c.asked || a.rejected != c.rejected {
			t.Errorf("%v, asked %d times, rejected %d times; want %v, %d, %d", err, len(a.accepted), a.rejected, c.want, c.asked, c.rejected)
		}
	}
	if h := head(t, m.Chain); h.Number != before.Number {
		t.Fatalf("%d blocks of nothing", h.Number-before.Number)
	}
	// A block can be too small for an atomic transaction at any time.
	endless := []byte{0x5b, 0x60, 0x00, 0x56}
	ok(t, m.SendFrom(t.Context(), asked(t, m, from, &types.DynamicFeeTx{Nonce: 0, Gas: 1_000_000, Data: endless, GasFeeCap: big.NewInt(1e13)}), from))
	limit := uint64(1)
	m.SetGasLimit(limit)
	a := &accepting{}
	if err := send(export(1, 1), nil, a); !errors.Is(err, core.ErrGasLimitReached) || len(a.accepted) != 1 || a.rejected != 1 {
		t.Errorf("a block without room: %v, tried at %v, rejected %d times", err, a.accepted, a.rejected)
	}
	m.SetGasLimit(8_000_000)
	at := head(t, m.Chain)
	a = &accepting{}
	ok(t, send(export(7, 1), nil, a))
	h := head(t, m.Chain)
	if h.Number != at.Number+1 || h.Results.GasCharged == 0 || a.rejected != 0 || len(a.accepted) != 1 || a.accepted[0] != h.Header.TimeMilliseconds {
		t.Errorf("block %d after %d with %d gas, tried at %v", h.Number, at.Number, h.Results.GasCharged, a.accepted)
	}
	if nonce, err := m.Nonce(t.Context(), from); err != nil || nonce != 2 {
		t.Errorf("the nonce is %d: %v", nonce, err)
	}
}

// TestWhatCannotBeInABlockIsDropped: without automine transactions wait. With it, a transaction that no block can take is refused and dropped, and
// does not block others.
func TestWhatCannotBeInABlockIsDropped(t *testing.T) {
	t.Parallel()
	w := generate(t)
	for name, m := range miners(w) {
		from, other := funded(t, m, 1), funded(t, m, 2)
		m.SetGasLimit(1_000_000)
		m.SetAutomine(false)
		send := func(sender common.Address, nonce, gas uint64) *types.Transaction {
			t.Helper()
			tx := asked(t, m, sender, &types.DynamicFeeTx{Nonce: nonce, Gas: gas, To: &sender, GasFeeCap: big.NewInt(1e13)})
			ok(t, m.SendFrom(t.Context(), tx, sender))
			return tx
		}
		large := send(from, 0, 900_000)
		waiting := send(from, 1, 21_000)
		m.SetGasLimit(500_000)
		m.SetAutomine(true)
		before := head(t, m.Chain)
		send(other, 0, 21_000)
		if h := head(t, m.Chain); h.Number != before.Number+1 || m.Pool.Has(large.Hash()) || !m.Pool.Has(waiting.Hash()) {
			t.Errorf("%s: %d blocks, the large one waits %t, the one behind it %t", name, h.Number-before.Number, m.Pool.Has(large.Hash()), m.Pool.Has(waiting.Hash()))
		}
	}
}

// TestPendingFollowsWhatChanges requests the pending block after each change that affects it, and then mines that block.
func TestPendingFollowsWhatChanges(t *testing.T) {
	t.Parallel()
	w := generate(t)
	for name, m := range miners(w) {
		from := funded(t, m, 1)
		m.SetAutomine(false)
		pending := func() *big.Int {
			t.Helper()
			b, err := m.Pending(t.Context())
			ok(t, err)
			again, err := m.Pending(t.Context())
			ok(t, err)
			if again != b && again.Hash != b.Hash {
				t.Errorf("%s: the pending block is made twice", name)
			}
			return new(big.Int).SetUint64(uint64(b.Row.Txs)*1_000_000_000 + b.Header.TimeMilliseconds%1_000_000_000)
		}
		at := head(t, m.Chain)
		if b, err := m.Pending(t.Context()); err != nil || b.Hash != at.Hash {
			t.Errorf("%s: something is pending: %v", name, err)
		}
		send := func(nonce uint64) {
			t.Helper()
			ok(t, m.SendFrom(t.Context(), asked(t, m, from, &types.DynamicFeeTx{Nonce: nonce, Gas: 21_000, To: &from, GasFeeCap: big.NewInt(1e13)}), from))
		}
		send(0)
		one := pending()
		send(1)
		two := pending()
		w.Clock.Set(w.Clock.Now().Add(time.Minute))
		later := pending()
		if two.Uint64()/1e9 != one.Uint64()/1e9+1 || later.Uint64()/1e9 != two.Uint64()/1e9 || later.Cmp(two) == 0 {
			t.Errorf("%s: %s, %s and a minute later %s are pending", name, one, two, later)
		}
		if b, err := m.Pending(t.Context()); err != nil || b.Header.TimeMilliseconds != uint64(w.Clock.UnixMilli()) {
			t.Errorf("%s: the pending block is not of now: %v", name, err)
		}
		ok(t, m.SetBalance(t.Context(), from, new(uint256.Int)))
		if b, err := m.Pending(t.Context()); err != nil || b.Hash != at.Hash {
			t.Errorf("%s: who has nothing pays for %d: %v", name, b.Row.Txs, err)
		}
		ok(t, m.SetBalance(t.Context(), from, uint256.NewInt(9e18)))
		send(0)
		b, err := m.Pending(t.Context())
		ok(t, err)
		ok(t, m.Mine(t.Context(), 1, 0))
		made := head(t, m.Chain)
		if made.Row.Txs != b.Row.Txs || made.Header.GasUsed != b.Header.GasUsed || made.Header.BaseFee.Cmp(b.Header.BaseFee) != 0 {
			t.Errorf("%s: a block of %d, pending were %d", name, made.Row.Txs, b.Row.Txs)
		}
		if b, err := m.Pending(t.Context()); err != nil || b.Hash != made.Hash && b.Row.Txs > 0 {
			t.Errorf("%s: the same is pending after its block: %v", name, err)
		}
		coinbase := common.Address{9}
		m.SetCoinbase(coinbase)
		if b, err := m.Pending(t.Context()); err != nil || b.Header.Coinbase != coinbase || b.Number != made.Number+1 {
			t.Errorf("%s: another coinbase changes nothing: %v", name, err)
		}
		ok(t, m.Mine(t.Context(), 1, 0))
		made = head(t, m.Chain)
		if b, err := m.Pending(t.Context()); err != nil || b.Hash != made.Hash {
			t.Errorf("%s: a coinbase that a head has makes a block pending: %v", name, err)
		}
	}
}

// TestJumpsAreCounted: only blocks whose time a client chose count.
func TestJumpsAreCounted(t *testing.T) {
	t.Parallel()
	w := generate(t)
	for name, m := range miners(w) {
		before := w.Clock.Jumps()
		ok(t, m.Mine(t.Context(), 2, 0))
		if w.Clock.Jumps() != before {
			t.Errorf("%s: %d jumps by the rules", name, w.Clock.Jumps()-before)
		}
		ok(t, m.SetNextTime(t.Context(), head(t, m.Chain).Header.TimeMilliseconds+100_000))
		ok(t, m.Mine(t.Context(), 1, 0))
		if w.Clock.Jumps() != before+1 {
			t.Errorf("%s: %d jumps, want one", name, w.Clock.Jumps()-before)
		}
	}
}

// TestRunMakesBlocks: blocks are made automatically only with an interval, and errors are passed on.
func TestRunMakesBlocks(t *testing.T) {
	t.Parallel()
	w := generate(t)
	m := w.MinerOf(w.Networks[1].CChain())
	ctx, stop := context.WithCancel(t.Context())
	failed := make(chan error, 100)
	done := make(chan bool)
	go func() {
		m.Run(ctx, func(err error) { failed <- err })
		close(done)
	}()
	before := head(t, m.Chain).Number
	time.Sleep(5 * time.Millisecond)
	if n := head(t, m.Chain).Number; n != before {
		t.Errorf("%d blocks without an interval", n-before)
	}
	m.SetInterval(2 * time.Millisecond)
	until := time.Now().Add(5 * time.Second)
	for head(t, m.Chain).Number < before+2 && time.Now().Before(until) {
		time.Sleep(time.Millisecond)
	}
	if head(t, m.Chain).Number < before+2 {
		t.Error("no blocks come")
	}
	w.DB.FailStatements(func(string) bool { return true })
	select {
	case <-failed:
	case <-time.After(5 * time.Second):
		t.Error("nobody learns that blocks fail")
	}
	w.DB.FailStatements(nil)
	stop()
	<-done
}

// TestMemoryKeepsThePool: another miner continues from a miner's memory in a snapshot. Transactions that no longer fit are dropped, and holds remain.
func TestMemoryKeepsThePool(t *testing.T) {
	t.Parallel()
	w := generate(t)
	for name, m := range miners(w) {
		from := funded(t, m, 1)
		m.SetAutomine(false)
		for nonce := range uint64(3) {
			ok(t, m.SendFrom(t.Context(), asked(t, m, from, &types.DynamicFeeTx{Nonce: nonce, Gas: 21_000, To: &from, GasFeeCap: big.NewInt(1e13)}), from))
		}
		fee := big.NewInt(7)
		m.SetNextBaseFee(fee)
		kept, err := m.Memory()
		ok(t, err)
		if len(kept.Pool) != 3 || kept.BaseFee.ToInt().Cmp(fee) != 0 {
			t.Fatalf("%s: kept are %d, base fee %v", name, len(kept.Pool), kept.BaseFee)
		}
		m.SetNextBaseFee(big.NewInt(9))
		m.DropSender(t.Context(), from)
		ok(t, m.Rewound(t.Context(), kept))
		if ready, _ := m.Pool.Count(); ready != 3 || m.Automine() {
			t.Errorf("%s: %d wait again, automine %t", name, ready, m.Automine())
		}
		if next, err := m.NextBlock(t.Context()); err != nil || next.BaseFee.Cmp(fee) != 0 {
			t.Errorf("%s: the next base fee is %v: %v", name, next, err)
		}
		if rows, changed, err := m.Stored(); err != nil || len(rows) != 3 || !changed {
			t.Errorf("%s: %d rows to store, changed %t: %v", name, len(rows), changed, err)
		}
		ok(t, m.Mine(t.Context(), 1, 0))
		if h := head(t, m.Chain); h.Row.Txs != 3 || h.Header.BaseFee.Cmp(fee) != 0 {
			t.Errorf("%s: a block of %d at %s", name, h.Row.Txs, h.Header.BaseFee)
		}
		none, err := m.Memory()
		ok(t, err)
		ok(t, m.Rewound(t.Context(), none))
		if rows, changed, err := m.Stored(); err != nil || len(rows) != 0 || changed {
			t.Errorf("%s: %d rows to store, changed %t: %v", name, len(rows), changed, err)
		}
		kept.Pool[1].Raw = kept.Pool[1].Raw[1:]
		if err := m.Rewound(t.Context(), kept); err == nil {
			t.Errorf("%s: half a transaction waits", name)
		}
	}
}

// TestALoweredNonceMinesNothingTwice: after a nonce was lowered, the miner still knows the transactions that used it.
func TestALoweredNonceMinesNothingTwice(t *testing.T) {
	t.Parallel()
	w := generate(t)
	for name, m := range miners(w) {
		from := funded(t, m, 1)
		tx := asked(t, m, from, &types.DynamicFeeTx{Gas: 21_000, To: &from, GasFeeCap: big.NewInt(1e13)})
		ok(t, m.SendFrom(t.Context(), tx, from))
		ok(t, m.SetNonce(t.Context(), from, 0, true))
		for _, again := range []bool{false, true} {
			if again { // a miner that reads it from the file
				kept, err := m.Memory()
				ok(t, err)
				ok(t, m.Rewound(t.Context(), kept))
			}
			if err := m.SendFrom(t.Context(), tx, from); !errors.Is(err, txpool.ErrAlreadyKnown) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
