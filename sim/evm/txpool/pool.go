package txpool

import (
	"maps"
	"math/big"
	"slices"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/event"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"

	"snowglobe/sim/evm"
	"snowglobe/sim/secp256k1"
	"snowglobe/sim/store"
)

// Bounds of a pool, the same as a node's (coreth core/txpool/legacypool.DefaultConfig: GlobalSlots and GlobalQueue, txSlotSize, AccountQueue).
const (
	maxSlots  = 4096 + 1024 + 1024
	slotBytes = 32 << 10
	maxQueued = 64 // per account
)

// Pool keeps a chain's waiting transactions. Change it only with the lock of the world's writer, so that transactions are checked against
// the state of the head; reading does not need the lock.
type Pool struct {
	config *params.ChainConfig
	signer types.Signer
	warp   func(time uint64) bool // whether the warp precompile is active

	mu       sync.RWMutex
	minFee   *big.Int // lowest fee cap that the rules accept, in wei
	asked    *big.Int // base fee that a client wants for the next block, or nil
	accounts map[common.Address]*account
	held     map[common.Hash]*Hold // replaced, never changed
	all      map[common.Hash]*Transaction
	slots    int
	arrivals uint64
	changes  uint64
	recent   recent
	feed     event.FeedOf[[]*Transaction]
}

// New returns a chain's empty pool.
func New(genesis *evm.Genesis) *Pool {
	config := genesis.ChainConfig()
	return &Pool{
		config: config, signer: secp256k1.LatestSigner(config), warp: genesis.Precompiles.HasWarp, minFee: big.NewInt(1),
		accounts: map[common.Address]*account{}, all: map[common.Hash]*Transaction{},
	}
}

// Has reports whether a transaction waits.
func (p *Pool) Has(hash common.Hash) bool { return p.Get(hash) != nil }

// Get returns a waiting transaction, or nil.
func (p *Pool) Get(hash common.Hash) *Transaction {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.all[hash]
}

// SetMinFee sets the lowest fee cap that the pool accepts, in wei: on an L1 the minimum base fee of its fee configuration.
func (p *Pool) SetMinFee(fee *big.Int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.minFee = fee
}

// SetBaseFee sets the base fee that a client requested for the next block, nil for none. The pool accepts every transaction that can pay it.
func (p *Pool) SetBaseFee(asked *big.Int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = asked
}

func (p *Pool) leastFeeCap() *big.Int {
	if p.asked != nil && p.asked.Cmp(p.minFee) < 0 {
		return p.asked
	}
	return p.minFee
}

// Check returns the error with which Add would refuse a transaction.
func (p *Pool) Check(tx *types.Transaction, sender common.Address, nonce uint64, balance *uint256.Int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.check(tx, sender, nonce, balance)
	return err
}

// Add adds a validated transaction, given its sender's nonce and balance after the head, or returns why it cannot.
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

// Reset moves the pool to a new head, given the accounts that its block changed and its gas limit. It drops mined transactions and transactions
// that no block can take any more.
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

// keep drops the account's transactions that should not stay.
func (p *Pool) keep(a *account, wanted func(*Transaction) bool) {
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
	if len(a.txs) < before {
		p.changes++
	}
}

// forget cleans up after a transaction that left its account.
func (p *Pool) forget(t *Transaction) {
	delete(p.all, t.Hash())
	p.slots -= slotsOf(t.Transaction)
	p.release(t.Hash())
}

// Drop removes a transaction. It returns false if there is none.
func (p *Pool) Drop(hash common.Hash) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.all[hash]
	if t != nil {
		p.keep(p.accounts[t.Sender], func(other *Transaction) bool { return other != t })
	}
	return t != nil
}

// DropSender removes every transaction of an account.
func (p *Pool) DropSender(sender common.Address) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a := p.accounts[sender]; a != nil {
		p.keep(a, func(*Transaction) bool { return false })
	}
}

// Clear removes everything.
func (p *Pool) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.accounts)
	clear(p.all)
	p.held = nil
	p.slots = 0
	p.changes++
}

// Changes counts changes: as long as it and the head stay the same, so does the pool.
func (p *Pool) Changes() uint64 {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.changes
}

// Nonce returns the nonce after an account's pending transactions, false if the account has none.
func (p *Pool) Nonce(address common.Address) (uint64, bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	a := p.accounts[address]
	if a == nil {
		return 0, false
	}
	return a.nonce + uint64(a.ready), true
}

// Count returns the numbers of pending and queued transactions.
func (p *Pool) Count() (pending, queued int) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for _, a := range p.accounts {
		pending, queued = pending+len(a.pending()), queued+len(a.queued())
	}
	return pending, queued
}

// Of returns the transactions of an account, by nonce.
func (p *Pool) Of(address common.Address) (pending, queued []*Transaction) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if a := p.accounts[address]; a != nil {
		pending, queued = slices.Clone(a.pending()), slices.Clone(a.queued())
	}
	return pending, queued
}

// Senders returns the accounts with waiting transactions, sorted by address.
func (p *Pool) Senders() []common.Address {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return slices.SortedFunc(maps.Keys(p.accounts), common.Address.Cmp)
}

// All returns the waiting transactions in order of arrival.
func (p *Pool) All() []*Transaction {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return slices.SortedFunc(maps.Values(p.all), func(a, b *Transaction) int { return int(a.arrival) - int(b.arrival) })
}
