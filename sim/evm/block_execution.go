package evm

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/holiman/uint256"

	"snowglobe/sim/evm/index"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// BlockExecution is a block under construction on the head of its chain. Dropping it changes nothing.
type BlockExecution struct {
	nextBlock
	b        *Builder
	state    *state.StateDB
	context  VMContext
	evm      *VM // made for the first transaction
	gas      *core.GasPool
	recorder *index.CallRecorder

	txs        types.Transactions
	size       uint64 // of txs, in bytes
	senders    []common.Address
	receipts   types.Receipts
	fees       *big.Int
	atomic     []*txs.Tx
	extData    []byte // their bytes
	desired    Desired
	predicates predicateResults
	delta      *store.Delta
}

// NewBlockContext returns what contracts see of a block. PREVRANDAO is the difficulty, always one, as on the network.
func NewBlockContext(h *Header, hash vm.GetHashFunc) vm.BlockContext {
	return vm.BlockContext{
		CanTransfer: core.CanTransfer,
		Transfer:    core.Transfer,
		GetHash:     hash,
		Coinbase:    h.Coinbase,
		GasLimit:    h.GasLimit,
		BlockNumber: new(big.Int).Set(h.Number),
		Time:        h.Time,
		Difficulty:  new(big.Int).Set(h.Difficulty),
		BaseFee:     new(big.Int).Set(h.BaseFee),
		BlobBaseFee: big.NewInt(1),
		Random:      new(common.BigToHash(h.Difficulty)),
	}
}

// Header returns the header as far as it is known: number, time, base fee and gas limit. Since Helicon a C-Chain's base fee is a bound.
func (p *BlockExecution) Header() *Header { return p.header }

// Nonce returns an account's next nonce.
func (p *BlockExecution) Nonce(address common.Address) uint64 { return p.state.GetNonce(address) }

// Balance returns what an account can spend in the block, in wei. Since Helicon on a C-Chain that is what it has at worst.
func (p *BlockExecution) Balance(address common.Address) *uint256.Int {
	if p.worst != nil {
		if a, err := p.worst.account(address); err == nil { // a fault of the state is reported by Apply
			return &a.balance
		}
	}
	return p.state.GetBalance(address)
}

// GasLeft returns the gas that the block has left. Since Helicon a C-Chain's transaction takes its whole limit.
func (p *BlockExecution) GasLeft() uint64 {
	if p.worst != nil {
		return p.worst.limit - p.worst.gas
	}
	return p.gas.Available(false)
}

// SustainedGas returns the gas that the block has left if blocks at this distance from each other are to keep up with gas time. Before Helicon
// and on an L1 that is all of it.
func (p *BlockExecution) SustainedGas() uint64 {
	if p.worst == nil {
		return p.GasLeft()
	}
	elapsed := p.header.TimeMilliseconds - p.b.head.TimeMilliseconds
	return saturatingSub(min(p.worst.limit, saturatingMul(elapsed, p.gasTime.rate())/millisPerSecond), p.worst.gas)
}

// Size returns the bytes of the block's transactions.
func (p *BlockExecution) Size() uint64 { return p.size }

// Desire sets the proposer's preferences for the values that validators decide together.
func (p *BlockExecution) Desire(d Desired) { p.desired = d }

// Apply executes a signed transaction. It returns an error if the transaction is not valid in this block; a valid transaction that fails in
// the EVM gets a receipt that says so.
func (p *BlockExecution) Apply(tx *types.Transaction, sender common.Address) (*types.Receipt, error) {
	if len(p.txs) > store.MaxIndex {
		return nil, core.ErrGasLimitReached
	}
	message, err := TransactionToMessage(tx, sender, p.executed.BaseFee)
	if err != nil {
		return nil, err
	}
	accept, err := p.accept(tx, sender)
	if err != nil {
		return nil, err
	}
	calls, snapshot, pool := p.recorder.Begin(len(p.txs)), p.state.Snapshot(), p.gas.Snapshot()
	p.state.SetTxContext(tx.Hash(), len(p.txs), 0)
	failed, carries := p.b.checkPredicates(tx, p.header.Time)
	if p.evm == nil {
		p.evm = p.context.NewVM()
	}
	p.evm.Console = false
	result, err := p.evm.Apply(message, p.gas, failed)
	if err != nil {
		p.state.RevertToSnapshot(snapshot)
		p.gas.Set(pool)
		p.recorder.Truncate(calls)
		return nil, cmp.Or(Fault(p.state), err)
	}
	if carries {
		p.predicates = append(p.predicates, predicateResult{tx.Hash(), failed})
	}
	accept()
	if p.evm.Console {
		p.delta.Console = append(p.delta.Console, len(p.txs))
	}
	BurnBaseFee(p.state, p.executed, result.UsedGas)
	p.fees.Add(p.fees, times(result.UsedGas, message.GasPrice).ToBig())
	p.state.Finalise(p.b.rulesAt(p.header))
	return p.receipt(tx, sender, message, result), Fault(p.state)
}

// accept refuses a transaction that the block could not accept before it is executed. The function that it returns counts the transaction.
func (p *BlockExecution) accept(tx *types.Transaction, sender common.Address) (func(), error) {
	if p.worst == nil {
		return func() {}, nil
	}
	o, err := p.worst.operationOf(tx, sender)
	if err == nil {
		err = p.worst.check(o)
	}
	if errors.Is(err, ErrUnsettled) && p.state.GetBalance(sender).Lt(&o.debits[0].required) {
		err = fmt.Errorf("%w: address %v have %v want %v", core.ErrInsufficientFunds, sender.Hex(), p.state.GetBalance(sender), &o.debits[0].required)
	}
	return func() { p.worst.take(o) }, err
}

// BurnBaseFee credits the base fee of gas used to the coinbase, as go-ethereum does with the tip: these chains burn all fees by crediting
// Blackhole.
func BurnBaseFee(states vm.StateDB, h *Header, gas uint64) {
	base := new(uint256.Int).Mul(uint256.NewInt(gas), uint256.MustFromBig(h.BaseFee))
	states.AddBalance(h.Coinbase, base, tracing.BalanceIncreaseRewardTransactionFee)
}

// TransactionToMessage is go-ethereum's core.TransactionToMessage for a known sender. An impersonated sender may be a contract.
func TransactionToMessage(tx *types.Transaction, sender common.Address, baseFee *big.Int) (*core.Message, error) {
	m := &core.Message{
		From: sender, To: tx.To(), Nonce: tx.Nonce(), GasLimit: tx.Gas(), Data: tx.Data(), AccessList: tx.AccessList(),
	}
	for _, amount := range []struct {
		to   **uint256.Int
		from *big.Int
	}{{&m.Value, tx.Value()}, {&m.GasFeeCap, tx.GasFeeCap()}, {&m.GasTipCap, tx.GasTipCap()}, {&m.GasPrice, EffectiveGasPrice(tx, baseFee)}} {
		value, overflow := uint256.FromBig(amount.from)
		if overflow {
			return nil, fmt.Errorf("%w: address %v, bit length %d", core.ErrFeeCapVeryHigh, sender, amount.from.BitLen())
		}
		*amount.to = value
	}
	if Impersonates(tx, sender) {
		m.SkipEOACheck()
	}
	return m, nil
}

// EffectiveGasPrice returns the price per unit of gas that a transaction pays in a block with this base fee.
func EffectiveGasPrice(tx *types.Transaction, baseFee *big.Int) *big.Int {
	price := new(big.Int).Add(baseFee, tx.GasTipCap())
	if limit := tx.GasFeeCap(); price.Cmp(limit) > 0 {
		return limit
	}
	return price
}

func (p *BlockExecution) rows(tx *types.Transaction, sender common.Address, r *types.Receipt) {
	number := p.header.Number.Uint64()
	row := store.Transaction{
		ID: store.At(p.b.chain, number, int(r.TransactionIndex)), Hash: r.TxHash.Bytes(), Sender: sender.Bytes(),
		Status: r.Status, GasUsed: r.GasUsed, GasTotal: r.CumulativeGasUsed, Logs: len(r.Logs),
	}
	if to := tx.To(); to != nil {
		row.Recipient = to.Bytes()
	} else {
		row.Created = r.ContractAddress.Bytes()
	}
	p.delta.Transactions = append(p.delta.Transactions, row)
	if Impersonates(tx, sender) {
		p.delta.Impersonated = append(p.delta.Impersonated, store.ImpersonatedTx{ID: row.ID})
	}
	for _, log := range r.Logs {
		entry := store.Log{
			ID: store.At(p.b.chain, number, len(p.delta.Logs)), Tx: int(r.TransactionIndex), Address: log.Address.Bytes(),
			Topic: []byte{}, Topics: []byte{}, Data: append([]byte{}, log.Data...),
		}
		for i, topic := range log.Topics {
			if i == 0 {
				entry.Topic = topic.Bytes()
			} else {
				entry.Topics = append(entry.Topics, topic[:]...)
			}
		}
		p.delta.Logs = append(p.delta.Logs, entry)
	}
}

// Draft returns the block so far, for readers: its header and results, its state and the rows of its transactions and logs. The block goes no further,
// so readers may change the state.
func (p *BlockExecution) Draft() (*Header, *ExecutionResults, *state.StateDB, *store.Delta, error) {
	err := p.marshal()
	p.hashLists()
	return p.header, p.finish(), p.state, p.delta, err
}

// hashLists hashes the transactions, whose rows are complete, and the receipts into the header, with the gas used.
func (p *BlockExecution) hashLists() {
	h := p.executed
	p.header.TxHash = types.DeriveSha(RawTransactions(p.delta.Transactions), p.b.lists)
	h.ReceiptHash, h.Bloom, h.GasUsed = types.DeriveSha(p.receipts, p.b.lists), types.MergeBloom(p.receipts), p.gas.Used()
}

// settle fills in what a C-Chain's header since Helicon says in place of its own execution: the results of the blocks that it settles, and
// all the gas that it may use. Its transactions are complete.
func (p *BlockExecution) settle() {
	if p.worst == nil {
		return
	}
	h, settled := p.header, p.worst.settled
	var receipts types.Receipts
	for _, b := range p.worst.settling {
		receipts = append(receipts, b.receipts...)
	}
	h.ReceiptHash, h.Bloom = types.DeriveSha(receipts, p.b.lists), types.MergeBloom(receipts)
	h.Root, h.GasUsed = settled.results.Root, p.worst.gas
	number, t := settled.number(), settled.gasTime
	h.SettledHeight, h.SettledGasUnix, h.SettledGasNumerator, h.SettledExcess = &number, &t.unix, &t.numerator, &t.excess
	target, price := p.b.head.targetExponent(), uint64(0)
	if p.b.head.MinPriceExponent != nil {
		price = *p.b.head.MinPriceExponent
	}
	for _, e := range []struct {
		exponent, desired *uint64
		step              uint64
	}{{&h.MinDelayExcess, p.desired.DelayExcess, maxDelayDiff}, {&target, p.desired.TargetExcess, maxTargetExcessDiff}, {&price, p.desired.PriceExponent, maxPriceDiff}} {
		if e.desired != nil {
			*e.exponent = towards(*e.exponent, *e.desired, e.step)
		}
	}
	h.TargetExponent, h.MinPriceExponent = &target, &price
}

// RawTransactions lists the transactions of rows for types.DeriveSha, which computes the root in a header.
type RawTransactions []store.Transaction

func (t RawTransactions) Len() int                           { return len(t) }
func (t RawTransactions) EncodeIndex(i int, w *bytes.Buffer) { w.Write(t[i].Raw) }

// marshal completes the rows of the transactions.
func (p *BlockExecution) marshal() error {
	for i, tx := range p.txs {
		raw, err := tx.MarshalBinary()
		if err != nil {
			return err
		}
		p.delta.Transactions[i].Raw = raw
	}
	return nil
}

// Seal finishes the block, makes it the head and returns the rows that it adds to the world.
func (p *BlockExecution) Seal() (*store.Delta, error) {
	h := p.header
	if err := p.marshal(); err != nil {
		return nil, err
	}
	for address := range p.b.schedule.Disabled(p.b.head.Time, h.Time) {
		if err := p.b.state.deleteAccount(address); err != nil {
			return nil, fmt.Errorf("block %d: %w", h.Number, err)
		}
	}
	if p.evm != nil {
		p.evm.Release()
	}
	root, err := p.state.Commit(p.b.rulesAt(h), h.Number.Uint64())
	if err != nil {
		return nil, fmt.Errorf("block %d: %w", h.Number, store.Inside(err))
	}
	p.executed.Root = root
	p.hashLists()
	if p.worst == nil {
		p.feeRules.afterExecution(p.b.head, h, p.desired)
	}
	h.Extra = append(h.Extra, p.predicates.encode()...)
	results := p.finish()
	if p.worst != nil {
		if p.delta.Block.Execution, err = rlp.EncodeToBytes(results); err != nil {
			return nil, err
		}
	}
	p.delta.Calls, p.delta.Called = p.recorder.Calls(), p.recorder.Called()
	p.delta.Block.Fees = p.fees.Bytes()
	if p.delta.Activity, err = p.blockMetrics(); err != nil {
		return nil, fmt.Errorf("block %d: %w", h.Number, err)
	}
	accounts := p.b.state.update.AccountsOrigin
	delta, err := p.b.advance(h, results.Executed(h), p.extData, p.delta)
	if err == nil && p.b.kind == KindC {
		p.enqueue(results, accounts)
	}
	return delta, err
}

// finish returns the results of the execution. Those of an asynchronous one are not in the header, which settles other blocks.
func (p *BlockExecution) finish() *ExecutionResults {
	h := p.executed
	results := &ExecutionResults{BaseFee: h.BaseFee, GasCharged: h.GasUsed, Root: h.Root, ReceiptHash: h.ReceiptHash}
	if p.worst != nil {
		p.settle()
		p.gasTime.afterBlock(results.GasCharged, p.header.GasTarget(), p.header.minPrice())
		results.GasUnix, results.GasNumerator, results.Excess = p.gasTime.unix, p.gasTime.numerator, p.gasTime.excess
	}
	return results
}

// enqueue adds the block, which is the head, to the blocks that are not settled.
func (p *BlockExecution) enqueue(results *ExecutionResults, before map[common.Address]*types.StateAccount) {
	b := p.b
	if p.worst == nil {
		b.queue = queue{b.synchronousHead()}
		return
	}
	block := &executedBlock{
		header: b.head, results: results, gasTime: p.gasTime, atomic: p.atomic, receipts: p.receipts, before: before,
	}
	for i, tx := range p.txs {
		block.txs = append(block.txs, sentTx{tx, p.senders[i]})
	}
	b.queue = b.queue.add(block)
}
