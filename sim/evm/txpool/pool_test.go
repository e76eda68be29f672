package txpool

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/store"
)

var (
	alice = common.HexToAddress("0xa11ce")
	bob   = common.HexToAddress("0xb0b")
	rich  = uint256.NewInt(1e18)
)

func newPool() *Pool {
	return New(&evm.Genesis{Kind: evm.KindL1, ChainID: 7, Precompiles: precompile.Upgrades{FeeConfig: precompile.NewFeeConfig(10_000_000, 1, 1)}})
}

// unique makes a different transaction each time; these tests don't sign transactions.
var unique int64

// tx offers a tip and a fee cap per unit of gas.
func tx(nonce uint64, tip, feeCap int64) *types.Transaction {
	unique++
	data := big.NewInt(unique).Bytes()
	return types.NewTx(&types.DynamicFeeTx{Nonce: nonce, GasTipCap: big.NewInt(tip), GasFeeCap: big.NewInt(feeCap), Gas: 21_000, To: &bob, Data: data})
}

func (p *Pool) mustAdd(t *testing.T, tx *types.Transaction, sender common.Address) *types.Transaction {
	t.Helper()
	if err := p.Add(tx, sender, 0, rich); err != nil {
		t.Fatal(err)
	}
	return tx
}

// order lists the nonces and senders in the order of blocks.
func order(p *Pool, baseFee int64) string {
	var all []string
	for o := p.Pending(big.NewInt(baseFee)); o.Peek() != nil; o.Shift() {
		all = append(all, fmt.Sprintf("%s%d", map[common.Address]string{alice: "a", bob: "b"}[o.Peek().Sender], o.Peek().Nonce()))
	}
	return strings.Join(all, " ")
}

// TestOrderAndGaps: blocks take the highest payer first, an account's transactions by nonce, and none behind a gap or with too low a fee cap.
func TestOrderAndGaps(t *testing.T) {
	p := newPool()
	p.mustAdd(t, tx(0, 5, 100), alice)
	p.mustAdd(t, tx(1, 50, 100), alice)
	p.mustAdd(t, tx(3, 90, 100), alice)
	p.mustAdd(t, tx(0, 7, 100), bob)
	p.mustAdd(t, tx(1, 5, 20), bob)
	if got := order(p, 10); got != "b0 a0 a1 b1" {
		t.Error(got)
	}
	if got := order(p, 30); got != "b0 a0 a1" {
		t.Errorf("where b1 cannot pay: %s", got)
	}
	if pending, queued := p.Count(); pending != 4 || queued != 1 {
		t.Errorf("%d pending, %d queued", pending, queued)
	}
	if nonce, ok := p.Nonce(alice); !ok || nonce != 2 {
		t.Errorf("alice's next nonce is %d", nonce)
	}
	p.mustAdd(t, tx(2, 1, 100), alice)
	if nonce, _ := p.Nonce(alice); nonce != 4 || order(p, 10) != "b0 a0 a1 b1 a2 a3" {
		t.Errorf("the gap is filled: %d, %s", nonce, order(p, 10))
	}
}

// TestEqualOffersGoByArrival: equal offers are taken in order of arrival.
func TestEqualOffersGoByArrival(t *testing.T) {
	p := newPool()
	p.mustAdd(t, tx(0, 5, 100), bob)
	p.mustAdd(t, tx(0, 5, 100), alice)
	if got := order(p, 1); got != "b0 a0" {
		t.Error(got)
	}
}

// TestReplacement needs ten percent more of both offers.
func TestReplacement(t *testing.T) {
	for _, c := range []struct {
		tip, feeCap int64
		want        error
	}{
		{100, 1000, ErrReplaceUnderpriced}, {110, 1099, ErrReplaceUnderpriced}, {109, 1100, ErrReplaceUnderpriced}, {200, 1000, ErrReplaceUnderpriced}, {110, 1100, nil},
	} {
		for _, nonce := range []uint64{0, 5} { // pending, queued
			p := newPool()
			first := p.mustAdd(t, tx(nonce, 100, 1000), alice)
			if err := p.Add(first, alice, 0, rich); !errors.Is(err, ErrAlreadyKnown) {
				t.Error(err)
			}
			if err := p.Add(tx(nonce, c.tip, c.feeCap), alice, 0, rich); !errors.Is(err, c.want) {
				t.Errorf("nonce %d, tip %d, fee cap %d: %v", nonce, c.tip, c.feeCap, err)
			}
			if pending, queued := p.Count(); pending+queued != 1 {
				t.Errorf("%d and %d wait", pending, queued)
			}
		}
	}
}

// TestRefusalsByAccount tries the refusals that depend on the account, in the node's words.
func TestRefusalsByAccount(t *testing.T) {
	p := newPool()
	if err := p.Add(tx(3, 1, 40_000_000_000_000), alice, 3, rich); err != nil { // most of the 1e18 wei
		t.Fatal(err)
	}
	for _, c := range []struct {
		tx   *types.Transaction
		is   error
		text string
	}{
		{tx(2, 1, 100), core.ErrNonceTooLow, "nonce too low: next nonce 3, tx nonce 2"},
		{tx(3, 0, 0), ErrUnderpriced, "transaction underpriced: address 0x00000000000000000000000000000000000A11cE have gas fee cap (0) < pool minimum fee cap (1)"},
		{tx(9, 1, 50_000_000_000_000), core.ErrInsufficientFunds, "insufficient funds for gas * price + value: balance 1000000000000000000, tx cost 1050000000000000000, overshot 50000000000000000"},
		{tx(4, 1, 10_000_000_000_000), core.ErrInsufficientFunds, "insufficient funds for gas * price + value: balance 1000000000000000000, queued cost 840000000000000000, tx cost 210000000000000000, overshot 50000000000000000"},
		{tx(4, 1, 7_619_047_619_048), core.ErrInsufficientFunds, "insufficient funds for gas * price + value: balance 1000000000000000000, queued cost 840000000000000000, tx cost 160000000000008000, overshot 8000"},
		{tx(3, 2, 47_700_000_000_000), core.ErrInsufficientFunds, "insufficient funds for gas * price + value: balance 1000000000000000000, tx cost 1001700000000000000, overshot 1700000000000000"},
	} {
		if err := p.Add(c.tx, alice, 3, rich); !errors.Is(err, c.is) || err.Error() != c.text {
			t.Errorf("%v\nwant %s", err, c.text)
		}
	}
}

// TestRefusalsWithoutState tries the refusals that depend on the transaction alone, with the node's errors.
func TestRefusalsWithoutState(t *testing.T) {
	p, head := newPool(), &evm.Header{Number: big.NewInt(1), Time: 1, GasLimit: 10_000_000}
	data := func(gas uint64, to *common.Address, size int) *types.Transaction {
		return types.NewTx(&types.DynamicFeeTx{GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1), Gas: gas, To: to, Data: make([]byte, size)})
	}
	huge := new(big.Int).Lsh(big.NewInt(1), 256)
	for _, c := range []struct {
		tx   *types.Transaction
		is   error
		text string
	}{
		{tx(0, 2, 1), core.ErrTipAboveFeeCap, "max priority fee per gas higher than max fee per gas"},
		{types.NewTx(&types.DynamicFeeTx{GasTipCap: huge, GasFeeCap: huge, To: &bob}), core.ErrFeeCapVeryHigh, "max fee per gas higher than 2^256-1"},
		{types.NewTx(&types.DynamicFeeTx{GasTipCap: huge, GasFeeCap: big.NewInt(1), To: &bob}), core.ErrTipVeryHigh, "max priority fee per gas higher than 2^256-1"},
		{data(20_999, &bob, 0), core.ErrIntrinsicGas, "intrinsic gas too low: address 0x00000000000000000000000000000000000A11cE tx gas (20999), minimum needed 21000"},
		{data(10_000_001, &bob, 0), ErrGasLimit, "exceeds block gas limit: tx gas (10000001) > current max gas (10000000)"},
		{data(9_000_000, nil, params.MaxInitCodeSize+1), vm.ErrMaxInitCodeSizeExceeded, "max initcode size exceeded: code size 49153, limit 49152"},
		{data(9_000_000, &bob, maxSize), ErrOversizedData, "oversized data: transaction size 131115, limit 131072"},
	} {
		if err := p.Validate(c.tx, alice, head); !errors.Is(err, c.is) || err.Error() != c.text {
			t.Errorf("%v\nwant %s", err, c.text)
		}
		// A node checks the signature, which these lack, after everything but the gas.
		want := c.is
		if want == core.ErrIntrinsicGas {
			want = ErrInvalidSender
		}
		if _, err := p.Verify(c.tx, head); !errors.Is(err, want) {
			t.Errorf("%v\nwant %v", err, want)
		}
	}
}

// TestKnownIsToldBeforeAnythingElse resends a waiting transaction to a chain whose blocks have become too small for it.
func TestKnownIsToldBeforeAnythingElse(t *testing.T) {
	p, again := newPool(), tx(1, 1, 1)
	if err := p.Add(again, alice, 1, rich); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Verify(again, &evm.Header{Number: big.NewInt(1), Time: 1, GasLimit: 1}); err != ErrAlreadyKnown {
		t.Error(err)
	}
}

// TestRefusalsOfTypesAndSignatures: the network has no blobs and no account delegation, and a signature is for one chain.
func TestRefusalsOfTypesAndSignatures(t *testing.T) {
	p := newPool()
	for _, data := range []types.TxData{&types.BlobTx{}, &types.SetCodeTx{}} {
		if _, err := p.Sender(types.NewTx(data)); err == nil || err.Error() != "transaction type not supported" {
			t.Error(err)
		}
		if _, err := p.Verify(types.NewTx(data), &evm.Header{Number: big.NewInt(1)}); err != core.ErrTxTypeNotSupported {
			t.Error(err)
		}
	}
	key, err := crypto.ToECDSA(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	signed := types.MustSignNewTx(key, p.signer, &types.DynamicFeeTx{ChainID: p.signer.ChainID(), GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1), Gas: 20_999, To: &bob})
	if _, err := p.Verify(signed, &evm.Header{Number: big.NewInt(1), Time: 1, GasLimit: 10_000_000}); !errors.Is(err, core.ErrIntrinsicGas) {
		t.Error(err)
	}
	other := types.NewTx(&types.DynamicFeeTx{ChainID: big.NewInt(1)})
	if _, err := p.Sender(other); err != ErrInvalidSender {
		t.Error(err)
	}
}

// TestThePoolIsBounded: a full pool refuses new transactions and drops none; so does an account's full queue behind a gap.
func TestThePoolIsBounded(t *testing.T) {
	p := newPool()
	for i := range maxQueued {
		p.mustAdd(t, tx(uint64(10+i), 1, 1), bob)
	}
	if err := p.Add(tx(200, 1, 1), bob, 0, rich); err == nil || err.Error() != "account limit exceeded: pooled 64 txs" {
		t.Error(err)
	}
	for n := uint64(0); p.slots < maxSlots; n++ {
		sender := common.BigToAddress(new(big.Int).SetUint64(1_000_000 + n/1000))
		p.mustAdd(t, tx(n%1000, 1, 1), sender)
	}
	if err := p.Add(tx(0, 100, 100), alice, 0, rich); err == nil || err.Error() != "txpool is full" {
		t.Error(err)
	}
	if pending, queued := p.Count(); pending+queued != maxSlots || queued != maxQueued {
		t.Errorf("%d pending, %d queued", pending, queued)
	}
	p.Clear()
	p.mustAdd(t, tx(0, 1, 1), alice)
}

// TestANewHeadTakesWhatItHas: mined and unaffordable transactions are removed, and transactions behind a closed gap become pending.
func TestANewHeadTakesWhatItHas(t *testing.T) {
	p := newPool()
	fresh := make(chan []*Transaction, 10)
	p.Subscribe(fresh)
	for _, nonce := range []uint64{0, 1, 3} {
		p.mustAdd(t, tx(nonce, 1, 1000), alice)
	}
	expensive := types.NewTx(&types.DynamicFeeTx{Nonce: 4, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1), Gas: 21_000, To: &bob, Value: big.NewInt(1e17)})
	p.mustAdd(t, expensive, alice)
	_, before := p.Became(0)
	balance := uint256.NewInt(1e16).Bytes32()
	p.Reset([]store.Account{{Address: alice.Bytes(), Nonce: 3, Balance: balance[:]}}, 10_000_000)
	if got := order(p, 1); got != "a3" || p.Has(expensive.Hash()) {
		t.Errorf("left: %s", got)
	}
	hashes, _ := p.Became(before)
	if len(hashes) != 1 || len(fresh) != 3 {
		t.Errorf("%d became pending, told %d times", len(hashes), len(fresh))
	}
	if !p.Drop(hashes[0]) || p.Drop(hashes[0]) || p.slots != 0 || len(p.accounts) != 0 {
		t.Errorf("slots %d, accounts %d", p.slots, len(p.accounts))
	}
}

// TestAReplacementPaysTheDifference: an account pays once for each waiting transaction, so a replacement needs only the additional amount.
func TestAReplacementPaysTheDifference(t *testing.T) {
	p := newPool()
	p.mustAdd(t, tx(0, 100, 20_000_000_000_000), alice) // 0.42e18 of 1e18 wei
	p.mustAdd(t, tx(1, 100, 20_000_000_000_000), alice)
	if err := p.Add(tx(1, 200, 27_700_000_000_000), alice, 0, rich); !errors.Is(err, core.ErrInsufficientFunds) ||
		!strings.Contains(err.Error(), "queued cost 840000000000000000, tx bumped 161700000000000000, overshot 1700000000000000") {
		t.Error(err)
	}
	p.mustAdd(t, tx(1, 200, 27_600_000_000_000), alice) // 0.5796e18, which alone would be too much for both
	exact := types.NewTx(&types.DynamicFeeTx{Nonce: 0, GasTipCap: big.NewInt(110), GasFeeCap: big.NewInt(22_000_000_000_000), Gas: 18_000, To: &bob, Value: big.NewInt(24_400_000_000_000_000)})
	if exact.Cost().Cmp(big.NewInt(420_400_000_000_000_000)) != 0 {
		t.Fatal(exact.Cost())
	}
	p.mustAdd(t, exact, alice) // all that is left
	if err := p.Add(tx(2, 1, 1), alice, 0, rich); !errors.Is(err, core.ErrInsufficientFunds) {
		t.Error(err)
	}
	if pending, _ := p.Of(alice); len(pending) != 2 || pending[0].Hash() != exact.Hash() {
		t.Errorf("%d wait", len(pending))
	}
}

// TestAllOfABalance can be spent, by one transaction or by several.
func TestAllOfABalance(t *testing.T) {
	p := newPool()
	spend := func(nonce uint64, wei int64) *types.Transaction {
		return types.NewTx(&types.DynamicFeeTx{Nonce: nonce, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1), Gas: 21_000, To: &bob, Value: big.NewInt(wei - 21_000)})
	}
	if err := p.Add(spend(0, 1e18+1), bob, 0, rich); !errors.Is(err, core.ErrInsufficientFunds) {
		t.Error(err)
	}
	p.mustAdd(t, spend(0, 1e18), bob)
	p.mustAdd(t, spend(0, 4e17), alice)
	if err := p.Add(spend(1, 6e17+1), alice, 0, rich); !errors.Is(err, core.ErrInsufficientFunds) {
		t.Error(err)
	}
	p.mustAdd(t, spend(1, 6e17), alice)
}

// TestRoomIsGivenBack: replaced, dropped and mined transactions take no room, and no index refers to them.
func TestRoomIsGivenBack(t *testing.T) {
	p := newPool()
	large := func(nonce uint64, fee int64) *types.Transaction {
		unique++
		return types.NewTx(&types.DynamicFeeTx{Nonce: nonce, GasTipCap: big.NewInt(fee), GasFeeCap: big.NewInt(fee), Gas: 21_000, To: &bob, Data: make([]byte, slotBytes), Value: big.NewInt(unique)})
	}
	first := p.mustAdd(t, large(0, 100), alice)
	if p.slots != 2 {
		t.Errorf("a transaction of more than a slot takes %d", p.slots)
	}
	before := p.Changes()
	second := p.mustAdd(t, large(0, 200), alice)
	if p.slots != 2 || p.Has(first.Hash()) || p.Get(second.Hash()) == nil || len(p.All()) != 1 || p.Changes() <= before {
		t.Errorf("replaced: %d slots, %d wait", p.slots, len(p.All()))
	}
	third := p.mustAdd(t, tx(0, 300, 300), alice)
	if p.slots != 1 || p.Has(second.Hash()) {
		t.Errorf("replaced by a small one: %d slots", p.slots)
	}
	if before = p.Changes(); !p.Drop(third.Hash()) || p.slots != 0 || p.Changes() <= before {
		t.Errorf("dropped: %d slots", p.slots)
	}
	if before = p.Changes(); p.Drop(third.Hash()) || p.Drop(common.Hash{}) || p.Changes() != before {
		t.Error("dropped twice")
	}
	for nonce := range uint64(3) {
		p.mustAdd(t, large(nonce, 100), alice)
		p.mustAdd(t, tx(nonce, 100, 100), bob)
	}
	p.DropSender(alice)
	p.DropSender(common.Address{1})
	if pending, queued := p.Count(); p.slots != 3 || pending != 3 || queued != 0 || !slices.Equal(p.Senders(), []common.Address{bob}) {
		t.Errorf("alice dropped: %d slots, %d and %d of %v", p.slots, pending, queued, p.Senders())
	}
	before = p.Changes()
	p.Clear()
	if p.slots != 0 || len(p.All())+len(p.Senders())+len(p.Held()) != 0 || p.Changes() <= before {
		t.Errorf("cleared: %d slots", p.slots)
	}
	if _, waits := p.Nonce(bob); waits {
		t.Error("bob waits in an empty pool")
	}
}

// TestAFullPoolTakesWhatFits: the last slot can be taken, and a replacement needs no more room than it adds.
func TestAFullPoolTakesWhatFits(t *testing.T) {
	p := newPool()
	p.slots = maxSlots - 1
	p.mustAdd(t, tx(0, 100, 100), alice)
	if err := p.Add(tx(0, 100, 100), bob, 0, rich); !errors.Is(err, ErrPoolFull) {
		t.Error(err)
	}
	p.mustAdd(t, tx(0, 200, 200), alice)
	if err := p.Check(tx(0, 300, 300), alice, 0, rich); err != nil {
		t.Error(err)
	}
	large := types.NewTx(&types.DynamicFeeTx{GasTipCap: big.NewInt(400), GasFeeCap: big.NewInt(400), Gas: 21_000, To: &bob, Data: make([]byte, slotBytes)})
	if err := p.Check(large, alice, 0, rich); !errors.Is(err, ErrPoolFull) {
		t.Error(err)
	}
	if p.slots != maxSlots || len(p.All()) != 1 {
		t.Errorf("checking changed something: %d slots", p.slots)
	}
}

// TestQueuesAreBounded: only so many transactions may wait behind a gap. One that follows the pending ones, or replaces another, is still accepted.
func TestQueuesAreBounded(t *testing.T) {
	p := newPool()
	for i := range uint64(maxQueued) {
		p.mustAdd(t, tx(5+i, 100, 100), alice)
	}
	if err := p.Add(tx(100, 100, 100), alice, 0, rich); !errors.Is(err, ErrAccountLimitExceeded) {
		t.Error(err)
	}
	p.mustAdd(t, tx(5, 200, 200), alice)
	p.mustAdd(t, tx(0, 100, 100), alice)
	p.mustAdd(t, tx(1, 100, 100), alice)
	if pending, queued := p.Of(alice); len(pending) != 2 || len(queued) != maxQueued {
		t.Errorf("%d pending, %d queued", len(pending), len(queued))
	}
}

// TestGasLimitOfANewHead: a transaction may use all the gas of a block, and is dropped when no block can hold it any more.
func TestGasLimitOfANewHead(t *testing.T) {
	for limit, want := range map[uint64]int{20_999: 0, 21_000: 2, 30_000: 2} {
		p := newPool()
		p.mustAdd(t, tx(0, 1, 1), alice)
		p.mustAdd(t, tx(1, 1, 1), alice)
		balance := uint256.NewInt(21_000).Bytes32() // exactly what one transaction costs
		p.Reset([]store.Account{{Address: bob.Bytes(), Balance: balance[:]}, {Address: alice.Bytes(), Balance: balance[:]}}, limit)
		if pending, _ := p.Count(); pending != want {
			t.Errorf("limit %d: %d of 2 are left", limit, pending)
		}
	}
}

// TestWhatBecamePending: new pending transactions are remembered for polling clients, and sent to listeners once.
func TestWhatBecamePending(t *testing.T) {
	p := newPool()
	told := make(chan []*Transaction, 10)
	p.Subscribe(told)
	next := func() (nonces []uint64) {
		for len(told) > 0 {
			for _, t := range <-told {
				nonces = append(nonces, t.Nonce())
			}
		}
		return nonces
	}
	p.mustAdd(t, tx(1, 100, 100), alice)
	if got := next(); got != nil {
		t.Errorf("a queued one became pending: %d", got)
	}
	p.mustAdd(t, tx(0, 100, 100), alice)
	if got := next(); !slices.Equal(got, []uint64{0, 1}) {
		t.Errorf("became pending: %d", got)
	}
	p.mustAdd(t, tx(0, 200, 200), alice)
	if got := next(); !slices.Equal(got, []uint64{0}) {
		t.Errorf("replaced: %d", got)
	}
	p.mustAdd(t, tx(3, 100, 100), alice)
	balance := rich.Bytes32()
	p.Reset([]store.Account{{Address: alice.Bytes(), Nonce: 3, Balance: balance[:]}}, 1e6)
	if got := next(); !slices.Equal(got, []uint64{3}) {
		t.Errorf("after a block: %d", got)
	}
	hashes, count := p.Became(1)
	if count != 4 || len(hashes) != 3 || hashes[2] != p.All()[0].Hash() {
		t.Errorf("%d hashes, %d became pending", len(hashes), count)
	}
	if hashes, _ := p.Became(4); len(hashes) != 0 {
		t.Errorf("%d after the last", len(hashes))
	}
}

// TestManyBecamePending: the pool remembers only the latest of very many.
func TestManyBecamePending(t *testing.T) {
	p := newPool()
	var all []common.Hash
	for nonce := range uint64(recentHashes + 3) {
		w := &Transaction{Transaction: tx(nonce, 1, 1)}
		p.remember([]*Transaction{w})
		all = append(all, w.Hash())
	}
	for _, after := range []uint64{0, 2, 3, recentHashes, recentHashes + 2, recentHashes + 3} {
		if got, count := p.Became(after); count != recentHashes+3 || !slices.Equal(got, all[max(after, 3):]) {
			t.Errorf("after %d: %d of %d, or others", after, len(got), count)
		}
	}
}

// TestHolds: no block contains a held transaction or a later one of the same account.
func TestHolds(t *testing.T) {
	p := newPool()
	held, other := tx(0, 100, 100), tx(0, 50, 100)
	before := p.Changes()
	h := p.Hold(held.Hash(), time.Time{})
	if h == nil || p.Hold(held.Hash(), time.Time{}) != nil || p.Changes() <= before || len(p.Held()) != 0 {
		t.Fatalf("%v, %v", h, p.Held())
	}
	p.mustAdd(t, held, alice)
	p.mustAdd(t, tx(1, 100, 100), alice)
	p.mustAdd(t, other, bob)
	taken := p.Pending(big.NewInt(1))
	if got := order(p, 1); got != "b0" || len(p.Held()) != 1 || p.Hold(other.Hash(), time.Time{}) != nil {
		t.Errorf("%s, held %v", got, p.Held())
	}
	if p.Release(held.Hash(), nil) || p.Release(held.Hash(), &Hold{}) || p.Release(other.Hash(), h) {
		t.Error("another's hold is released")
	}
	before = p.Changes()
	if !p.Release(held.Hash(), h) || p.Release(held.Hash(), h) || order(p, 1) != "a0 a1 b0" || p.Changes() <= before {
		t.Errorf("released: %s", order(p, 1))
	}
	if taken.Shift(); taken.Peek() != nil {
		t.Error("an order that was begun changed with a release")
	}
	// A hold ends with the transaction, and returns only if the transaction waits again.
	p.Drop(held.Hash())
	h = p.Hold(held.Hash(), time.Time{})
	p.mustAdd(t, held, alice)
	kept := p.Held()
	p.Drop(held.Hash())
	if p.mustAdd(t, held, alice); len(p.Held()) != 0 || p.Release(held.Hash(), h) {
		t.Error("the same bytes, sent again, are held")
	}
	p.Clear()
	p.HoldAgain(kept)
	if p.mustAdd(t, held, alice); len(p.Held()) != 0 {
		t.Error("a hold came back before its transaction")
	}
	p.HoldAgain(kept)
	if order(p, 1) != "" || p.Held()[held.Hash()] != h {
		t.Errorf("held again: %s", order(p, 1))
	}
}

// TestOrderOfArrival: All is sorted by arrival, Senders by address.
func TestOrderOfArrival(t *testing.T) {
	p := newPool()
	var want []common.Hash
	var senders []common.Address
	for i := range byte(40) {
		sender := common.Address{0xff - i}
		want = append(want, p.mustAdd(t, tx(0, 1, 1), sender).Hash())
		senders = append([]common.Address{sender}, senders...)
	}
	var got []common.Hash
	for _, t := range p.All() {
		got = append(got, t.Hash())
	}
	if !slices.Equal(got, want) || !slices.Equal(p.Senders(), senders) {
		t.Errorf("%d in another order, or %v", len(got), p.Senders())
	}
	if pending, queued := p.Of(common.Address{1}); pending != nil || queued != nil {
		t.Error("something of nobody waits")
	}
}

// TestPop skips an account.
func TestPop(t *testing.T) {
	p := newPool()
	for nonce := range uint64(2) {
		p.mustAdd(t, tx(nonce, 7, 100), alice)
		p.mustAdd(t, tx(nonce, 5, 100), bob)
	}
	o := p.Pending(big.NewInt(1))
	if o.Pop(); o.Peek().Sender != bob {
		t.Errorf("%s is next", o.Peek().Sender)
	}
	if o.Shift(); o.Peek().Sender != bob || o.Peek().Nonce() != 1 {
		t.Error("bob's second is not next")
	}
	if o.Shift(); o.Peek() != nil {
		t.Error("there is more")
	}
}

// TestLeastFeeCap: the pool accepts transactions that pay the lowest base fee, or the lower one that a client set for the next block.
func TestLeastFeeCap(t *testing.T) {
	p := newPool()
	p.SetMinFee(big.NewInt(100))
	for _, c := range []struct {
		asked *big.Int
		cap   int64
		taken bool
	}{{nil, 99, false}, {nil, 100, true}, {big.NewInt(50), 49, false}, {big.NewInt(50), 50, true}, {big.NewInt(200), 99, false}, {big.NewInt(200), 100, true}, {new(big.Int), 0, true}} {
		p.SetBaseFee(c.asked)
		if err := p.Check(tx(0, 0, c.cap), alice, 0, rich); (err == nil) != c.taken {
			t.Errorf("base fee %v asked, fee cap %d: %v", c.asked, c.cap, err)
		}
	}
}

// TestBoundsOfTransactions: transactions exactly at a bound are accepted.
func TestBoundsOfTransactions(t *testing.T) {
	p, head := newPool(), &evm.Header{Number: big.NewInt(1), Time: 1, GasLimit: 10_000_000}
	most := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	whole := func(size int) *types.Transaction {
		return types.NewTx(&types.DynamicFeeTx{GasTipCap: most, GasFeeCap: most, Gas: 10_000_000, To: &bob, Data: make([]byte, size)})
	}
	rest := maxSize - int(whole(maxSize).Size()) + maxSize
	for name, tx := range map[string]*types.Transaction{
		"all gas of a block, the highest fees and the largest size": whole(rest),
		"the largest code":        types.NewTx(&types.DynamicFeeTx{GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1), Gas: 9_000_000, Data: make([]byte, params.MaxInitCodeSize)}),
		"as much data as code":    types.NewTx(&types.DynamicFeeTx{GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1), Gas: 9_000_000, To: &bob, Data: make([]byte, params.MaxInitCodeSize+1)}),
		"as little gas as can be": types.NewTx(&types.DynamicFeeTx{GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1), Gas: 21_000, To: &bob}),
	} {
		if tx.Size() > maxSize || name[:3] == "all" && tx.Size() != maxSize {
			t.Fatal(tx.Size())
		}
		if err := p.Validate(tx, alice, head); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	negative := types.NewTx(&types.LegacyTx{Gas: 21_000, GasPrice: big.NewInt(1), To: &bob, Value: big.NewInt(-1)})
	if err := p.Validate(negative, alice, head); !errors.Is(err, ErrNegativeValue) {
		t.Error(err)
	}
}

// TestSlotsOfTransactions: a transaction takes one for each 32 KiB that it begins.
func TestSlotsOfTransactions(t *testing.T) {
	sizes := map[uint64]bool{}
	for _, length := range []int{0, 1 << 15, 1 << 16} {
		for n := max(length-200, 0); n < length+10; n++ {
			tx := types.NewTx(&types.DynamicFeeTx{GasTipCap: new(big.Int), GasFeeCap: new(big.Int), Value: new(big.Int), Data: make([]byte, n)})
			size := tx.Size()
			want := 0
			for begun := uint64(0); begun < size; begun += 1 << 15 {
				want++
			}
			if sizes[size] = true; slotsOf(tx) != want {
				t.Errorf("%d bytes take %d slots: want %d", size, slotsOf(tx), want)
			}
		}
	}
	for _, size := range []uint64{1 << 15, 1<<15 + 1, 1 << 16, 1<<16 + 1} {
		if !sizes[size] {
			t.Errorf("no transaction has %d bytes", size)
		}
	}
}
