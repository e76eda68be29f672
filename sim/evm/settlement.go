package evm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/utxo"
)

// Since Helicon a C-Chain accepts a block by what is settled and by what later blocks cost at worst, without the state that they leave: a
// transaction must be valid even if every earlier one that is not settled uses its whole gas limit and nobody pays its sender (avalanchego
// vms/saevm/worstcase). A block settles the results of those that finished at least five seconds of gas time before it.

var (
	// ErrQueueFull refuses a block while the accepted blocks that are not settled have too much gas.
	ErrQueueFull = errors.New("queue exceeds gas threshold for new block")

	// ErrUnsettled refuses a transaction whose sender can pay, but with funds that no block has settled yet.
	ErrUnsettled = fmt.Errorf("%w that are settled", core.ErrInsufficientFunds)
)

// executedBlock is an accepted block with the results of its execution.
type executedBlock struct {
	header   *Header
	results  *ExecutionResults
	gasTime  gasTime
	txs      []sentTx
	atomic   []*txs.Tx
	receipts types.Receipts
	before   map[common.Address]*types.StateAccount // the accounts that it changed, as they were; nil for a block read from the file
	changes  []store.StateChange                    // that clients made after it
}

type sentTx struct {
	*types.Transaction
	sender common.Address
}

func (b *executedBlock) number() uint64 { return b.header.Number.Uint64() }

// queue holds the last settled block of a C-Chain and all later ones. The last block before Helicon settles itself.
type queue []*executedBlock

func (q queue) head() *executedBlock { return q[len(q)-1] }

// add appends a block and drops those before the one that it settles.
func (q queue) add(b *executedBlock) queue {
	first := b.number()
	if b.header.Asynchronous() {
		first = *b.header.SettledHeight
	}
	for len(q) > 0 && q[0].number() < first {
		q = q[1:]
	}
	return append(q, b)
}

// settledAt returns the index of the last block that a block at a time settles (blocks.LastToSettleAt), a delay after its execution.
func (q queue) settledAt(timeMS, delay uint64) int {
	last := len(q) - 1
	for settleAt := saturatingSub(timeMS, cmp.Or(delay, settlementDelay)); last > 0; last-- {
		if b := q[last]; b.header.TimeMilliseconds <= settleAt && !b.gasTime.after(settleAt) {
			break
		}
	}
	return last
}

// Settles reports whether a block at a time settles transactions.
func (b *Builder) Settles(timeMS uint64, o Override) bool {
	if len(b.queue) == 0 || !b.networkContext.HeliconAt(timeMS/millisPerSecond) {
		return false
	}
	return slices.ContainsFunc(b.queue[1:b.queue.settledAt(timeMS, o.SettlesAfter)+1], func(block *executedBlock) bool {
		return len(block.txs)+len(block.atomic) > 0
	})
}

// restoreQueue reads the queue at the head of a chain.
func (b *Builder) restoreQueue(ctx context.Context, db *store.DB) error {
	if b.kind != KindC {
		return nil
	}
	if !b.head.Asynchronous() {
		b.queue = queue{b.synchronousHead()}
		return nil
	}
	number := b.head.Number.Uint64()
	deltas, err := db.Deltas(ctx, b.chain, *b.head.SettledHeight, number)
	if err != nil {
		return err
	}
	for i := range deltas {
		block, err := b.restoreBlock(&deltas[i])
		if err != nil {
			return fmt.Errorf("block %d: %w", deltas[i].Block.ID.Number(), err)
		}
		b.queue = append(b.queue, block)
	}
	return nil
}

// synchronousHead returns a head that was executed when it was accepted as the first block of a queue.
func (b *Builder) synchronousHead() *executedBlock {
	h := b.head
	return &executedBlock{header: h, results: &ExecutionResults{BaseFee: h.BaseFee, Root: h.Root}, gasTime: h.gasTimeAfter()}
}

func (b *Builder) restoreBlock(d *store.Delta) (*executedBlock, error) {
	header, err := DecodeHeader(b.kind, d.Block.Header)
	if err != nil {
		return nil, err
	}
	results, err := DecodeResults(d.Block.Execution, header)
	if err != nil {
		return nil, err
	}
	block := &executedBlock{
		header: header, results: results, gasTime: results.gasTime(header), changes: d.Changes,
	}
	for i := range d.Transactions {
		tx := new(types.Transaction)
		if err := tx.UnmarshalBinary(d.Transactions[i].Raw); err != nil {
			return nil, err
		}
		block.txs = append(block.txs, sentTx{tx, common.BytesToAddress(d.Transactions[i].Sender)})
	}
	if block.atomic, err = txs.ParseAtomicBatch(d.Block.ExtData); err != nil {
		return nil, err
	}
	block.receipts, err = ReceiptsOf(d)
	return block, err
}

// worstCase is the worst that the accepted blocks can leave to the next one.
type worstCase struct {
	settled  *executedBlock
	settling queue // what the block settles: the blocks after the last settled one, up to and with settled
	clock    gasTime
	accounts map[common.Address]*worstAccount
	read     func(common.Address) (*types.StateAccount, error) // an account as it was settled
	queued   uint64                                            // gas of the blocks that are not settled
	gas      uint64                                            // of the block
	limit    uint64
	baseFee  *uint256.Int
}

type worstAccount struct {
	balance uint256.Int
	nonce   uint64
}

// operation is what a transaction or an atomic transaction does to accounts at worst (avalanchego vms/saevm/hook.Op).
type operation struct {
	gas     uint64
	feeCap  *uint256.Int // nil: already known to pay enough
	debits  []debit
	credits []credit
}

type debit struct {
	address          common.Address
	nonce            uint64
	amount, required uint256.Int
}

type credit struct {
	address common.Address
	amount  uint256.Int
}

func (b *Builder) worstCaseAt(timeMS uint64, o Override) (*worstCase, error) {
	last := b.queue.settledAt(timeMS, o.SettlesAfter)
	w := &worstCase{
		settled: b.queue[last], settling: b.queue[1 : last+1], clock: b.queue[last].gasTime, accounts: map[common.Address]*worstAccount{},
		read: func(address common.Address) (*types.StateAccount, error) { return b.accountAt(last, address) },
	}
	for _, block := range b.queue[last+1:] {
		w.start(block.header.TimeMilliseconds)
		if err := w.repeat(block); err != nil {
			return nil, fmt.Errorf("block %d: %w", block.number(), err)
		}
		w.finish(block.header)
		for i := range block.changes {
			if err := w.change(&block.changes[i]); err != nil {
				return nil, err
			}
		}
	}
	w.start(timeMS)
	return w, nil
}

// full returns ErrQueueFull if too much gas waits for the chain to accept another block.
func (w *worstCase) full() error {
	if most := maxFullBlocks * w.clock.maxBlockGas(); w.queued > most {
		return fmt.Errorf("%w: current size %d exceeds maximum size for accepting new blocks %d", ErrQueueFull, w.queued, most)
	}
	return nil
}

// accountAt returns an account after a block of the queue, with what clients changed until the next one.
func (b *Builder) accountAt(index int, address common.Address) (*types.StateAccount, error) {
	if base := b.state.base; base != nil && b.queue[index].number() < base.block {
		settled := *base
		settled.block = b.queue[index].number()
		return settled.Account(address)
	}
	for _, later := range b.queue[index+1:] {
		if account, changed := later.before[address]; changed {
			return account, nil
		}
	}
	return b.state.Account(address)
}

func (w *worstCase) start(timeMS uint64) {
	w.clock.beforeBlock(timeMS)
	w.gas, w.limit, w.baseFee = 0, w.clock.maxBlockGas(), uint256.NewInt(w.clock.price())
}

func (w *worstCase) finish(h *Header) {
	w.clock.afterBlock(w.gas, h.GasTarget(), h.minPrice())
	w.queued += w.gas
}

func (w *worstCase) account(address common.Address) (*worstAccount, error) {
	if known := w.accounts[address]; known != nil {
		return known, nil
	}
	a := new(worstAccount)
	settled, err := w.read(address)
	if err != nil {
		return nil, err
	}
	if settled != nil {
		a.balance, a.nonce = *settled.Balance, settled.Nonce
	}
	w.accounts[address] = a
	return a, nil
}

// change repeats what a client changed without a transaction.
func (w *worstCase) change(c *store.StateChange) error {
	a, err := w.account(common.BytesToAddress(c.Address))
	switch {
	case err != nil:
		return err
	case c.Kind == store.BalanceChange:
		a.balance.SetBytes(c.Value)
	case c.Kind == store.NonceChange:
		a.nonce = new(big.Int).SetBytes(c.Value).Uint64()
	}
	return nil
}

// repeat applies the transactions of an accepted block. It was accepted when less was settled, so each is valid, unless a client chose the
// block's base fee or gas limit.
func (w *worstCase) repeat(block *executedBlock) error {
	for _, tx := range block.txs {
		o, err := w.operationOf(tx.Transaction, tx.sender)
		if err == nil {
			err = w.load(o)
		}
		if err != nil {
			return fmt.Errorf("transaction %s: %w", tx.Hash(), err)
		}
		w.take(o)
	}
	for _, tx := range block.atomic {
		o, err := atomicOperation(tx)
		if err == nil {
			err = w.load(o)
		}
		if err != nil {
			return fmt.Errorf("atomic transaction %s: %w", tx.ID(), err)
		}
		w.take(o)
	}
	return nil
}

// operationOf returns what a transaction does at the greatest cost that it can have.
func (w *worstCase) operationOf(tx *types.Transaction, sender common.Address) (*operation, error) {
	d := debit{address: sender, nonce: tx.Nonce()}
	var feeCap, value uint256.Int
	if feeCap.SetFromBig(tx.GasFeeCap()) || value.SetFromBig(tx.Value()) {
		return nil, core.ErrFeeCapVeryHigh
	}
	price, overflow := uint256.FromBig(EffectiveGasPrice(tx, w.baseFee.ToBig()))
	if overflow {
		return nil, core.ErrTipVeryHigh
	}
	for _, sum := range []struct {
		to, price *uint256.Int
	}{{&d.required, &feeCap}, {&d.amount, price}} {
		_, product := sum.to.MulOverflow(uint256.NewInt(tx.Gas()), sum.price)
		if _, total := sum.to.AddOverflow(sum.to, &value); product || total {
			return nil, fmt.Errorf("%w: the greatest cost of the transaction exceeds 256 bits", core.ErrInsufficientFunds)
		}
	}
	return &operation{gas: tx.Gas(), feeCap: &feeCap, debits: []debit{d}}, nil
}

var errAtomicNonces = errors.New("multiple nonces for the same address")

// atomicOperation returns what an atomic transaction does to accounts. Debits of one address count as one, with one nonce.
func atomicOperation(tx *txs.Tx) (*operation, error) {
	o := &operation{gas: utxo.AtomicGas(tx)}
	for _, change := range tx.AccountChanges() {
		amount := new(uint256.Int).Mul(uint256.NewInt(change.Amount), weiPerNano)
		if !change.Debit {
			o.credits = append(o.credits, credit{change.Address, *amount})
			continue
		}
		i := slices.IndexFunc(o.debits, func(d debit) bool { return d.address == change.Address })
		if i < 0 {
			i = len(o.debits)
			o.debits = append(o.debits, debit{address: change.Address, nonce: change.Nonce})
		}
		d := &o.debits[i]
		d.amount.Add(&d.amount, amount)
		d.required = d.amount
		if d.nonce != change.Nonce {
			return nil, fmt.Errorf("%w: address %s has nonces %d and %d", errAtomicNonces, change.Address, d.nonce, change.Nonce)
		}
	}
	return o, nil
}

func (w *worstCase) load(o *operation) error {
	for i := range o.debits {
		if _, err := w.account(o.debits[i].address); err != nil {
			return err
		}
	}
	for i := range o.credits {
		if _, err := w.account(o.credits[i].address); err != nil {
			return err
		}
	}
	return nil
}

// check refuses an operation that might turn out to be invalid.
func (w *worstCase) check(o *operation) error {
	if o.gas > w.limit-w.gas {
		return core.ErrGasLimitReached
	}
	if o.feeCap != nil && o.feeCap.Lt(w.baseFee) {
		return core.ErrFeeCapTooLow
	}
	if err := w.load(o); err != nil {
		return err
	}
	for i := range o.debits {
		d := &o.debits[i]
		switch a := w.accounts[d.address]; {
		case d.nonce < a.nonce:
			return fmt.Errorf("%w: %d < %d", core.ErrNonceTooLow, d.nonce, a.nonce)
		case d.nonce > a.nonce:
			return fmt.Errorf("%w: %d > %d", core.ErrNonceTooHigh, d.nonce, a.nonce)
		case a.nonce == math.MaxUint64:
			return core.ErrNonceMax
		case a.balance.Lt(&d.required):
			return fmt.Errorf("%w: address %v have %v want %v", ErrUnsettled, d.address.Hex(), &a.balance, &d.required)
		}
	}
	return nil
}

// take counts an operation whose accounts are loaded.
func (w *worstCase) take(o *operation) {
	for i := range o.debits {
		a := w.accounts[o.debits[i].address]
		a.nonce++
		if _, short := a.balance.SubOverflow(&a.balance, &o.debits[i].amount); short {
			a.balance.Clear()
		}
	}
	for i := range o.credits {
		a := w.accounts[o.credits[i].address]
		a.balance.Add(&a.balance, &o.credits[i].amount)
	}
	w.gas += o.gas
}
