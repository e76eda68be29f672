package txpool

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"

	"snowglobe/sim/evm"
)

// maxSize is the largest size of a transaction in bytes (coreth core/txpool/legacypool, txMaxSize).
const maxSize = 128 << 10

// Verify checks a transaction at a head as far as possible without the state, in a node's order (coreth core/txpool.TxPool.Add,
// legacypool.LegacyPool.Add and core/txpool.ValidateTransaction), and returns its sender.
func (p *Pool) Verify(tx *types.Transaction, head *evm.Header) (common.Address, error) {
	if err := p.validateForm(tx, head); err != nil {
		return common.Address{}, err
	}
	sender, err := p.Sender(tx)
	if err == nil {
		err = p.validateGas(tx, sender, head)
	}
	return sender, err
}

// Validate is Verify for a transaction whose sender is known.
func (p *Pool) Validate(tx *types.Transaction, sender common.Address, head *evm.Header) error {
	if err := p.validateForm(tx, head); err != nil {
		return err
	}
	return p.validateGas(tx, sender, head)
}

func (p *Pool) validateForm(tx *types.Transaction, head *evm.Header) error {
	switch {
	case !supported(tx):
		return core.ErrTxTypeNotSupported
	case p.Has(tx.Hash()):
		return ErrAlreadyKnown
	case tx.Size() > maxSize:
		return fmt.Errorf("%w: transaction size %v, limit %v", ErrOversizedData, tx.Size(), maxSize)
	case tx.To() == nil && len(tx.Data()) > params.MaxInitCodeSize:
		return fmt.Errorf("%w: code size %v, limit %v", vm.ErrMaxInitCodeSizeExceeded, len(tx.Data()), params.MaxInitCodeSize)
	case tx.Value().Sign() < 0:
		return ErrNegativeValue
	case head.GasLimit < tx.Gas():
		return fmt.Errorf("%w: tx gas (%d) > current max gas (%d)", ErrGasLimit, tx.Gas(), head.GasLimit)
	case tx.GasFeeCap().BitLen() > 256:
		return core.ErrFeeCapVeryHigh
	case tx.GasTipCap().BitLen() > 256:
		return core.ErrTipVeryHigh
	case tx.GasFeeCapIntCmp(tx.GasTipCap()) < 0:
		return core.ErrTipAboveFeeCap
	}
	return nil
}

// validateGas refuses a transaction whose gas does not pay for its data. A node's least tip is zero (coreth plugin/evm.VM.initializeChain), so
// none is too low.
func (p *Pool) validateGas(tx *types.Transaction, sender common.Address, head *evm.Header) error {
	rules := p.config.Rules(head.Number, true, head.Time)
	intrinsic, err := evm.IntrinsicGas(tx, p.warp(head.Time), rules)
	if err != nil {
		return err
	}
	if tx.Gas() < intrinsic {
		return fmt.Errorf("%w: address %v tx gas (%v), minimum needed %v", core.ErrIntrinsicGas, sender.Hex(), tx.Gas(), intrinsic)
	}
	return nil
}

// supported reports whether the chain accepts a transaction's type (coreth core/txpool/legacypool.LegacyPool.Filter).
func supported(tx *types.Transaction) bool {
	return tx.Type() == types.LegacyTxType || tx.Type() == types.AccessListTxType || tx.Type() == types.DynamicFeeTxType
}

// Sender recovers the signer of a transaction whose type the chain accepts.
func (p *Pool) Sender(tx *types.Transaction) (common.Address, error) {
	if !supported(tx) {
		return common.Address{}, core.ErrTxTypeNotSupported
	}
	sender, err := types.Sender(p.signer, tx)
	if err != nil {
		return common.Address{}, ErrInvalidSender
	}
	return sender, nil
}

// validate checks a transaction against its sender's account and the account's waiting transactions (coreth
// core/txpool.ValidateTransactionWithState).
func (a *account) validate(tx *types.Transaction, minFee *big.Int) error {
	if tx.GasFeeCapIntCmp(minFee) < 0 {
		return fmt.Errorf("%w: address %s have gas fee cap (%d) < pool minimum fee cap (%d)", ErrUnderpriced, a.address.Hex(), tx.GasFeeCap(), minFee)
	}
	if a.nonce > tx.Nonce() {
		return fmt.Errorf("%w: next nonce %v, tx nonce %v", core.ErrNonceTooLow, a.nonce, tx.Nonce())
	}
	balance, cost := a.balance.ToBig(), tx.Cost()
	if balance.Cmp(cost) < 0 {
		return fmt.Errorf("%w: balance %v, tx cost %v, overshot %v", core.ErrInsufficientFunds, balance, cost, new(big.Int).Sub(cost, balance))
	}
	spent := new(big.Int)
	var old *types.Transaction
	for _, t := range a.pending() {
		spent.Add(spent, t.Cost())
		if t.Nonce() == tx.Nonce() {
			old = t.Transaction
		}
	}
	if old != nil {
		bump := new(big.Int).Sub(cost, old.Cost())
		if need := new(big.Int).Add(spent, bump); balance.Cmp(need) < 0 {
			return fmt.Errorf("%w: balance %v, queued cost %v, tx bumped %v, overshot %v", core.ErrInsufficientFunds, balance, spent, bump, need.Sub(need, balance))
		}
	} else if need := new(big.Int).Add(spent, cost); balance.Cmp(need) < 0 {
		return fmt.Errorf("%w: balance %v, queued cost %v, tx cost %v, overshot %v", core.ErrInsufficientFunds, balance, spent, cost, need.Sub(need, balance))
	}
	return nil
}

// check returns the account of a transaction that can be added.
func (p *Pool) check(tx *types.Transaction, sender common.Address, nonce uint64, balance *uint256.Int) (*account, error) {
	if p.all[tx.Hash()] != nil {
		return nil, ErrAlreadyKnown
	}
	a := p.accounts[sender]
	if a == nil {
		a = &account{address: sender}
	}
	a.nonce, a.balance = nonce, balance
	if err := a.validate(tx, p.leastFeeCap()); err != nil {
		return nil, err
	}
	at, there := a.find(tx.Nonce())
	need := slotsOf(tx)
	switch {
	case there && !replaces(tx, a.txs[at].Transaction):
		return nil, ErrReplaceUnderpriced
	case there:
		need -= slotsOf(a.txs[at].Transaction)
	case tx.Nonce() > a.nonce+uint64(a.ready) && len(a.queued()) >= maxQueued:
		return nil, fmt.Errorf("%w: pooled %d txs", ErrAccountLimitExceeded, len(a.txs))
	}
	if p.slots+need > maxSlots {
		return nil, ErrPoolFull
	}
	return a, nil
}
