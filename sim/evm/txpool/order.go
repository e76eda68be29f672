package txpool

import (
	"bytes"
	"container/heap"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
)

// Order yields the pending transactions in the order in which a block takes them: by highest tip and, among equals, by arrival; each
// account's by nonce. It is miner's transactionsByPriceAndNonce.
type Order struct {
	baseFee *big.Int
	held    map[common.Hash]*Hold // no block takes these; never changed
	heads   byPrice
}

// head is the next transaction of an account, its tip above the base fee, and the transactions after it.
type head struct {
	*Transaction
	tip  *big.Int
	rest []*Transaction
}

// Pending orders the transactions that can pay a base fee.
func (p *Pool) Pending(baseFee *big.Int) *Order {
	p.mu.RLock()
	defer p.mu.RUnlock()
	o := &Order{baseFee: baseFee, held: p.held}
	for _, a := range p.accounts {
		if h, ok := o.head(a.pending()); ok {
			o.heads = append(o.heads, h)
		}
	}
	heap.Init(&o.heads)
	return o
}

// head returns the first of an account's transactions. If it cannot pay the base fee, those after it wait too.
func (o *Order) head(all []*Transaction) (head, bool) {
	if len(all) == 0 || o.held[all[0].Hash()] != nil {
		return head{}, false
	}
	tip, err := all[0].EffectiveGasTip(o.baseFee)
	return head{all[0], tip, append([]*Transaction{}, all[1:]...)}, err == nil
}

// Peek returns the next transaction, nil at the end.
func (o *Order) Peek() *Transaction {
	if len(o.heads) == 0 {
		return nil
	}
	return o.heads[0].Transaction
}

// Shift moves past the next transaction.
func (o *Order) Shift() {
	if next, ok := o.head(o.heads[0].rest); ok {
		o.heads[0] = next
		heap.Fix(&o.heads, 0)
		return
	}
	o.Pop()
}

// Pop skips the next transaction and all later ones of its account.
func (o *Order) Pop() { heap.Pop(&o.heads) }

// byPrice is a heap of the accounts' next transactions.
type byPrice []head

func (h byPrice) Len() int      { return len(h) }
func (h byPrice) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h byPrice) Less(i, j int) bool {
	if c := h[i].tip.Cmp(h[j].tip); c != 0 {
		return c > 0
	}
	if h[i].arrival != h[j].arrival {
		return h[i].arrival < h[j].arrival
	}
	return bytes.Compare(h[i].Sender[:], h[j].Sender[:]) < 0
}

func (h *byPrice) Push(x any) { *h = append(*h, x.(head)) }

func (h *byPrice) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
