package txpool

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"
)

// Transaction is a transaction that waits, with its sender.
type Transaction struct {
	*types.Transaction
	Sender  common.Address
	arrival uint64 // counts those that came
}

// account is what waits of one account.
type account struct {
	address common.Address
	nonce   uint64       // the next one, after the head,
	balance *uint256.Int // and what the account holds then, in wei
	txs     []*Transaction
	ready   int // how many of txs follow each other from nonce on
}

// pending are those that a block can take, in the order of their nonces.
func (a *account) pending() []*Transaction { return a.txs[:a.ready] }

// queued are those that wait for others.
func (a *account) queued() []*Transaction { return a.txs[a.ready:] }

// find is the place of a nonce among the transactions, and whether there is one.
func (a *account) find(nonce uint64) (int, bool) {
	return slices.BinarySearchFunc(a.txs, nonce, func(t *Transaction, nonce uint64) int { return cmp.Compare(t.Nonce(), nonce) })
}

// put adds a transaction in its place, or in that of another with the same nonce, which it returns.
func (a *account) put(t *Transaction) (old *Transaction) {
	at, there := a.find(t.Nonce())
	if there {
		old, a.txs[at] = a.txs[at], t
		return old
	}
	a.txs = slices.Insert(a.txs, at, t)
	return nil
}

// count finds out again how many are ready.
func (a *account) count() {
	a.ready = 0
	for a.ready < len(a.txs) && a.txs[a.ready].Nonce() == a.nonce+uint64(a.ready) {
		a.ready++
	}
}

// priceBump is how much more a replacement must offer, in hundredths.
const priceBump = 10

// replaces says whether a transaction offers enough to take the place of another: legacypool's list.Add.
func replaces(tx, old *types.Transaction) bool {
	return bumped(tx.GasFeeCap(), old.GasFeeCap()) && bumped(tx.GasTipCap(), old.GasTipCap())
}

func bumped(offer, old *big.Int) bool {
	threshold := new(big.Int).Mul(old, big.NewInt(100+priceBump))
	threshold.Div(threshold, big.NewInt(100))
	return offer.Cmp(old) > 0 && offer.Cmp(threshold) >= 0
}
