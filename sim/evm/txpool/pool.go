package txpool

import (
	"fmt"
	"math/big"
	"slices"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/event"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"

	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// Bounds of a pool: those of a node's (legacypool.DefaultConfig). A slot is 32 KiB of a transaction.
const (
	maxSlots  = 4096 + 1024 + 1024
	slotBytes = 32 << 10
	maxQueued = 64 // of one account
)

// Pool keeps the transactions of a chain that wait. Whoever changes it holds the lock of the world's writer, so that the state
// which a transaction is checked against is that of the head; reading does not wait for that.
type Pool struct {
	config *params.ChainConfig
	signer types.Signer
	warp   func(time uint64) bool // whether the warp precompile is active

	mu       sync.RWMutex
	minFee   *big.Int // the least fee cap that is taken by the rules, in wei
	asked    *big.Int // the base fee that a client wants of the next block, or nil
	accounts map[common.Address]*account
	held     map[common.Hash]*Hold // replaced, never changed
	all      map[common.Hash]*Transaction
	slots    int
	arrivals uint64
	changes  uint64
	recent   recent
	feed     event.FeedOf[[]*Transaction]
}

// New is the empty pool of a chain.
func New(genesis *evm.Genesis) *Pool {
	config := genesis.ChainConfig()
	return &Pool{
		config: config, signer: types.LatestSigner(config), warp: genesis.Precompiles.HasWarp, minFee: big.NewInt(1),
		accounts: map[common.Address]*account{}, all: map[common.Hash]*Transaction{},
	}
}

// Has says whether a transaction waits.
func (p *Pool) Has(hash common.Hash) bool { return p.Get(hash) != nil }

// Get is a transaction that waits, or nil.
func (p *Pool) Get(hash common.Hash) *Transaction {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.all[hash]
}

// SetMinFee says what the least fee cap is that the pool takes, in wei: on an L1 the least base fee of its fee configuration.
func (p *Pool) SetMinFee(fee *big.Int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.minFee = fee
}

// SetBaseFee says what a client asked for as the base fee of the next block, nil for nothing. The pool takes whatever can pay that.
func (p *Pool) SetBaseFee(asked *big.Int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = asked
}

// leastFeeCap is the least fee cap that the pool takes now.
func (p *Pool) leastFeeCap() *big.Int {
	if p.asked != nil && p.asked.Cmp(p.minFee) < 0 {
		return p.asked
	}
	return p.minFee
}

// Check says why Add would not take a transaction.
func (p *Pool) Check(tx *types.Transaction, sender common.Address, nonce uint64, balance *uint256.Int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.check(tx, sender, nonce, balance)
	return err
}

// check finds the account of a transaction that can be added.
func (p *Pool) check(tx *types.Transaction, sender common.Address, nonce uint64, balance *uint256.Int) (*account, error) {
	if p.all[tx.Hash()] != nil {
		return nil, ErrAlreadyKnown
	}
	a := p.accounts[sender]
	if a == nil {
		a = &account{address: sender}
	}
	a.nonce, a.balance = nonce, balance
	if err := a.validate(tx, p.leastFeeCap()); err != nil {
		return nil, err
	}
	at, there := a.find(tx.Nonce())
	need := slotsOf(tx)
	switch {
	case there && !replaces(tx, a.txs[at].Transaction):
		return nil, ErrReplaceUnderpriced
	case there:
		need -= slotsOf(a.txs[at].Transaction)
	case tx.Nonce() > a.nonce+uint64(a.ready) && len(a.queued()) >= maxQueued:
		return nil, fmt.Errorf("%w: pooled %d txs", ErrAccountLimitExceeded, len(a.txs))
	}
	if p.slots+need > maxSlots {
		return nil, ErrPoolFull
	}
	return a, nil
}

// Add takes a validated transaction, given its sender's nonce and balance after the head. The error says why it does not.
func (p *Pool) Add(tx *types.Transaction, sender common.Address, nonce uint64, balance *uint256.Int) error {
	p.mu.Lock()
	fresh, err := p.add(tx, sender, nonce, balance)
	p.mu.Unlock()
	p.announce(fresh)
	return err
}

func (p *Pool) add(tx *types.Transaction, sender common.Address, nonce uint64, balance *uint256.Int) (fresh []*Transaction, err error) {
	a, err := p.check(tx, sender, nonce, balance)
	if err != nil {
		return nil, err
	}
	p.arrivals++
	t, before := &Transaction{tx, sender, p.arrivals}, a.ready
	if old := a.put(t); old != nil {
		p.forget(old)
	}
	p.all[tx.Hash()], p.accounts[sender] = t, a
	p.slots += slotsOf(tx)
	p.changes++
	a.count()
	if at, _ := a.find(tx.Nonce()); at < before {
		return p.remember([]*Transaction{t}), nil
	}
	return p.remember(a.txs[before:a.ready]), nil
}

func slotsOf(tx *types.Transaction) int { return int((tx.Size() + slotBytes - 1) / slotBytes) }

// Reset goes on to a new head, given the accounts that its block changed and its gas limit: what the block took, and what no
// block can take any more, is gone.
func (p *Pool) Reset(changed []store.Account, gasLimit uint64) {
	p.mu.Lock()
	var fresh []*Transaction
	for i := range changed {
		row := &changed[i]
		a := p.accounts[common.BytesToAddress(row.Address)]
		if a == nil {
			continue
		}
		before := a.nonce + uint64(a.ready)
		a.nonce, a.balance = row.Nonce, new(uint256.Int).SetBytes(row.Balance)
		balance := a.balance.ToBig()
		p.keep(a, func(t *Transaction) bool {
			return t.Nonce() >= a.nonce && t.Cost().Cmp(balance) <= 0 && t.Gas() <= gasLimit
		})
		for _, t := range a.pending() {
			if t.Nonce() >= before {
				fresh = append(fresh, t)
			}
		}
	}
	fresh = p.remember(fresh)
	p.mu.Unlock()
	p.announce(fresh)
}

// keep drops the transactions of an account that are not to be kept.
func (p *Pool) keep(a *account, wanted func(*Transaction) bool) (dropped int) {
	before := len(a.txs)
	a.txs = slices.DeleteFunc(a.txs, func(t *Transaction) bool {
		if wanted(t) {
			return false
		}
		p.forget(t)
		return true
	})
	a.count()
	if len(a.txs) == 0 {
		delete(p.accounts, a.address)
	}
	if dropped = before - len(a.txs); dropped > 0 {
		p.changes++
	}
	return dropped
}

// forget leaves nothing of a transaction that is no longer one of its account's.
func (p *Pool) forget(t *Transaction) {
	delete(p.all, t.Hash())
	p.slots -= slotsOf(t.Transaction)
	p.release(t.Hash())
}

// Drop forgets a transaction. It answers false when there is none.
func (p *Pool) Drop(hash common.Hash) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.all[hash]
	return t != nil && p.keep(p.accounts[t.Sender], func(other *Transaction) bool { return other != t }) > 0
}

// DropSender forgets every transaction of an account.
func (p *Pool) DropSender(sender common.Address) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a := p.accounts[sender]; a != nil {
		p.keep(a, func(*Transaction) bool { return false })
	}
}

// Clear forgets everything.
func (p *Pool) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.accounts)
	clear(p.all)
	p.held = nil
	p.slots = 0
	p.changes++
}

// Changes counts what changed: while it stays the same, and the head does, so does what the pool holds.
func (p *Pool) Changes() uint64 {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.changes
}

// Nonce is the nonce after an account's pending transactions, false when none of it waits.
func (p *Pool) Nonce(address common.Address) (uint64, bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	a := p.accounts[address]
	if a == nil {
		return 0, false
	}
	return a.nonce + uint64(a.ready), true
}

// Count is how many transactions are pending and queued.
func (p *Pool) Count() (pending, queued int) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for _, a := range p.accounts {
		pending, queued = pending+len(a.pending()), queued+len(a.queued())
	}
	return pending, queued
}

// Of are the transactions of an account, by nonce.
func (p *Pool) Of(address common.Address) (pending, queued []*Transaction) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if a := p.accounts[address]; a != nil {
		pending, queued = slices.Clone(a.pending()), slices.Clone(a.queued())
	}
	return pending, queued
}

// Senders are the accounts of which something waits, in the order of their addresses.
func (p *Pool) Senders() []common.Address {
	p.mu.RLock()
	defer p.mu.RUnlock()
	all := make([]common.Address, 0, len(p.accounts))
	for address := range p.accounts {
		all = append(all, address)
	}
	slices.SortFunc(all, common.Address.Cmp)
	return all
}

// All are the transactions that wait, in the order in which they came.
func (p *Pool) All() []*Transaction {
	p.mu.RLock()
	defer p.mu.RUnlock()
	all := make([]*Transaction, 0, len(p.all))
	for _, t := range p.all {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b *Transaction) int { return int(a.arrival) - int(b.arrival) })
	return all
}
