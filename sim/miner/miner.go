package miner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/evm/txpool"
	"snowglobe/sim/store"
)

// World is the miner's view of the world in which it adds to a chain.
type World struct {
	Lock func(ctx context.Context) (unlock func()) // the writer's lock, held while a block is built and committed
	Now  func() int64                              // the clock, in Unix milliseconds

	// Lock in two steps: Wait takes the lock, perhaps for several requests, and Turn marks the place of one in the order of changes.
	Wait func(ctx context.Context) (unlock func())
	Turn func(ctx context.Context)

	// Outside runs a function that waits for somebody else to release the lock.
	Outside func(ctx context.Context, wait func())

	// Gather holds back the blocks that are committed from now on, until end is called or anything else is committed. end returns why they
	// could not be stored. The caller holds the lock.
	Gather func() (end func() error)

	ReadOnly bool // the world accepts no additions

	// Advance executes everything that falls due in the world by a time in milliseconds, before a block of that time is built. The caller
	// holds the lock.
	Advance func(time uint64) error

	// Moved returns a channel that closes when the clock moves next.
	Moved func() <-chan struct{}

	// CanStand returns an error for a time in milliseconds at which the clock must not stand.
	CanStand func(time int64) error

	// Mined is called after a call in which blocks may have been made, without the lock, before the call returns.
	Mined func(ctx context.Context)

	// Commit writes a block, moves the clock to its time in milliseconds, which a client may have chosen, and makes it the head for readers. The
	// caller holds the lock.
	Commit func(c *reader.Chain, d *store.Delta, time uint64, chosen bool) error

	// Scheduled is called before the chain makes a block because of its interval; done is called afterwards. It may be nil.
	Scheduled func(ctx context.Context, c *reader.Chain) (within context.Context, done func(error))

	// CommitChanges writes state changes without a block, all or none, and notifies readers. The caller holds the lock.
	CommitChanges func(c *reader.Chain, all []*store.StateDelta) error
}

// Miner makes the blocks of one EVM chain.
type Miner struct {
	Chain *reader.Chain
	Pool  *txpool.Pool

	Impersonation Impersonation
	settings
	interval
	faults faults

	world     World
	builder   *evm.Builder           // restored when first needed, and after a block could not be stored; guarded by the writer's lock, like the next fields
	undone    *evm.Builder           // the builder before a revert, whose tries the next one reuses
	noncesSet bool                   // some nonce was changed, so that one below an account's may be unused
	stored    uint64                 // the pool's Changes when the file stored it
	defaults  atomic.Pointer[func()] // applies the user's settings for automatic blocks
	pending   pendingBlock
	senders   senders

	pendingIsExecuted atomic.Bool
}

// New returns the miner of a chain, with automine.
func New(c *reader.Chain, w World) *Miner {
	m := &Miner{Chain: c, Pool: txpool.New(c.Genesis), world: w, settings: settings{overrides: blockOverrides{automine: true}}, interval: interval{changed: make(chan struct{}, 1)}, faults: newFaults()}
	m.settings.changed = func() {
		m.pending.forget()
		m.Pool.SetBaseFee(m.settings.now().baseFee)
	}
	return m
}

// Writable returns store.ErrReadOnly if the chain accepts no more blocks.
func (m *Miner) Writable() error {
	if m.world.ReadOnly {
		return store.ErrReadOnly
	}
	return nil
}

// restore makes the builder if it is missing. The caller holds the lock.
func (m *Miner) restore(ctx context.Context) error {
	if err := m.Writable(); err != nil {
		return err
	}
	if m.builder != nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	builder, err := reader.Restore(ctx, m.Chain, m.undone)
	m.undone = nil
	if err == nil {
		m.noncesSet, err = m.Chain.NoncesSet(ctx)
	}
	if err != nil {
		return fmt.Errorf("chain %d: %w", m.Chain.Row.EVMID, err)
	}
	m.builder = builder
	return setMinFee(m.Pool, m.builder)
}

// setMinFee passes the fee configuration's minimum after the newest block to the pool.
func setMinFee(pool *txpool.Pool, builder *evm.Builder) error {
	fee, err := builder.MinFeeCap()
	if err == nil {
		pool.SetMinFee(fee)
	}
	return err
}

// Send adds a signed transaction to the pool and, with automine, to a block. The error tells why it was refused.
func (m *Miner) Send(ctx context.Context, tx *types.Transaction) error { return m.SendIf(ctx, tx, nil) }

// SendIf is Send for a transaction that may only go on if a condition holds, nil for none: no block comes between the two.
func (m *Miner) SendIf(ctx context.Context, tx *types.Transaction, holds func() error) error {
	head, err := m.Chain.Head(ctx)
	if err != nil {
		return err
	}
	asked := m.settings.now()
	sender, err := m.Pool.Verify(tx, asked.limited(head.Header))
	if err != nil {
		return err
	}
	return m.send(&sending{ctx: ctx, tx: tx, sender: sender, automine: asked.automine, holds: holds})
}

// SendFrom is Send for a transaction whose sender is known.
func (m *Miner) SendFrom(ctx context.Context, tx *types.Transaction, sender common.Address) error {
	head, err := m.Chain.Head(ctx)
	if err != nil {
		return err
	}
	asked := m.settings.now()
	if err := m.Pool.Validate(tx, sender, asked.limited(head.Header)); err != nil {
		return err
	}
	return m.send(&sending{ctx: ctx, tx: tx, sender: sender, automine: asked.automine})
}

// take adds a validated transaction to the pool and, with automine, to a block. The caller holds the lock.
func (m *Miner) take(ctx context.Context, tx *types.Transaction, sender common.Address, automine bool) error {
	if m.noncesSet {
		if _, err := m.Chain.Transaction(ctx, tx.Hash()); err == nil { // a lowered nonce does not allow mining it again
			return txpool.ErrAlreadyKnown
		}
	}
	if err := m.builder.CheckSender(sender); err != nil {
		return err
	}
	nonce, balance, err := m.account(sender)
	if err != nil {
		return err
	}
	if automine && tx.Nonce() == nonce {
		if err := m.Pool.Check(tx, sender, nonce, balance); err != nil {
			return err
		}
		if err := m.checkFeeCap(tx, sender); err != nil {
			return err
		}
	}
	if err := m.Pool.Add(tx, sender, nonce, balance); err != nil {
		return err
	}
	if !automine {
		return nil
	}
	return m.mineReady(tx)
}

// Next holds what an account's next transaction must match: its nonce, and the time in Unix seconds and base fee of the block that would
// include it now.
type Next struct {
	Nonce   uint64
	Time    uint64
	BaseFee *big.Int
}

// SendPrepared is Send for a transaction that a function builds to match Next, like SendNext.
func (m *Miner) SendPrepared(ctx context.Context, sender common.Address, write func(Next) (*types.Transaction, error)) error {
	defer m.world.Mined(ctx)
	return m.SendNext(ctx, sender, write)
}

// SendNext is Send for a transaction that a function builds to match Next: no other transaction comes between. It does not call
// World.Mined.
func (m *Miner) SendNext(ctx context.Context, sender common.Address, write func(Next) (*types.Transaction, error)) error {
	defer m.world.Lock(ctx)()
	if err := m.restore(ctx); err != nil {
		return err
	}
	next, err := m.next(sender)
	if err != nil {
		return err
	}
	tx, err := write(next)
	if err != nil {
		return err
	}
	asked := m.settings.now()
	head, _ := m.builder.Head()
	if err := m.Pool.Validate(tx, sender, asked.limited(head)); err != nil {
		return err
	}
	return m.take(ctx, tx, sender, asked.automine)
}

func (m *Miner) next(sender common.Address) (next Next, err error) {
	p := m.plan(0)
	if err := m.world.Advance(p.time); err != nil {
		return next, err
	}
	h, err := m.builder.NextHeader(p.time, p.override)
	if err != nil {
		return next, err
	}
	next.Time, next.BaseFee = h.Time, h.BaseFee
	if nonce, waits := m.Pool.Nonce(sender); waits {
		next.Nonce = nonce
		return next, nil
	}
	next.Nonce, _, err = m.account(sender)
	return next, err
}

// account returns an account's nonce and balance after the head.
func (m *Miner) account(address common.Address) (uint64, *uint256.Int, error) {
	a, err := m.builder.Account(address)
	if err != nil || a == nil {
		return 0, new(uint256.Int), err
	}
	return a.Nonce, a.Balance, nil
}

// Mine makes blocks, each with every waiting transaction that fits. spacing is the time from each block's parent to the block; 0 follows
// the rules, under which a block without transactions has no other use than to settle those before it, and comes late enough for that.
func (m *Miner) Mine(ctx context.Context, count uint64, spacing time.Duration) error {
	return m.mine(ctx, count, spacing, true, func(uint64) {})
}

// MineNumbered is Mine, and returns the numbers of the blocks that it made: other senders' blocks may come between.
func (m *Miner) MineNumbered(ctx context.Context, count uint64, spacing time.Duration) (made []uint64, err error) {
	err = m.mine(ctx, count, spacing, true, func(number uint64) { made = append(made, number) })
	return made, err
}

// mine makes blocks and passes on the number of each.
func (m *Miner) mine(ctx context.Context, count uint64, spacing time.Duration, settles bool, made func(number uint64)) error {
	if spacing == 0 {
		spacing = time.Duration(m.settings.now().spacing) * time.Millisecond
	}
	if spacing > 0 {
		last := m.world.Now() + int64(min(count, math.MaxInt64/2/uint64(spacing.Milliseconds())))*spacing.Milliseconds()
		if err := m.world.CanStand(last); err != nil {
			return fmt.Errorf("%w: %d blocks %s apart: %w", ErrTimestamp, count, spacing, err)
		}
	}
	defer m.world.Mined(ctx)
	for range count {
		if err := ctx.Err(); err != nil {
			return err
		}
		number, err := m.mineAll(ctx, uint64(spacing.Milliseconds()), settles)
		if err != nil {
			return err
		}
		made(number)
	}
	return nil
}

// SettlesAt returns the Unix millisecond at which a block becomes due that settles all the chain's transactions. None does if all are settled,
// or if clients decide about the next block: without automine, or if they set its time or base fee.
func (m *Miner) SettlesAt(ctx context.Context) (time uint64, due bool, err error) {
	asked := m.settings.now()
	if !asked.automine || asked.time != 0 || asked.baseFee != nil {
		return 0, false, nil
	}
	head, err := m.Chain.Head(ctx)
	if err != nil {
		return 0, false, err
	}
	time, due, err = m.Chain.SettlesAt(ctx, head, m.Fault().SettlementLag)
	return max(time, evm.EarliestBlock(m.Chain.Kind, head.Header)), due, err
}

// Settle makes a block if it settles transactions, and reports whether it did.
func (m *Miner) Settle(ctx context.Context) (made bool, err error) {
	defer m.world.Mined(ctx)
	defer m.world.Lock(ctx)()
	if err := m.restore(ctx); err != nil {
		return false, err
	}
	next := m.plan(0)
	if !m.builder.Settles(next.time, next.override) {
		return false, nil
	}
	err = m.mineReadyInto(&next)
	return err == nil, err
}

// mineAll makes one block of everything that waits, and returns its number.
func (m *Miner) mineAll(ctx context.Context, spacing uint64, settles bool) (number uint64, err error) {
	defer m.world.Lock(ctx)()
	if err := m.restore(ctx); err != nil {
		return 0, err
	}
	next := m.plan(spacing)
	if ready, _ := m.Pool.Count(); ready == 0 && settles && !next.chosen && !next.feeChosen() && !next.lags() {
		head, err := m.Chain.Head(ctx)
		if err != nil {
			return 0, err
		}
		at, due, err := m.Chain.SettlesAt(ctx, head, 0)
		if err != nil {
			return 0, err
		}
		if due {
			next.time = max(next.time, at)
		}
	}
	if err := m.mineReadyInto(&next); err != nil {
		return 0, err
	}
	made, _ := m.builder.Head()
	return made.Number.Uint64(), nil
}

// mineReadyInto makes a planned block of every waiting transaction that fits.
func (m *Miner) mineReadyInto(next *plan) error {
	p, err := m.open(next)
	if err != nil {
		return err
	}
	for order := m.Pool.Pending(p.Header().BaseFee); order.Peek() != nil; {
		if err := fill(p, order); err != nil {
			return err
		}
	}
	return m.seal(p, *next)
}

// Transaction is a transaction with its sender.
type Transaction = txpool.Transaction

// Replace makes blocks of exactly these transactions, in place of blocks that were removed: the first is a millisecond later than the
// newest removed one, so that none equals a block it replaces. The error lists the transactions left out. The caller holds the lock.
func (m *Miner) Replace(ctx context.Context, blocks [][]*Transaction) (omitted error) {
	if err := m.restore(ctx); err != nil {
		return err
	}
	for i, transactions := range blocks {
		next := m.plan(0)
		if i == 0 && next.time == uint64(m.world.Now()) {
			next.time++
		}
		p, err := m.open(&next)
		if errors.Is(err, evm.ErrQueueFull) { // what was removed is not to be lost for a time or a lag that a client chose
			next.chosen, next.override.SettlesAfter = false, 0
			p, err = m.open(&next)
		}
		if err != nil {
			return err
		}
		for _, t := range transactions {
			_, err := p.Apply(t.Transaction, t.Sender)
			if store.Internal(err) {
				return err
			}
			if err != nil {
				omitted = errors.Join(omitted, fmt.Errorf("transaction %s was left out of block %d: %w", t.Hash(), p.Header().Number, err))
			}
		}
		if err := m.seal(p, next); err != nil {
			return err
		}
	}
	return omitted
}
