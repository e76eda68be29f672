package txpool

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"
)

// Transaction is a waiting transaction with its sender.
type Transaction struct {
	*types.Transaction
	Sender  common.Address
	arrival uint64 // order of arrival
}

// account holds an account's waiting transactions.
type account struct {
	address common.Address
	nonce   uint64       // next nonce after the head
	balance *uint256.Int // balance after the head, in wei
	txs     []*Transaction
	ready   int // how many of txs have consecutive nonces from nonce on
}

// pending returns the transactions that a block can take, by nonce.
func (a *account) pending() []*Transaction { return a.txs[:a.ready] }

// queued returns the transactions that wait for earlier nonces.
func (a *account) queued() []*Transaction { return a.txs[a.ready:] }

// find returns the place of a nonce among the transactions, and whether it is taken.
func (a *account) find(nonce uint64) (int, bool) {
	return slices.BinarySearchFunc(a.txs, nonce, func(t *Transaction, nonce uint64) int { return cmp.Compare(t.Nonce(), nonce) })
}

// put inserts a transaction, and returns the transaction with the same nonce that it replaces, if any.
func (a *account) put(t *Transaction) (old *Transaction) {
	at, there := a.find(t.Nonce())
	if there {
		old, a.txs[at] = a.txs[at], t
		return old
	}
	a.txs = slices.Insert(a.txs, at, t)
	return nil
}

// count recounts how many are ready.
func (a *account) count() {
	a.ready = 0
	for a.ready < len(a.txs) && a.txs[a.ready].Nonce() == a.nonce+uint64(a.ready) {
		a.ready++
	}
}

// priceBump is the percentage by which a replacement must raise the price (coreth core/txpool/legacypool.DefaultConfig).
const priceBump = 10

// replaces reports whether a transaction offers enough to replace another (coreth core/txpool/legacypool.list.Add).
func replaces(tx, old *types.Transaction) bool {
	return bumped(tx.GasFeeCap(), old.GasFeeCap()) && bumped(tx.GasTipCap(), old.GasTipCap())
}

func bumped(offer, old *big.Int) bool {
	threshold := new(big.Int).Mul(old, big.NewInt(100+priceBump))
	threshold.Div(threshold, big.NewInt(100))
	return offer.Cmp(old) > 0 && offer.Cmp(threshold) >= 0
}
