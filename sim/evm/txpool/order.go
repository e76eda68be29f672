package txpool

import (
	"bytes"
	"container/heap"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
)

// Order gives the pending transactions as a block takes them: the one that pays the highest tip first and, among equals, the one that came
// first; those of an account by nonce. It is miner's transactionsByPriceAndNonce.
type Order struct {
	baseFee *big.Int
	held    map[common.Hash]*Hold // that no block takes; never changed
	heads   byPrice
}

// head is the next transaction of an account, what it pays above the base fee, and those after it.
type head struct {
	*Transaction
	tip  *big.Int
	rest []*Transaction
}

// Pending are those that can pay a base fee.
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

// head is the first of an account's transactions. One that cannot pay the base fee keeps those after it waiting.
func (o *Order) head(all []*Transaction) (head, bool) {
	if len(all) == 0 || o.held[all[0].Hash()] != nil {
		return head{}, false
	}
	tip, err := all[0].EffectiveGasTip(o.baseFee)
	return head{all[0], tip, append([]*Transaction{}, all[1:]...)}, err == nil
}

// Peek is the next transaction, nil when there are no more.
func (o *Order) Peek() *Transaction {
	if len(o.heads) == 0 {
		return nil
	}
	return o.heads[0].Transaction
}

// Shift goes on with what follows the next transaction.
func (o *Order) Shift() {
	if next, ok := o.head(o.heads[0].rest); ok {
		o.heads[0] = next
		heap.Fix(&o.heads, 0)
		return
	}
	o.Pop()
}

// Pop leaves out the next transaction and all of its account that follow it.
func (o *Order) Pop() { heap.Pop(&o.heads) }

// byPrice is a heap of the next transactions of accounts.
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
