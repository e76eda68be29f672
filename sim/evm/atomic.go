package evm

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/holiman/uint256"

	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// weiPerNano converts nAVAX, the unit of the P-Chain and the X-Chain, to wei.
var weiPerNano = uint256.NewInt(1_000_000_000)

// ErrAtomicNonce means, in coreth's words, that a transaction debits an account at the wrong nonce.
var ErrAtomicNonce = errors.New("invalid nonce")

// errNotCChain rejects atomic transactions on any chain but a C-Chain.
var errNotCChain = errors.New("only the C-Chain moves value to and from other chains")

// Atomic ends the block with atomic transactions: imports credit accounts, exports debit them. Call it once, after every Apply. The network
// checks UTXOs and signatures; Atomic fails only if an account cannot pay. The block carries the rows of the UTXOs that change.
func (p *BlockExecution) Atomic(transactions []*txs.Tx, rows *store.PrimaryDelta) error {
	if len(transactions) == 0 {
		return nil
	}
	if p.b.kind != KindC {
		return errNotCChain
	}
	raw, err := txs.AtomicBatch(transactions)
	if err != nil {
		return err
	}
	hash, err := rlp.EncodeToBytes(raw)
	if err != nil {
		return err
	}
	gas := uint64(0)
	for _, tx := range transactions {
		if gas = saturatingAdd(gas, utxo.AtomicGas(tx)); gas > p.GasLeft() {
			return fmt.Errorf("atomic transaction %s: %w", tx.ID(), core.ErrGasLimitReached)
		}
		if err := p.applyAtomic(tx); err != nil {
			return err
		}
	}
	p.extData, p.delta.Atomic = raw, rows
	p.header.ExtDataHash, p.header.ExtDataGasUsed = crypto.Keccak256Hash(hash), new(big.Int).SetUint64(gas)
	return Fault(p.state)
}

// applyAtomic moves value into and out of accounts. A debit counts as a use of the account's nonce.
func (p *BlockExecution) applyAtomic(tx *txs.Tx) error {
	for _, change := range tx.AccountChanges() {
		amount := new(uint256.Int).Mul(uint256.NewInt(change.Amount), weiPerNano)
		if !change.Debit {
			p.state.AddBalance(change.Address, amount, tracing.BalanceChangeUnspecified)
			continue
		}
		if p.state.GetBalance(change.Address).Lt(amount) {
			return cmp.Or(Fault(p.state), utxo.ErrInsufficientFunds)
		}
		if p.state.GetNonce(change.Address) != change.Nonce {
			return ErrAtomicNonce
		}
		p.state.SubBalance(change.Address, amount, tracing.BalanceChangeUnspecified)
		p.state.SetNonce(change.Address, change.Nonce+1, tracing.NonceChangeUnspecified)
	}
	return nil
}
