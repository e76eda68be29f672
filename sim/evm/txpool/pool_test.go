package txpool

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
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

// unique makes another transaction each time: those of these tests are not signed.
var unique int64

// tx pays a tip and a fee cap for each unit of gas.
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

// TestOrderAndGaps: blocks take who pays most first, an account's by nonce, and nothing behind a gap or a fee cap that is too low.
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

// TestEqualOffersGoByArrival.
func TestEqualOffersGoByArrival(t *testing.T) {
	p := newPool()
	p.mustAdd(t, tx(0, 5, 100), bob)
	p.mustAdd(t, tx(0, 5, 100), alice)
	if got := order(p, 1); got != "b0 a0" {
		t.Error(got)
	}
}

// TestReplacement needs ten percent more, of both offers.
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

// TestRefusalsByAccount are those that depend on the account, in a node's words.
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
		{tx(3, 2, 47_700_000_000_000), core.ErrInsufficientFunds, "insufficient funds for gas * price + value: balance 1000000000000000000, tx cost 1001700000000000000, overshot 1700000000000000"},
	} {
		if err := p.Add(c.tx, alice, 3, rich); !errors.Is(err, c.is) || err.Error() != c.text {
			t.Errorf("%v\nwant %s", err, c.text)
		}
	}
}

// TestRefusalsWithoutState are those that depend on the transaction alone, in a node's words.
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
	}
}

// TestRefusalsOfTypesAndSignatures: the network has no blobs and delegates no accounts, and signatures are for a chain.
func TestRefusalsOfTypesAndSignatures(t *testing.T) {
	p := newPool()
	for _, data := range []types.TxData{&types.BlobTx{}, &types.SetCodeTx{}} {
		if _, err := p.Sender(types.NewTx(data)); err == nil || err.Error() != "transaction type not supported" {
			t.Error(err)
		}
	}
	other := types.NewTx(&types.DynamicFeeTx{ChainID: big.NewInt(1)})
	if _, err := p.Sender(other); err != ErrInvalidSender {
		t.Error(err)
	}
}

// TestThePoolIsBounded: when it is full it refuses more and drops nothing; so does an account with many that wait behind a gap.
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

// TestANewHeadTakesWhatItHas: mined transactions go, so do those that cannot be paid any more, and what is behind a gap becomes pending.
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
