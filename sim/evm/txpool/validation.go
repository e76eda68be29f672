package txpool

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"

	"snowglobe/sim/evm"
)

// maxSize is the largest size of a transaction in bytes.
const maxSize = 128 << 10

// Validate checks a transaction at a head as far as possible without the state: core/txpool.ValidateTransaction. It leaves the signature to
// Sender.
func (p *Pool) Validate(tx *types.Transaction, sender common.Address, head *evm.Header) error {
	switch {
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

// Sender recovers the signer of a transaction whose type the chain accepts.
func (p *Pool) Sender(tx *types.Transaction) (common.Address, error) {
	switch tx.Type() {
	case types.LegacyTxType, types.AccessListTxType, types.DynamicFeeTxType:
	default:
		return common.Address{}, core.ErrTxTypeNotSupported
	}
	if p.Has(tx.Hash()) {
		return common.Address{}, ErrAlreadyKnown
	}
	sender, err := types.Sender(p.signer, tx)
	if err != nil {
		return common.Address{}, ErrInvalidSender
	}
	return sender, nil
}

// validate checks a transaction against its sender's account and the account's waiting transactions:
// core/txpool.ValidateTransactionWithState.
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
