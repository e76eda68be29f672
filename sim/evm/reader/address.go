package reader

import (
	"context"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// Search requests a page of the transactions of an address.
type Search struct {
	Block uint64 // search below this block or, with After, above it; 0 for no bound
	After bool   // the oldest first instead of the newest
	Size  int    // a page has more only to end with a whole block
}

// bounds returns the positions between which a search looks; low is above high if nothing can match.
func (s Search) bounds(chain int) (low, high store.Position) {
	low, high = store.First(chain), store.Last(chain)
	switch block := min(s.Block, store.MaxNumber); {
	case block == 0:
	case s.After:
		low = store.At(chain, block, 0).End() + 1
	default:
		high = store.At(chain, block, 0) - 1
	}
	return low, high
}

// SearchTransactions finds transactions in which an address took any part, as sender or recipient, in a transfer or in an internal
// transaction: the newest first, with their logs. more reports whether others follow the page.
func (l *Ledger) SearchTransactions(ctx context.Context, address common.Address, s Search) (found []*Transaction, more bool, err error) {
	low, high := s.bounds(l.Row.ID)
	read := func(low, high store.Position, limit int) ([]store.TransactionView, error) {
		if low > high {
			return nil, nil
		}
		return l.db.WholeHistory(ctx, store.AddressHistory{Address: address[:], High: high, Low: low, Limit: limit, Ascending: s.After})
	}
	rows, err := read(low, high, s.Size)
	if err != nil || len(rows) == 0 {
		return nil, false, err
	}
	if len(rows) == s.Size {
		last := rows[len(rows)-1].ID
		rest, beyond := [2]store.Position{last.Block(), last - 1}, [2]store.Position{low, last.Block() - 1}
		if s.After {
			rest, beyond = [2]store.Position{last + 1, last.End()}, [2]store.Position{last.End() + 1, high}
		}
		same, err := read(rest[0], rest[1], store.MaxIndex+1)
		if err != nil {
			return nil, false, err
		}
		next, err := read(beyond[0], beyond[1], 1)
		if err != nil {
			return nil, false, err
		}
		rows, more = append(rows, same...), len(next) > 0
	}
	if s.After {
		slices.Reverse(rows)
	}
	for i := range rows {
		t, err := l.Receipt(ctx, common.BytesToHash(rows[i].Hash))
		if err != nil {
			return nil, false, err
		}
		found = append(found, t)
	}
	return found, more, nil
}

// Creation returns the transaction that created a contract, and the creator: an account or another contract. It returns store.ErrNotFound
// for an address that no transaction created.
func (l *Ledger) Creation(ctx context.Context, address common.Address) (*Transaction, common.Address, error) {
	d, err := l.db.Deployment(ctx, l.Row.ID, address[:])
	if err != nil {
		return nil, common.Address{}, err
	}
	b, err := l.Block(ctx, d.ID.Number())
	if err != nil {
		return nil, common.Address{}, err
	}
	t, err := l.TransactionAt(ctx, b, uint64(d.Tx))
	if d.Creator != nil {
		return t, common.BytesToAddress(d.Creator), err
	}
	return t, common.BytesToAddress(d.Sender), err
}

// TransactionBySenderAndNonce returns the account's transaction with this nonce, or store.ErrNotFound. It looks for the first block after
// which the account's nonce is higher.
func (c *Chain) TransactionBySenderAndNonce(ctx context.Context, sender common.Address, nonce uint64) (*Transaction, error) {
	head, err := c.Head(ctx)
	if err != nil {
		return nil, err
	}
	number, err := store.Search(0, head.Number+1, func(number uint64) (bool, error) {
		after, err := c.nonceAfter(ctx, number, sender)
		return after > nonce, err
	})
	if err != nil {
		return nil, err
	}
	if number > head.Number {
		return nil, store.ErrNotFound
	}
	b, err := c.Block(ctx, number)
	if err != nil {
		return nil, err
	}
	all, err := c.Transactions(ctx, b)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if t.Sender == sender && t.Nonce() == nonce {
			return t, nil
		}
	}
	return nil, store.ErrNotFound
}

func (c *Chain) nonceAfter(ctx context.Context, number uint64, address common.Address) (uint64, error) {
	b, err := c.Block(ctx, number)
	if err != nil {
		return 0, err
	}
	states, err := c.State(ctx, b)
	if err != nil {
		return 0, err
	}
	return states.GetNonce(address), evm.Fault(states)
}
