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

// wishes are what clients want of the next blocks.
type wishes struct {
	automine bool
	time     uint64          // of the next block, Unix milliseconds; 0 leaves it to the rules
	spacing  uint64          // of all blocks from now on, after their parents, milliseconds; 0 leaves it to the rules
	baseFee  *big.Int        // of the next block
	gasLimit *uint64         // of all blocks from now on
	coinbase *common.Address // of all blocks from now on
}

// settings are the wishes of clients. They last as long as the process.
type settings struct {
	changed func() // by a client, or by a block that has what was for one
	mu      sync.Mutex
	wishes  wishes
}

func (s *settings) now() wishes {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wishes
}

func (s *settings) change(change func(*wishes)) {
	s.mu.Lock()
	change(&s.wishes)
	s.mu.Unlock()
	s.changed()
}

// used forgets what was for one block.
func (s *settings) used() {
	s.mu.Lock()
	asked := s.wishes.time != 0 || s.wishes.baseFee != nil
	s.wishes.time, s.wishes.baseFee = 0, nil
	s.mu.Unlock()
	if asked {
		s.changed()
	}
}

// limited is a head by whose gas limit transactions are checked.
func (w wishes) limited(head *evm.Header) *evm.Header {
	if w.gasLimit == nil {
		return head
	}
	h := *head
	h.GasLimit = *w.gasLimit
	return &h
}

// SetAutomine turns on or off that each transaction gets a block at once.
func (s *settings) SetAutomine(on bool) { s.change(func(w *wishes) { w.automine = on }) }

// Automine says whether each transaction gets a block at once.
func (s *settings) Automine() bool { return s.now().automine }

// ErrTimestamp says that a block cannot be so early.
var ErrTimestamp = errors.New("timestamp error")

// SetNextTime says when the next block is to be, in Unix milliseconds. It must be later than the newest block.
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
	m.change(func(w *wishes) { w.time = time })
	return nil
}

// SetSpacing says how long after its parent each block is to be from now on, 0 as soon as the rules allow, and what it was before.
func (s *settings) SetSpacing(spacing time.Duration) (before time.Duration) {
	s.change(func(w *wishes) {
		before = time.Duration(w.spacing) * time.Millisecond
		w.spacing = uint64(spacing.Milliseconds())
	})
	return before
}

// SetNextBaseFee says what the base fee of the next block is to be, in wei. With 0 that block takes transactions that pay nothing.
func (s *settings) SetNextBaseFee(fee *big.Int) { s.change(func(w *wishes) { w.baseFee = fee }) }

// SetGasLimit says what the gas limit of all blocks from now on is to be.
func (s *settings) SetGasLimit(limit uint64) { s.change(func(w *wishes) { w.gasLimit = &limit }) }

// SetCoinbase says who gets the fees of all blocks from now on.
func (s *settings) SetCoinbase(address common.Address) {
	s.change(func(w *wishes) { w.coinbase = &address })
}

// Coinbase is who gets the fees of the next block.
func (s *settings) Coinbase() common.Address {
	if address := s.now().coinbase; address != nil {
		return *address
	}
	return evm.Blackhole
}

// Drop forgets a transaction that waits. It answers false when there is none.
func (m *Miner) Drop(hash common.Hash) bool {
	m.world.Writer.Lock()
	defer m.world.Writer.Unlock()
	return m.Pool.Drop(hash)
}

// DropAll forgets everything that waits.
func (m *Miner) DropAll() {
	m.world.Writer.Lock()
	defer m.world.Writer.Unlock()
	m.Pool.Clear()
}

// DropSender forgets everything that waits of an account.
func (m *Miner) DropSender(sender common.Address) {
	m.world.Writer.Lock()
	defer m.world.Writer.Unlock()
	m.Pool.DropSender(sender)
}

// Release lets a transaction be mined that a hold kept waiting, at once with automine.
func (m *Miner) Release(ctx context.Context, hash common.Hash, h *txpool.Hold) error {
	t := m.Pool.Get(hash)
	if !m.Pool.Release(hash, h) || t == nil || !m.Automine() {
		return nil
	}
	defer m.world.Mined(ctx)
	m.world.Writer.Lock()
	defer m.world.Writer.Unlock()
	if err := m.restore(ctx); err != nil {
		return err
	}
	return m.mineReady(t.Transaction)
}
