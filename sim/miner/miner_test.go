package miner_test

import (
	"context"
	"errors"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/txpool"
	"snowglobe/sim/miner"
	"snowglobe/sim/store"
)

// asked returns a transaction of an account without a key, with data as its input.
func asked(t *testing.T, m *miner.Miner, from common.Address, data *types.DynamicFeeTx) *types.Transaction {
	t.Helper()
	data.ChainID = new(big.Int).SetUint64(m.Chain.Row.EVMID)
	if data.GasFeeCap == nil {
		data.GasFeeCap = big.NewInt(1e12)
	}
	if data.GasTipCap == nil {
		data.GasTipCap = new(big.Int)
	}
	tx, err := evm.Impersonate(types.NewTx(data), data.ChainID, from)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// funded returns an account without a key that has a thousand AVAX.
func funded(t *testing.T, m *miner.Miner, n byte) common.Address {
	t.Helper()
	a := common.Address{0xaa, n}
	ok(t, m.SetBalance(t.Context(), a, new(uint256.Int).Mul(uint256.NewInt(1000), uint256.NewInt(1e18))))
	return a
}

// TestAutomine: each transaction gets a block at once. One behind a gap waits until the gap is filled, and then each gets one.
func TestAutomine(t *testing.T) {
	t.Parallel()
	w := generate(t)
	for name, m := range miners(w) {
		from := funded(t, m, 1)
		before := head(t, m.Chain)
		mined := func(blocks uint64) {
			t.Helper()
			if h := head(t, m.Chain); h.Number != before.Number+blocks || blocks > 0 && h.Row.Txs != 1 {
				t.Errorf("%s: %d blocks instead of %d, the last with %d transactions", name, h.Number-before.Number, blocks, h.Row.Txs)
			}
		}
		ok(t, m.SendFrom(t.Context(), asked(t, m, from, &types.DynamicFeeTx{Nonce: 1, Gas: 21_000, To: &from}), from))
		mined(0)
		ok(t, m.SendFrom(t.Context(), asked(t, m, from, &types.DynamicFeeTx{Nonce: 0, Gas: 21_000, To: &from}), from))
		mined(2)
		if nonce, err := m.Nonce(t.Context(), from); err != nil || nonce != 2 {
			t.Errorf("%s: the next nonce is %d: %v", name, nonce, err)
		}
		cheap := asked(t, m, from, &types.DynamicFeeTx{Nonce: 2, Gas: 21_000, To: &from, GasFeeCap: big.NewInt(1)})
		m.Pool.SetMinFee(big.NewInt(1))
		m.SetNextBaseFee(big.NewInt(2))
		if err := m.SendFrom(t.Context(), cheap, from); !errors.Is(err, core.ErrFeeCapTooLow) || m.Pool.Has(cheap.Hash()) {
			t.Errorf("%s: a fee cap of 1 wei: %v", name, err)
		}
		if err := m.SendFrom(t.Context(), asked(t, m, from, &types.DynamicFeeTx{Nonce: 1, Gas: 21_000, To: &from}), from); !errors.Is(err, core.ErrNonceTooLow) {
			t.Errorf("%s: an old nonce: %v", name, err)
		}
		if err := m.SendFrom(t.Context(), asked(t, m, from, &types.DynamicFeeTx{Nonce: 2, Gas: 20_999, To: &from}), from); !errors.Is(err, core.ErrIntrinsicGas) {
			t.Errorf("%s: too little gas: %v", name, err)
		}
		mined(2)
		m.SetAutomine(false)
		ok(t, m.SendFrom(t.Context(), asked(t, m, from, &types.DynamicFeeTx{Nonce: 2, Gas: 21_000, To: &from}), from))
		mined(2)
		if nonce, err := m.Nonce(t.Context(), from); err != nil || nonce != 3 {
			t.Errorf("%s: the next nonce is %d: %v", name, nonce, err)
		}
		// Waiting transactions are mined with the next one that gets its own block.
		m.SetAutomine(true)
		ok(t, m.SendFrom(t.Context(), asked(t, m, from, &types.DynamicFeeTx{Nonce: 3, Gas: 21_000, To: &from}), from))
		mined(4)
		key, err := crypto.ToECDSA(common.LeftPadBytes([]byte{7}, 32))
		ok(t, err)
		signer := crypto.PubkeyToAddress(key.PublicKey)
		ok(t, m.AddBalance(t.Context(), signer, uint256.NewInt(1e18)))
		id := new(big.Int).SetUint64(m.Chain.Row.EVMID)
		signed, err := types.SignNewTx(key, types.LatestSignerForChainID(id), &types.DynamicFeeTx{ChainID: id, Gas: 21_000, GasFeeCap: big.NewInt(1e12), GasTipCap: new(big.Int), To: &from})
		ok(t, err)
		ok(t, m.Send(t.Context(), signed))
		mined(5)
		if err := m.Send(t.Context(), types.NewTx(&types.BlobTx{})); err == nil {
			t.Errorf("%s: a blob is taken", name)
		}
	}
}

// TestLargeTransactionsWait: if a block lacks the capacity for a transaction (ACP-176), its time is delayed by half a second until there is enough.
// Helicon abolished capacity.
func TestLargeTransactionsWait(t *testing.T) {
	t.Parallel()
	w := generate(t, neverHelicon)
	m := w.MinerOf(w.Networks[0].CChain())
	from := funded(t, m, 1)
	endless := []byte{0x5b, 0x60, 0x00, 0x56} // JUMPDEST, PUSH1 0, JUMP: all gas is used
	var waited []uint64
	for nonce := range uint64(4) {
		before := head(t, m.Chain)
		ok(t, m.SendFrom(t.Context(), asked(t, m, from, &types.DynamicFeeTx{Nonce: nonce, Gas: 5_000_000, Data: endless, GasFeeCap: big.NewInt(1e13)}), from))
		after := head(t, m.Chain)
		if after.Number != before.Number+1 || after.Header.GasUsed != 5_000_000 {
			t.Fatalf("block %d after %d used %d", after.Number, before.Number, after.Header.GasUsed)
		}
		if waited = append(waited, after.Header.TimeMilliseconds-before.Header.TimeMilliseconds); nonce > 0 && waited[nonce]%500 > 0 {
			t.Errorf("it waited %d ms", waited[nonce])
		}
	}
	// The first uses half of the capacity of ten seconds, 10 million gas. Then 2 million return each second.
	if !slices.Equal(waited[1:], []uint64{2000, 2000, 2500}) {
		t.Errorf("blocks waited %d ms", waited[1:])
	}
	if err := m.SendFrom(t.Context(), asked(t, m, from, &types.DynamicFeeTx{Nonce: 4, Gas: 10_000_001, Data: endless, GasFeeCap: big.NewInt(1e13)}), from); err == nil {
		t.Error("more gas than there can be is taken")
	}
}

// TestBlocksHaveASize: a block takes transactions of up to 1,792 KiB in total, even if it has more gas; a smaller one that still fits is included.
func TestBlocksHaveASize(t *testing.T) {
	t.Parallel()
	const each = 126 << 10 // fourteen of them fit
	w := generate(t)
	m := w.MinerOf(w.Networks[0].CChain())
	from, small := funded(t, m, 1), funded(t, m, 2)
	m.SetAutomine(false)
	for nonce := range uint64(15) {
		ok(t, m.SendFrom(t.Context(), asked(t, m, from, &types.DynamicFeeTx{Nonce: nonce, Gas: 21_000 + 4*each, To: &from, Data: make([]byte, each), GasTipCap: big.NewInt(1)}), from))
	}
	ok(t, m.SendFrom(t.Context(), asked(t, m, small, &types.DynamicFeeTx{Gas: 21_000, To: &small}), small))
	for _, want := range []int{15, 1} {
		ok(t, m.Mine(t.Context(), 1, 20*time.Second))
		if h := head(t, m.Chain); h.Row.Txs != want {
			t.Errorf("%d transactions, want %d", h.Row.Txs, want)
		}
	}
}

// TestBlocksOnDemand: Mine makes the requested number of blocks at the requested distance, the first with all waiting transactions, by price.
func TestBlocksOnDemand(t *testing.T) {
	t.Parallel()
	w := generate(t)
	for name, m := range miners(w) {
		rich, poor := funded(t, m, 1), funded(t, m, 2)
		m.SetAutomine(false)
		ok(t, m.SendFrom(t.Context(), asked(t, m, poor, &types.DynamicFeeTx{Gas: 21_000, To: &poor, GasTipCap: big.NewInt(1)}), poor))
		for nonce := range uint64(2) {
			ok(t, m.SendFrom(t.Context(), asked(t, m, rich, &types.DynamicFeeTx{Nonce: nonce, Gas: 21_000, To: &poor, GasTipCap: big.NewInt(2)}), rich))
		}
		before := head(t, m.Chain)
		ok(t, m.Mine(t.Context(), 3, 7*time.Second))
		h := head(t, m.Chain)
		if h.Number != before.Number+3 || h.Header.TimeMilliseconds-before.Header.TimeMilliseconds < 21_000 || w.Clock.UnixMilli() != int64(h.Header.TimeMilliseconds) {
			t.Errorf("%s: %d blocks, %d ms", name, h.Number-before.Number, h.Header.TimeMilliseconds-before.Header.TimeMilliseconds)
		}
		var senders []common.Address
		rows, err := w.DB.TransactionsBetween(t.Context(), store.At(m.Chain.Row.ID, before.Number+1, 0), store.At(m.Chain.Row.ID, h.Number, 0))
		ok(t, err)
		for i := range rows {
			senders = append(senders, common.BytesToAddress(rows[i].Sender))
			if rows[i].ID.Number() != before.Number+1 {
				t.Errorf("%s: transaction %d is in block %d", name, i, rows[i].ID.Number())
			}
		}
		if !slices.Equal(senders, []common.Address{rich, rich, poor}) {
			t.Errorf("%s: in the order of %v", name, senders)
		}
		before = head(t, m.Chain)
		ok(t, m.Mine(t.Context(), 2, 0))
		if h := head(t, m.Chain); h.Number != before.Number+2 {
			t.Errorf("%s: %d blocks", name, h.Number-before.Number)
		}
		if was := m.SetSpacing(5 * time.Second); was != 0 {
			t.Errorf("%s: a spacing of %s before", name, was)
		}
		before = head(t, m.Chain)
		ok(t, m.Mine(t.Context(), 2, 0))
		if h := head(t, m.Chain); h.Header.TimeMilliseconds != before.Header.TimeMilliseconds+10_000 {
			t.Errorf("%s: spacing makes %d ms", name, h.Header.TimeMilliseconds-before.Header.TimeMilliseconds)
		}
		if was := m.SetSpacing(0); was != 5*time.Second {
			t.Errorf("%s: a spacing of %s before", name, was)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if err := m.Mine(ended, 2, 0); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		if err := m.SetNextTime(t.Context(), head(t, m.Chain).Header.TimeMilliseconds); !errors.Is(err, miner.ErrTimestamp) {
			t.Errorf("%s: the time of the head: %v", name, err)
		}
		ok(t, m.SetNextTime(t.Context(), head(t, m.Chain).Header.TimeMilliseconds+1))
		m.SetAutomine(true)
	}
}

// TestWhatWaitsCanBeTakenBack: by transaction, by account, and all at once. A held transaction waits until it is released.
func TestWhatWaitsCanBeTakenBack(t *testing.T) {
	t.Parallel()
	w := generate(t)
	m := w.Miners[len(w.Miners)-1]
	one, two := funded(t, m, 1), funded(t, m, 2)
	m.SetAutomine(false)
	send := func(from common.Address, nonce uint64) *types.Transaction {
		tx := asked(t, m, from, &types.DynamicFeeTx{Nonce: nonce, Gas: 21_000, To: &one})
		ok(t, m.SendFrom(t.Context(), tx, from))
		return tx
	}
	count := func(want int) {
		t.Helper()
		if all := m.Pool.All(); len(all) != want {
			t.Errorf("%d wait, want %d", len(all), want)
		}
	}
	first := send(one, 0)
	send(two, 0)
	send(two, 1)
	if !m.Drop(t.Context(), first.Hash()) || m.Drop(t.Context(), first.Hash()) {
		t.Error("the first is not dropped once")
	}
	count(2)
	m.DropSender(t.Context(), two)
	count(0)
	send(one, 0)
	m.DropAll(t.Context())
	count(0)
	m.SetAutomine(true)
	before := head(t, m.Chain).Number
	held := asked(t, m, one, &types.DynamicFeeTx{Gas: 21_000, To: &one})
	h := m.Pool.Hold(held.Hash(), time.Time{})
	ok(t, m.SendFrom(t.Context(), held, one))
	if head(t, m.Chain).Number != before {
		t.Error("what is held is mined")
	}
	ok(t, m.Release(t.Context(), held.Hash(), &txpool.Hold{}))
	if head(t, m.Chain).Number != before {
		t.Error("what another holds is mined")
	}
	ok(t, m.Release(t.Context(), held.Hash(), h))
	if head(t, m.Chain).Number != before+1 {
		t.Error("what was released is not mined")
	}
	m.SetAutomine(false)
	held = asked(t, m, one, &types.DynamicFeeTx{Nonce: 1, Gas: 21_000, To: &one})
	h = m.Pool.Hold(held.Hash(), time.Time{})
	ok(t, m.SendFrom(t.Context(), held, one))
	ok(t, m.Mine(t.Context(), 1, 0))
	if !m.Pool.Has(held.Hash()) {
		t.Error("what is held is mined")
	}
	ok(t, m.Release(t.Context(), held.Hash(), h))
	if !m.Pool.Has(held.Hash()) || len(m.Pool.Held()) > 0 {
		t.Error("without automine, what was released does not wait for a block")
	}
}

// TestChangesOfTheState tries the changes that no transaction can make.
func TestChangesOfTheState(t *testing.T) {
	t.Parallel()
	w := generate(t)
	for name, m := range miners(w) {
		a := common.Address{0xab, 1}
		at := func() (balance *uint256.Int, nonce uint64) {
			states, err := m.Chain.State(t.Context(), head(t, m.Chain))
			ok(t, err)
			return states.GetBalance(a), states.GetNonce(a)
		}
		before := head(t, m.Chain)
		ok(t, m.SetBalance(t.Context(), a, uint256.NewInt(5e18)))
		ok(t, m.AddBalance(t.Context(), a, uint256.NewInt(3e18)))
		ok(t, m.SetNonce(t.Context(), a, 7, false))
		if balance, nonce := at(); !balance.Eq(uint256.NewInt(8e18)) || nonce != 7 {
			t.Errorf("%s: balance %s, nonce %d", name, balance, nonce)
		}
		most := new(uint256.Int).SetAllOne()
		ok(t, m.AddBalance(t.Context(), a, most))
		if balance, _ := at(); !balance.Eq(most) {
			t.Errorf("%s: balance %s of the most", name, balance)
		}
		ok(t, m.SetNonce(t.Context(), a, 7, false))
		if err := m.SetNonce(t.Context(), a, 6, false); err == nil || !strings.Contains(err.Error(), "New nonce (6) must not be smaller than the existing nonce (7)") {
			t.Errorf("%s: %v", name, err)
		}
		ok(t, m.SetNonce(t.Context(), a, 0, true))
		ok(t, m.SetBalance(t.Context(), a, uint256.NewInt(5e18)))
		code, key, value := []byte{0x60, 0x00}, common.Hash{31: 1}, common.Hash{2}
		ok(t, m.SetCode(t.Context(), a, code))
		ok(t, m.SetStorage(t.Context(), a, key, value, &a))
		states, err := m.Chain.State(t.Context(), head(t, m.Chain))
		ok(t, err)
		if string(states.GetCode(a)) != string(code) || states.GetState(a, key) != value {
			t.Errorf("%s: code %x, slot %s", name, states.GetCode(a), states.GetState(a, key))
		}
		ok(t, m.SetCode(t.Context(), a, nil))
		if head(t, m.Chain).Number != before.Number {
			t.Errorf("%s: changes made a block", name)
		}
		// After a nonce was lowered, the same transaction cannot be mined again.
		tx := asked(t, m, a, &types.DynamicFeeTx{Gas: 21_000, To: &a})
		ok(t, m.SendFrom(t.Context(), tx, a))
		ok(t, m.SetNonce(t.Context(), a, 0, true))
		if err := m.SendFrom(t.Context(), tx, a); !errors.Is(err, txpool.ErrAlreadyKnown) {
			t.Errorf("%s: the same transaction again: %v", name, err)
		}
		// A transaction that can no longer be paid for is dropped.
		m.SetAutomine(false)
		ok(t, m.SendFrom(t.Context(), asked(t, m, a, &types.DynamicFeeTx{Gas: 21_000, To: &a, Value: big.NewInt(1e18)}), a))
		pending, err := m.Pending(t.Context())
		ok(t, err)
		ok(t, m.SetBalance(t.Context(), a, uint256.NewInt(1e17)))
		if again, err := m.Pending(t.Context()); err != nil || again == pending || len(m.Pool.All()) != 0 {
			t.Errorf("%s: pending is as before: %v", name, err)
		}
		ok(t, m.SetBalance(t.Context(), a, uint256.NewInt(1e18)))
		m.SetGasLimit(21_000)
		ok(t, m.SendFrom(t.Context(), asked(t, m, a, &types.DynamicFeeTx{Gas: 21_000, To: &a, Value: big.NewInt(7)}), a))
		m.SetGasLimit(20_999)
		ok(t, m.SetCode(t.Context(), a, nil))
		ok(t, m.SetNonce(t.Context(), a, 0, false))
		if len(m.Pool.All()) != 0 {
			t.Errorf("%s: what no block can hold waits", name)
		}
	}
}

// TestMemory: a snapshot restores a miner's memory, and a reset the user's settings.
func TestMemory(t *testing.T) {
	t.Parallel()
	w := generate(t)
	for name, m := range miners(w) {
		from, other := funded(t, m, 1), funded(t, m, 2)
		m.SetDefaults(false, time.Hour)
		if m.Automine() || m.Interval() != time.Hour {
			t.Errorf("%s: automine %t, interval %s", name, m.Automine(), m.Interval())
		}
		ok(t, m.SendFrom(t.Context(), asked(t, m, from, &types.DynamicFeeTx{Gas: 21_000, To: &from}), from))
		ok(t, m.SendFrom(t.Context(), asked(t, m, other, &types.DynamicFeeTx{Nonce: 5, Gas: 21_000, To: &from}), other))
		m.Impersonation.Start(from)
		m.Impersonation.Start(other)
		m.Impersonation.Start(from)
		if !slices.Equal(m.Impersonation.Accounts(), []common.Address{from, other}) {
			t.Errorf("%s: impersonated are %v", name, m.Impersonation.Accounts())
		}
		m.SetSpacing(3 * time.Second)
		m.SetNextBaseFee(big.NewInt(5e11))
		m.SetGasLimit(9_000_000)
		m.SetCoinbase(other)
		ok(t, m.SetNextTime(t.Context(), uint64(w.Clock.UnixMilli())+12_345))
		before, err := m.Memory()
		ok(t, err)
		if len(before.Pool) != 2 || before.Time != uint64(w.Clock.UnixMilli())+12_345 || before.Spacing != 3000 || m.Coinbase() != other {
			t.Fatalf("%s: %+v", name, before)
		}
		s, err := w.TakeSnapshot(t.Context(), "")
		ok(t, err)
		ok(t, m.Mine(t.Context(), 1, 0))
		if len(m.Pool.All()) != 1 {
			t.Errorf("%s: %d wait after a block", name, len(m.Pool.All()))
		}
		if !m.Impersonation.Stop(from) || m.Impersonation.Stop(from) || m.Impersonation.Allows(from) || !m.Impersonation.Allows(other) {
			t.Errorf("%s: impersonation does not stop", name)
		}
		m.Impersonation.SetAll(true)
		if !m.Impersonation.Allows(from) {
			t.Errorf("%s: not all are impersonated", name)
		}
		m.SetSpacing(0)
		m.SetNextBaseFee(big.NewInt(1))
		m.SetGasLimit(1_000_000)
		m.SetCoinbase(from)
		m.DropAll(t.Context())
		m.SetAutomine(true)
		ok(t, w.Revert(t.Context(), s.ID, true))
		after, err := m.Memory()
		ok(t, err)
		if !reflect.DeepEqual(before, after) || !m.Automine() {
			t.Errorf("%s: memory is\n%+v, was\n%+v", name, after, before)
		}
		if !m.Impersonation.Allows(from) || m.Impersonation.Allows(common.Address{9}) {
			t.Errorf("%s: impersonation does not come back", name)
		}
		ok(t, w.Reset(t.Context()))
		if after, err = m.Memory(); err != nil || !reflect.DeepEqual(after, &miner.Memory{}) || m.Automine() || m.Interval() != time.Hour || m.Coinbase() != evm.Blackhole {
			t.Errorf("%s: after a reset: %+v, automine %t, interval %s: %v", name, after, m.Automine(), m.Interval(), err)
		}
	}
}

// TestStored: waiting transactions are stored and loaded again, without the ones mined before.
func TestStored(t *testing.T) {
	t.Parallel()
	w := generate(t)
	m := w.Miners[0]
	from := funded(t, m, 1)
	m.SetAutomine(false)
	if rows, changed, err := m.Stored(); err != nil || changed || len(rows) != 0 {
		t.Errorf("%d rows, changed %t: %v", len(rows), changed, err)
	}
	for nonce := range uint64(3) {
		ok(t, m.SendFrom(t.Context(), asked(t, m, from, &types.DynamicFeeTx{Nonce: nonce, Gas: 21_000, To: &from}), from))
	}
	rows, changed, err := m.Stored()
	if err != nil || !changed || len(rows) != 3 || rows[2].Arrival != 2 || rows[0].Chain != m.Chain.Row.ID || common.BytesToAddress(rows[1].Sender) != from {
		t.Fatalf("%+v, changed %t: %v", rows, changed, err)
	}
	hashes := m.Pool.All()
	m.DropAll(t.Context())
	ok(t, m.Load(t.Context(), rows))
	if again, changed, err := m.Stored(); err != nil || changed || !reflect.DeepEqual(again, rows) {
		t.Errorf("%+v, changed %t: %v", again, changed, err)
	}
	ok(t, m.Load(t.Context(), nil))
	ok(t, m.Mine(t.Context(), 1, 0))
	if len(m.Pool.All()) != 0 || head(t, m.Chain).Row.Txs != 3 || m.Pool.Has(hashes[0].Hash()) {
		t.Errorf("%d wait", len(m.Pool.All()))
	}
	ok(t, m.Load(t.Context(), rows))
	if len(m.Pool.All()) != 0 {
		t.Errorf("%d that a block took wait", len(m.Pool.All()))
	}
	if err := m.Load(t.Context(), []store.PooledTx{{Arrival: 4, Raw: []byte{9}}}); err == nil || !strings.HasPrefix(err.Error(), "pooled transaction 4: ") {
		t.Error(err)
	}
}

// TestIntervals: Run makes a block at each interval until the interval is changed.
func TestIntervals(t *testing.T) {
	t.Parallel()
	w := generate(t)
	m := w.Miners[0]
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan bool)
	go func() {
		m.Run(ctx, func(err error) { t.Error(err) })
		close(ended)
	}()
	// grows waits until blocks are made, or until they stop.
	grows := func(want bool) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
			before := head(t, m.Chain).Number
			time.Sleep(30 * time.Millisecond)
			if (head(t, m.Chain).Number > before) == want {
				return
			}
		}
		t.Errorf("blocks are made: %t", !want)
	}
	grows(false)
	m.SetInterval(time.Millisecond)
	grows(true)
	m.SetInterval(0)
	grows(false)
	m.SetInterval(time.Hour)
	m.SetInterval(time.Millisecond)
	grows(true)
	end()
	<-ended
	grows(false)
}

// TestSendPrepared writes a transaction once its nonce and the next block's fee are known.
func TestSendPrepared(t *testing.T) {
	t.Parallel()
	w := generate(t)
	for name, m := range miners(w) {
		from := funded(t, m, 1)
		m.SetNextBaseFee(big.NewInt(3e11))
		for want := range uint64(2) {
			next, err := m.NextBlock(t.Context())
			ok(t, err)
			ok(t, m.SendPrepared(t.Context(), from, func(n miner.Next) (*types.Transaction, error) {
				if n.Nonce != want || n.BaseFee.Cmp(next.BaseFee) != 0 || n.Time != next.Header.Time {
					t.Errorf("%s: %+v, want nonce %d and block %+v", name, n, want, next.Header)
				}
				return asked(t, m, from, &types.DynamicFeeTx{Nonce: n.Nonce, GasFeeCap: n.BaseFee, Gas: 21_000, To: &from}), nil
			}))
		}
		if nonce, err := m.Nonce(t.Context(), from); err != nil || nonce != 2 {
			t.Errorf("%s: %d: %v", name, nonce, err)
		}
		m.SetAutomine(false)
		ok(t, m.SendFrom(t.Context(), asked(t, m, from, &types.DynamicFeeTx{Nonce: 2, Gas: 21_000, To: &from}), from))
		no := errors.New("no")
		if err := m.SendPrepared(t.Context(), from, func(n miner.Next) (*types.Transaction, error) {
			if n.Nonce != 3 {
				t.Errorf("%s: nonce %d after one that waits", name, n.Nonce)
			}
			return nil, no
		}); !errors.Is(err, no) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReplace replaces blocks, and reports the omitted transactions.
func TestReplace(t *testing.T) {
	t.Parallel()
	w := generate(t)
	for name, m := range miners(w) {
		from := funded(t, m, 1)
		var sent []*miner.Transaction
		for nonce := range uint64(3) {
			tx := asked(t, m, from, &types.DynamicFeeTx{Nonce: nonce, Gas: 21_000, To: &from})
			ok(t, m.SendFrom(t.Context(), tx, from))
			sent = append(sent, &miner.Transaction{Transaction: tx, Sender: from})
		}
		before := head(t, m.Chain)
		err := w.Reorg(t.Context(), m.Chain, 3, [][]*miner.Transaction{{sent[0], sent[2]}, {sent[1]}})
		if err == nil || strings.Count(err.Error(), "was left out of block") != 1 || !strings.Contains(err.Error(), sent[2].Hash().String()) {
			t.Errorf("%s: %v", name, err)
		}
		after := head(t, m.Chain)
		if after.Number != before.Number-1 || after.Row.Txs != 1 || after.Header.TimeMilliseconds <= before.Header.TimeMilliseconds {
			t.Errorf("%s: block %d with %d transactions at %d; the newest was %d at %d", name, after.Number, after.Row.Txs, after.Header.TimeMilliseconds, before.Number, before.Header.TimeMilliseconds)
		}
		if err := w.Reorg(t.Context(), m.Chain, 1_000, nil); !errors.Is(err, sim.ErrReorg) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWhatWaitsOutlivesAFailingFile: a waiting transaction is not dropped because the file was unreadable when its block was made.
func TestWhatWaitsOutlivesAFailingFile(t *testing.T) {
	t.Parallel()
	w := generate(t)
	for name, m := range miners(w) {
		from, other := funded(t, m, 1), funded(t, m, 2)
		m.SetAutomine(false)
		waits := asked(t, m, from, &types.DynamicFeeTx{Gas: 21_000, To: &common.Address{0xbb, 1}})
		ok(t, m.SendFrom(t.Context(), waits, from))
		m.SetAutomine(true)
		later := asked(t, m, other, &types.DynamicFeeTx{Gas: 21_000, To: &common.Address{0xbb, 2}})
		// each repeats an action while each read of an account fails in turn, and finally none.
		each := func(what string, do func() error) {
			t.Helper()
			for failing := 1; ; failing++ {
				read := 0
				w.DB.FailStatements(func(text string) bool {
					if strings.HasPrefix(text, "SELECT chain, address, block, nonce") && strings.Contains(text, "FROM account") {
						read++
						return read == failing
					}
					return false
				})
				err := do()
				w.DB.FailStatements(nil)
				if read < failing {
					ok(t, err)
					return
				}
				_, unmined := m.Chain.Transaction(t.Context(), waits.Hash())
				if kept := m.Pool.Has(waits.Hash()) || unmined == nil; !store.Internal(err) || !kept || m.Pool.Has(later.Hash()) {
					t.Fatalf("%s: %s: without the account that is read as number %d: %v, kept: %t, the other too: %t", name, what, failing, err, kept, m.Pool.Has(later.Hash()))
				}
			}
		}
		each("the pending block", func() error { _, err := m.Pending(t.Context()); return err })
		each("another transaction", func() error { return m.SendFrom(t.Context(), later, other) })
		for _, tx := range []*types.Transaction{waits, later} {
			if mined, err := m.Chain.Transaction(t.Context(), tx.Hash()); err != nil || mined.Row.Status != types.ReceiptStatusSuccessful {
				t.Errorf("%s: %s: %v", name, tx.Hash(), err)
			}
		}
	}
}
