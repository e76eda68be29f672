package txpool

import (
	"maps"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// Hold keeps a transaction from being mined. It ends with Release, or when the transaction leaves the pool: the same bytes sent again are
// another transaction.
type Hold struct {
	Until time.Time // real time; zero for no limit
}

// Hold keeps a transaction that is about to be added from being mined. It returns nil for one that already waits or is held: sending it
// again changes nothing, and gives the sender nothing to release.
func (p *Pool) Hold(hash common.Hash, until time.Time) *Hold {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[hash] != nil || p.all[hash] != nil {
		return nil
	}
	h := &Hold{until}
	p.hold(hash, h)
	return h
}

// hold never changes the map that an Order reads.
func (p *Pool) hold(hash common.Hash, h *Hold) {
	held := maps.Clone(p.held)
	if held == nil {
		held = map[common.Hash]*Hold{}
	}
	held[hash] = h
	p.held = held
	p.changes++
}

func (p *Pool) release(hash common.Hash) {
	if p.held[hash] == nil {
		return
	}
	held := maps.Clone(p.held)
	delete(held, hash)
	p.held = held
	p.changes++
}

// Release ends a hold. It returns false if the hold ended before, even if another one holds the transaction now.
func (p *Pool) Release(hash common.Hash, h *Hold) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h == nil || p.held[hash] != h {
		return false
	}
	p.release(hash)
	return true
}

// Held returns the waiting transactions that are held.
func (p *Pool) Held() map[common.Hash]*Hold {
	p.mu.RLock()
	defer p.mu.RUnlock()
	held := map[common.Hash]*Hold{}
	for hash, h := range p.held {
		if p.all[hash] != nil {
			held[hash] = h
		}
	}
	return held
}

// HoldAgain restores the holds of transactions that wait again after Clear.
func (p *Pool) HoldAgain(held map[common.Hash]*Hold) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for hash, h := range held {
		if p.all[hash] != nil {
			p.hold(hash, h)
		}
	}
}
