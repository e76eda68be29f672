package miner

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/txpool"
)

// blockOverrides holds clients' settings for the next blocks.
type blockOverrides struct {
	automine bool
	time     uint64          // of the next block, Unix milliseconds; 0 follows the rules
	spacing  uint64          // from each later block's parent, milliseconds; 0 follows the rules
	baseFee  *big.Int        // of the next block
	gasLimit *uint64         // of all later blocks
	coinbase *common.Address // of all later blocks
}

// settings guards the overrides. They last as long as the process.
type settings struct {
	changed   func() // called after a client changes a setting, or a block uses up one that was for it alone
	mu        sync.Mutex
	overrides blockOverrides
}

func (s *settings) now() blockOverrides {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.overrides
}

func (s *settings) change(change func(*blockOverrides)) {
	s.mu.Lock()
	change(&s.overrides)
	s.mu.Unlock()
	s.changed()
}

// used clears the settings that were for one block.
func (s *settings) used() {
	s.mu.Lock()
	asked := s.overrides.time != 0 || s.overrides.baseFee != nil
	s.overrides.time, s.overrides.baseFee = 0, nil
	s.mu.Unlock()
	if asked {
		s.changed()
	}
}

// limited returns a head with the gas limit by which transactions are checked.
func (w blockOverrides) limited(head *evm.Header) *evm.Header {
	if w.gasLimit == nil {
		return head
	}
	h := *head
	h.GasLimit = *w.gasLimit
	return &h
}

// SetAutomine turns automine on or off: with it, each transaction gets a block at once.
func (s *settings) SetAutomine(on bool) { s.change(func(w *blockOverrides) { w.automine = on }) }

// Automine reports whether each transaction gets a block at once.
func (s *settings) Automine() bool { return s.now().automine }

// ErrTimestamp means that a block cannot be this early.
var ErrTimestamp = errors.New("timestamp error")

// SetNextTime sets the time of the next block, in Unix milliseconds. It must be later than the newest block.
func (m *Miner) SetNextTime(ctx context.Context, time uint64) error {
	if err := m.Writable(); err != nil {
		return err
	}
	head, err := m.Chain.Head(ctx)
	if err != nil {
		return err
	}
	if time <= head.Header.TimeMilliseconds {
		return fmt.Errorf("%w: %d is lower than or equal to previous block's timestamp %d", ErrTimestamp, time/1000, head.Header.Time)
	}
	if err := m.world.CanStand(int64(time)); err != nil {
		return fmt.Errorf("%w: %w", ErrTimestamp, err)
	}
	m.change(func(w *blockOverrides) { w.time = time })
	return nil
}

// SetSpacing sets the distance of all later blocks from their parents, 0 for as soon as the rules allow, and returns the previous one.
func (s *settings) SetSpacing(spacing time.Duration) (before time.Duration) {
	s.change(func(w *blockOverrides) {
		before = time.Duration(w.spacing) * time.Millisecond
		w.spacing = uint64(spacing.Milliseconds())
	})
	return before
}

// SetNextBaseFee sets the base fee of the next block, in wei. With 0 that block accepts transactions that pay nothing.
func (s *settings) SetNextBaseFee(fee *big.Int) {
	s.change(func(w *blockOverrides) { w.baseFee = fee })
}

// SetGasLimit sets the gas limit of all later blocks.
func (s *settings) SetGasLimit(limit uint64) {
	s.change(func(w *blockOverrides) { w.gasLimit = &limit })
}

// SetCoinbase sets who gets the fees of all later blocks.
func (s *settings) SetCoinbase(address common.Address) {
	s.change(func(w *blockOverrides) { w.coinbase = &address })
}

// Coinbase returns who gets the fees of the next block.
func (s *settings) Coinbase() common.Address {
	if address := s.now().coinbase; address != nil {
		return *address
	}
	return evm.Blackhole
}

// Drop removes a waiting transaction. It returns false if there is none.
func (m *Miner) Drop(ctx context.Context, hash common.Hash) bool {
	defer m.world.Lock(ctx)()
	return m.Pool.Drop(hash)
}

// DropAll removes all waiting transactions.
func (m *Miner) DropAll(ctx context.Context) {
	defer m.world.Lock(ctx)()
	m.Pool.Clear()
}

// DropSender removes all waiting transactions of an account.
func (m *Miner) DropSender(ctx context.Context, sender common.Address) {
	defer m.world.Lock(ctx)()
	m.Pool.DropSender(sender)
}

// Release allows mining a held transaction, at once with automine.
func (m *Miner) Release(ctx context.Context, hash common.Hash, h *txpool.Hold) error {
	t := m.Pool.Get(hash)
	if !m.Pool.Release(hash, h) || t == nil || !m.Automine() {
		return nil
	}
	defer m.world.Mined(ctx)
	defer m.world.Lock(ctx)()
	if err := m.restore(ctx); err != nil {
		return err
	}
	return m.mineReady(t.Transaction)
}

// MineWaiting puts the transactions that waited, and that a block can take now, into blocks, if each transaction gets a block at once.
func (m *Miner) MineWaiting(ctx context.Context) error {
	if !m.Automine() {
		return nil
	}
	defer m.world.Mined(ctx)
	defer m.world.Lock(ctx)()
	if err := m.restore(ctx); err != nil {
		return err
	}
	waiting := m.Pool.Pending(new(big.Int)).Peek()
	if waiting == nil {
		return nil
	}
	return m.mineReady(waiting.Transaction)
}
