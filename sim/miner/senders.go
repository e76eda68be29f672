package miner

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// sending is a validated transaction whose sender waits for the writer's lock.
type sending struct {
	ctx      context.Context
	tx       *types.Transaction
	sender   common.Address
	automine bool
	holds    func() error // a condition, or nil
	err      error
	taken    chan struct{} // closes when it was taken or refused
}

// senders are those who wait. The first one takes the lock for everybody who comes before it gets the lock.
type senders struct {
	mu  sync.Mutex
	all []*sending
}

var errInterrupted = errors.New("the transaction was not sent, because of an error in another request")

// send takes a transaction in its turn.
func (m *Miner) send(s *sending) error {
	defer m.world.Mined(s.ctx)
	s.err, s.taken = errInterrupted, make(chan struct{})
	m.senders.mu.Lock()
	m.senders.all = append(m.senders.all, s)
	first := len(m.senders.all) == 1
	m.senders.mu.Unlock()
	if first {
		m.sendWaiting(s.ctx)
	} else {
		m.world.Outside(s.ctx, func() { <-s.taken })
	}
	return s.err
}

// Bounds of the blocks in one database transaction, which are in memory until then: their number, and the gas limits of their transactions
// together.
const (
	mostTogether    = 32
	mostGasTogether = 8_000_000
)

// sendWaiting takes the transactions of all waiting senders, in the order in which they came.
func (m *Miner) sendWaiting(ctx context.Context) {
	defer m.world.Wait(ctx)()
	m.senders.mu.Lock()
	all := m.senders.all
	m.senders.all = nil
	m.senders.mu.Unlock()
	defer func() { // nobody waits for ever after a panic
		for _, s := range all {
			close(s.taken)
		}
	}()
	for len(all) > 0 {
		some := all[:min(len(all), mostTogether)]
		m.takeAll(some)
		all = all[len(some):]
		for _, s := range some {
			close(s.taken)
		}
	}
}

// takeAll takes transactions one after another. While the pool is empty and no condition must hold, nobody can see whether blocks are stored
// one by one, so they are stored together.
func (m *Miner) takeAll(all []*sending) {
	var end func() error
	var gathered []*sending
	var gas uint64
	store := func() {
		if end == nil {
			return
		}
		if err := end(); err != nil {
			m.builder = nil
			for _, s := range gathered {
				s.err = cmp.Or(s.err, err)
			}
		}
		end, gathered, gas = nil, nil, 0
	}
	defer store()
	for i, s := range all {
		m.world.Turn(s.ctx)
		if m.builder == nil {
			store()
		}
		if err := m.restore(s.ctx); err != nil {
			s.err = err
			continue
		}
		switch {
		case !m.canGather(s), gas+s.tx.Gas() > mostGasTogether:
			store()
		case end == nil && i < len(all)-1:
			end = m.world.Gather()
		}
		s.err = m.takeOne(s)
		if end != nil {
			gathered, gas = append(gathered, s), gas+s.tx.Gas()
		}
	}
}

// canGather reports whether the block of a transaction may be stored later, together with others: nobody can see when, as long as it is before
// the sender gets an answer.
func (m *Miner) canGather(s *sending) bool {
	pending, queued := m.Pool.Count()
	return pending+queued == 0 && s.holds == nil && !m.noncesSet
}

func (m *Miner) takeOne(s *sending) error {
	if s.holds != nil {
		if err := s.holds(); err != nil {
			return err
		}
	}
	return m.take(s.ctx, s.tx, s.sender, s.automine)
}
