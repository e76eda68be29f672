package evm

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/vm"
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
		if gas, err = p.applyAtomic(tx, gas); err != nil {
			return err
		}
	}
	p.atomic, p.extData, p.delta.Atomic = transactions, raw, rows
	p.header.ExtDataHash = crypto.Keccak256Hash(hash)
	if p.worst == nil {
		p.header.ExtDataGasUsed = bigOf(gas)
	}
	return Fault(p.state)
}

// applyAtomic moves value into and out of accounts. A debit counts as a use of the account's nonce. It returns the gas of the atomic
// transactions so far; since Helicon the block's own gas includes it.
func (p *BlockExecution) applyAtomic(tx *txs.Tx, before uint64) (uint64, error) {
	if p.worst == nil {
		gas := saturatingAdd(before, utxo.AtomicGas(tx))
		if gas > p.GasLeft() {
			return 0, fmt.Errorf("atomic transaction %s: %w", tx.ID(), core.ErrGasLimitReached)
		}
		return gas, p.moveSingly(tx)
	}
	o, err := atomicOperation(tx)
	if err == nil {
		err = p.checkAtomic(o)
	}
	if errors.Is(err, core.ErrGasLimitReached) {
		err = fmt.Errorf("atomic transaction %s: %w", tx.ID(), err)
	}
	if err == nil {
		err = p.gas.CheckGasLegacy(o.gas)
	}
	if err != nil {
		return 0, err
	}
	p.worst.take(o)
	for i := range o.debits {
		d := &o.debits[i]
		p.state.SubBalance(d.address, &d.amount, tracing.BalanceChangeUnspecified)
		p.state.SetNonce(d.address, d.nonce+1, tracing.NonceChangeUnspecified)
	}
	for i := range o.credits {
		p.state.AddBalance(o.credits[i].address, &o.credits[i].amount, tracing.BalanceChangeUnspecified)
	}
	return 0, nil
}

// checkAtomic refuses an atomic transaction that the block could not accept before it is executed.
func (p *BlockExecution) checkAtomic(o *operation) error {
	for i := range o.debits {
		d := &o.debits[i]
		switch {
		case p.state.GetBalance(d.address).Lt(&d.required):
			return cmp.Or(Fault(p.state), utxo.ErrInsufficientFunds)
		case p.state.GetNonce(d.address) != d.nonce:
			return ErrAtomicNonce
		}
	}
	return p.worst.check(o)
}

// moveSingly moves each amount by itself: before Helicon every debit of an account takes a nonce.
func (p *BlockExecution) moveSingly(tx *txs.Tx) error {
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

// MoveAtomic moves the value of an accepted atomic transaction into and out of accounts.
func MoveAtomic(states vm.StateDB, tx *txs.Tx) {
	for _, change := range tx.AccountChanges() {
		amount := new(uint256.Int).Mul(uint256.NewInt(change.Amount), weiPerNano)
		if change.Debit {
			states.SubBalance(change.Address, amount, tracing.BalanceChangeUnspecified)
			states.SetNonce(change.Address, change.Nonce+1, tracing.NonceChangeUnspecified)
			continue
		}
		states.AddBalance(change.Address, amount, tracing.BalanceChangeUnspecified)
	}
}
