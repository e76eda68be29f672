package miner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"snowglobe/sim"
	"snowglobe/sim/evm/txpool"
	"snowglobe/sim/miner"
	"snowglobe/sim/store"
	"snowglobe/sim/verify"
)

var errHeld = errors.New("the lock was only held")

// waiting sends transactions that all wait for the writer's lock in this order, and returns their errors.
func waiting(t *testing.T, m *miner.Miner, sends []func(context.Context) error) (failed []error) {
	t.Helper()
	failed = make([]error, len(sends))
	var all sync.WaitGroup
	var refused atomic.Int32 // before they could wait
	err := m.SendPrepared(t.Context(), common.Address{1}, func(miner.Next) (*types.Transaction, error) {
		for i, send := range sends {
			all.Go(func() {
				failed[i] = send(t.Context())
				refused.Add(1)
			})
			for m.Waiting()+int(refused.Load()) <= i {
				runtime.Gosched()
			}
		}
		return nil, errHeld
	})
	if !errors.Is(err, errHeld) {
		t.Fatal(err)
	}
	all.Wait()
	return failed
}

// payments returns so many payments of some accounts by turns, whose nonces continue.
func payments(t *testing.T, m *miner.Miner, accounts []common.Address, n int) (all []func(context.Context) error) {
	t.Helper()
	nonces := map[common.Address]uint64{}
	for _, a := range accounts {
		nonce, err := m.Nonce(t.Context(), a)
		ok(t, err)
		nonces[a] = nonce
	}
	for i := range n {
		from := accounts[i%len(accounts)]
		tx := asked(t, m, from, &types.DynamicFeeTx{Nonce: nonces[from], Gas: 21_000, To: &common.Address{0xcc, byte(i)}, Value: big.NewInt(int64(i))})
		nonces[from]++
		all = append(all, func(ctx context.Context) error { return m.SendFrom(ctx, tx, from) })
	}
	return all
}

// commits returns what is known of every commit of a world.
func commits(t *testing.T, w *sim.World) (all []string) {
	t.Helper()
	for n := int64(1); n <= w.DB.LastCommit().Sequence; n++ {
		c, err := w.DB.CommitAt(t.Context(), n)
		ok(t, err)
		all = append(all, fmt.Sprintf("%d at %d: %x", c.Sequence, c.Clock, c.Digest))
	}
	return all
}

// TestSendersThatWaitShareADatabaseTransaction: the blocks, the world after each of them, and the errors are those of transactions that are sent one
// by one, also if a block falls due on the P-Chain among them.
func TestSendersThatWaitShareADatabaseTransaction(t *testing.T) {
	t.Parallel()
	together, alone := generate(t), generate(t)
	due, err := together.NextDue(t.Context())
	ok(t, err)
	for _, w := range []*sim.World{together, alone} {
		ok(t, w.Advance(t.Context(), due.Add(-3*time.Second)))
	}
	send := func(w *sim.World) (failed []error, stored int64) {
		for _, m := range miners(w) {
			accounts := []common.Address{funded(t, m, 1), funded(t, m, 2), funded(t, m, 3)}
			sends := payments(t, m, accounts, 9)
			old := asked(t, m, accounts[0], &types.DynamicFeeTx{Nonce: 0, Gas: 21_000, To: &accounts[0]})
			reverts := asked(t, m, accounts[1], &types.DynamicFeeTx{Nonce: 3, Gas: 100_000, Data: []byte{0x5f, 0x5f, 0xfd}})
			sends = append(sends,
				func(ctx context.Context) error { return m.SendFrom(ctx, old, accounts[0]) },
				func(ctx context.Context) error { return m.SendFrom(ctx, reverts, accounts[1]) })
			before := w.DB.Commits()
			if w == together {
				failed = append(failed, waiting(t, m, sends)...)
			} else {
				for _, send := range sends {
					failed = append(failed, send(t.Context()))
				}
			}
			stored += w.DB.Commits() - before
		}
		return failed, stored
	}
	failed, stored := send(together)
	want, each := send(alone)
	for i, err := range failed {
		if (err == nil) != (want[i] == nil) || err != nil && (err.Error() != want[i].Error() || !errors.Is(err, core.ErrNonceTooLow)) {
			t.Errorf("transaction %d: %v; sent alone: %v", i, err, want[i])
		}
	}
	if a, b := commits(t, together), commits(t, alone); !slices.Equal(a, b) {
		t.Errorf("commits %s\nsent alone: %s", strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
	if stored > 4 || each < 20 {
		t.Errorf("%d transactions of the database for waiting senders, %d for others", stored, each)
	}
	now, err := together.NextDue(t.Context())
	if ok(t, err); !now.After(due) {
		t.Errorf("nothing fell due: %s", now)
	}
}

// TestFewLargeBlocksAreStoredTogether: blocks are in memory until they are stored, so the gas of those that wait for each other is bounded.
func TestFewLargeBlocksAreStoredTogether(t *testing.T) {
	t.Parallel()
	w := generate(t)
	for name, m := range miners(w) {
		from := funded(t, m, 1)
		var sends []func(context.Context) error
		for nonce := range uint64(8) {
			tx := asked(t, m, from, &types.DynamicFeeTx{Nonce: nonce, Gas: 4_000_000, To: &common.Address{0xcc}})
			sends = append(sends, func(ctx context.Context) error { return m.SendFrom(ctx, tx, from) })
		}
		before := w.DB.Commits()
		ok(t, errors.Join(waiting(t, m, sends)...))
		if stored := w.DB.Commits() - before; stored < 4 || stored > 6 {
			t.Errorf("%s: 8 blocks of up to 4 million gas took %d transactions of the database", name, stored)
		}
	}
}

// TestGoingBackAmongBlocksThatWereStoredTogether replaces blocks from the middle of a database transaction on, in which the metrics began anew.
func TestGoingBackAmongBlocksThatWereStoredTogether(t *testing.T) {
	t.Parallel()
	w := generate(t)
	m := w.MinerOf(w.Networks[0].CChain())
	accounts := []common.Address{funded(t, m, 1), funded(t, m, 2)}
	snapshot, err := w.TakeSnapshot(t.Context(), "")
	ok(t, err)
	ok(t, errors.Join(waiting(t, m, payments(t, m, accounts, 7))...))
	first := w.Digest()
	for w.DB.LastCommit().Sequence < 120 {
		ok(t, errors.Join(waiting(t, m, payments(t, m, accounts, 7))...))
	}
	ok(t, errors.Join(waiting(t, m, payments(t, m, accounts, 20))...))
	for _, depth := range []uint64{3, 15, 17} {
		before := head(t, m.Chain)
		ok(t, w.Reorg(t.Context(), m.Chain, depth, nil))
		if after := head(t, m.Chain); after.Number != before.Number-depth {
			t.Errorf("block %d after a reorganisation of %d at %d", after.Number, depth, before.Number)
		}
		if report, err := verify.Verify(t.Context(), w, nil); err != nil {
			t.Errorf("%d blocks back: %v\n%s", depth, err, report)
		}
		ok(t, errors.Join(waiting(t, m, payments(t, m, accounts, int(depth)+2))...))
	}
	ok(t, w.Revert(t.Context(), snapshot.ID, true))
	if !bytes.Equal(w.Digest(), snapshot.Digest) {
		t.Errorf("after a revert the digest is %x, it was %x", w.Digest(), snapshot.Digest)
	}
	ok(t, errors.Join(waiting(t, m, payments(t, m, accounts, 7))...))
	if !bytes.Equal(w.Digest(), first) {
		t.Errorf("the same payments lead to %x, then to %x", first, w.Digest())
	}
	if report, err := verify.Verify(t.Context(), w, nil); err != nil {
		t.Errorf("%v\n%s", err, report)
	}
}

// TestWaitingSendersLearnThatNothingWasStored: if the file fails, none of their blocks exists, each gets the error, and all can send again.
func TestWaitingSendersLearnThatNothingWasStored(t *testing.T) {
	t.Parallel()
	w, intact := generate(t), generate(t)
	for _, m := range miners(intact) {
		accounts := []common.Address{funded(t, m, 1), funded(t, m, 2), funded(t, m, 3)}
		ok(t, errors.Join(waiting(t, m, payments(t, m, accounts, 6))...))
	}
	for name, m := range miners(w) {
		accounts := []common.Address{funded(t, m, 1), funded(t, m, 2), funded(t, m, 3)}
		sends := payments(t, m, accounts, 6)
		before, digest, commit := head(t, m.Chain), w.Digest(), w.DB.LastCommit()
		for statement, n := range map[string]int{"COMMIT": 1, "INSERT INTO block": 3, "INSERT INTO undo": 4} {
			seen := 0
			w.DB.FailStatements(func(text string) bool {
				if strings.HasPrefix(text, statement) {
					seen++
				}
				return seen == n && strings.HasPrefix(text, statement)
			})
			failed := waiting(t, m, sends)
			w.DB.FailStatements(nil)
			for i, err := range failed {
				if !store.Internal(err) {
					t.Errorf("%s: %s fails, transaction %d: %v", name, statement, i, err)
				}
			}
			pending, queued := m.Pool.Count()
			if h := head(t, m.Chain); h.Hash != before.Hash || !bytes.Equal(w.Digest(), digest) || w.DB.LastCommit() != commit || pending+queued > 0 {
				t.Errorf("%s: %s fails: block %d after %d, digest %x after %x, %d transactions wait", name, statement, h.Number, before.Number, w.Digest(), digest, pending+queued)
			}
		}
		ok(t, errors.Join(waiting(t, m, sends)...))
		if h := head(t, m.Chain); h.Number != before.Number+6 {
			t.Errorf("%s: %d blocks in the end", name, h.Number-before.Number)
		}
	}
	if a, b := commits(t, w), commits(t, intact); !slices.Equal(a, b) {
		t.Errorf("commits %s\nin a file that never failed: %s", strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
	if report, err := verify.Verify(t.Context(), w, nil); err != nil {
		t.Errorf("%v\n%s", err, report)
	}
}

// TestAFailureConcernsNobodyBefore: what was stored when the file fails stays stored, and its senders are not told of the failure.
func TestAFailureConcernsNobodyBefore(t *testing.T) {
	t.Parallel()
	w := generate(t)
	for name, m := range miners(w) {
		accounts := []common.Address{funded(t, m, 1), funded(t, m, 2)}
		before, sends, tx := head(t, m.Chain).Number, payments(t, m, accounts, 6), signed(t, m)
		sends = slices.Insert(sends, 3, func(ctx context.Context) error { return m.SendIf(ctx, tx, func() error { return nil }) })
		seen := 0
		w.DB.FailStatements(func(text string) bool {
			if text == "COMMIT" {
				seen++
			}
			return seen == 3 && text == "COMMIT" // after those of three payments and of the conditional one
		})
		failed := waiting(t, m, sends)
		w.DB.FailStatements(nil)
		if now := head(t, m.Chain).Number; now != before+4 || errors.Join(failed[:4]...) != nil || !store.Internal(failed[4]) || !store.Internal(failed[6]) {
			t.Errorf("%s: block %d after %d, %v", name, now, before, failed)
		}
	}
}

// TestWhatCannotWaitForOthers: a condition sees the blocks of those who came before, and so does a transaction behind a gap.
func TestWhatCannotWaitForOthers(t *testing.T) {
	t.Parallel()
	w := generate(t)
	for name, m := range miners(w) {
		accounts := []common.Address{funded(t, m, 1), funded(t, m, 2)}
		before := head(t, m.Chain).Number
		sends := payments(t, m, accounts, 6)
		var saw uint64
		var turns []int
		tx := signed(t, m)
		for i, send := range sends {
			sends[i] = func(ctx context.Context) error {
				return send(sim.WithTurn(ctx, func() { turns = append(turns, i) }))
			}
		}
		conditional := func(ctx context.Context) error {
			return m.SendIf(ctx, tx, func() error {
				saw = head(t, m.Chain).Number
				return nil
			})
		}
		sends = slices.Insert(sends, 3, conditional)
		sends[4], sends[6] = sends[6], sends[4] // the same account's: a gap, and what fills it
		ok(t, errors.Join(waiting(t, m, sends)...))
		if h := head(t, m.Chain); saw != before+3 || h.Number != before+7 || h.Row.Txs != 1 {
			t.Errorf("%s: the condition saw block %d, the last is %d, after %d", name, saw, h.Number, before)
		}
		if !slices.Equal(turns, []int{0, 1, 2, 5, 4, 3}) {
			t.Errorf("%s: the turns were those of %v", name, turns)
		}
	}
}

// TestALoweredNonceTakesNothingTwice: a transaction that waits twice is mined once, although its nonce is due again.
func TestALoweredNonceTakesNothingTwice(t *testing.T) {
	t.Parallel()
	w := generate(t)
	for name, m := range miners(w) {
		accounts := []common.Address{funded(t, m, 1)}
		sends := payments(t, m, accounts, 2)
		ok(t, errors.Join(waiting(t, m, sends)...))
		ok(t, m.SetNonce(t.Context(), accounts[0], 0, true))
		if failed := waiting(t, m, []func(context.Context) error{sends[0], sends[1]}); !errors.Is(failed[0], txpool.ErrAlreadyKnown) || !errors.Is(failed[1], txpool.ErrAlreadyKnown) {
			t.Errorf("%s: %v", name, failed)
		}
		later := asked(t, m, accounts[0], &types.DynamicFeeTx{Nonce: 0, Gas: 21_000, To: &common.Address{0xdd}})
		again := func(ctx context.Context) error { return m.SendFrom(ctx, later, accounts[0]) }
		if failed := waiting(t, m, []func(context.Context) error{again, again}); failed[0] != nil || !errors.Is(failed[1], txpool.ErrAlreadyKnown) {
			t.Errorf("%s: %v", name, failed)
		}
	}
}

// TestAPanicLeavesNobodyWaiting: whoever sends for others may fail in a way that nobody expects.
func TestAPanicLeavesNobodyWaiting(t *testing.T) {
	t.Parallel()
	w := generate(t)
	for name, m := range miners(w) {
		accounts := []common.Address{funded(t, m, 1)}
		before, tx, sends := head(t, m.Chain).Number, signed(t, m), payments(t, m, accounts, 3)
		failed := waiting(t, m, []func(context.Context) error{
			func(ctx context.Context) (err error) {
				defer func() { err = fmt.Errorf("%v", recover()) }()
				return sends[0](ctx)
			},
			func(ctx context.Context) error { return m.SendIf(ctx, tx, func() error { panic("unexpected") }) },
			sends[1],
		})
		if failed[0].Error() != "unexpected" || failed[1] == nil || failed[2] == nil || head(t, m.Chain).Number != before+1 {
			t.Errorf("%s: %v, block %d after %d", name, failed, head(t, m.Chain).Number, before)
		}
		ok(t, errors.Join(waiting(t, m, append(sends[1:], func(ctx context.Context) error { return m.Send(ctx, tx) }))...))
	}
}

// signed returns a payment that is signed with a key of its own.
func signed(t *testing.T, m *miner.Miner) *types.Transaction {
	t.Helper()
	key, err := crypto.ToECDSA(common.LeftPadBytes([]byte{9}, 32))
	ok(t, err)
	ok(t, m.AddBalance(t.Context(), crypto.PubkeyToAddress(key.PublicKey), uint256.NewInt(1e18)))
	id := new(big.Int).SetUint64(m.Chain.Row.EVMID)
	tx, err := types.SignNewTx(key, types.LatestSignerForChainID(id), &types.DynamicFeeTx{ChainID: id, Gas: 21_000, GasFeeCap: big.NewInt(1e12), GasTipCap: new(big.Int), To: &common.Address{0xcc}})
	ok(t, err)
	return tx
}
