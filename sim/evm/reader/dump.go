package reader

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// StateAccount is an account with its key in the state trie.
type StateAccount struct {
	Hash    common.Hash
	Address common.Address
	Nonce   uint64
	Balance *uint256.Int
	Root    common.Hash
	Code    common.Hash // its hash
}

// StateSlot is a contract's storage slot with its key in the storage trie.
type StateSlot struct {
	Hash  common.Hash
	Key   common.Hash
	Value common.Hash
}

type accountReader struct {
	*Chain
	block *Block
}

// Accounts returns up to limit accounts after a block, starting at a hash and in the order of the state trie, and the hash of the next one,
// if any.
func (c *Chain) Accounts(ctx context.Context, b *Block, start []byte, limit int) (page []StateAccount, next []byte, err error) {
	accounts := accountReader{c, b}
	page, found, err := accounts.parted(ctx, start, limit+1)
	if err == nil && !found {
		page, err = accounts.all(ctx)
		first, _ := slices.BinarySearchFunc(page, start, StateAccount.compareHash)
		page = page[first:]
	}
	if err != nil {
		return nil, nil, err
	}
	if len(page) > limit {
		next, page = page[limit].Hash[:], page[:limit]
	}
	return page, next, nil
}

func (a StateAccount) compareHash(hash []byte) int { return bytes.Compare(a.Hash[:], hash) }

// parted returns up to limit accounts, starting at a hash, from the parts of the state trie that the file has for the newest state. It also
// covers earlier accounts unless they were deleted since. It finds nothing if the file has no parts of that state.
func (c accountReader) parted(ctx context.Context, start []byte, limit int) (page []StateAccount, found bool, err error) {
	ctx, leave, err := c.acquire(ctx, c.Limits.Time)
	if err != nil {
		return nil, false, err
	}
	defer leave()
	commits := c.db.Commits()
	head, err := c.Head(ctx)
	if err != nil {
		return nil, false, err
	}
	root, err := c.rootAfter(ctx, head)
	if err != nil {
		return nil, false, err
	}
	newest := evm.NewFlatState(ctx, c.db, c.Row.ID, head.Number)
	if tree, err := newest.PartsOf(c.Kind, evm.AllAccounts, root); tree == nil || err != nil {
		return nil, false, err
	}
	depth, err := c.db.TrieDepth(ctx, c.Row.ID, evm.AllAccounts)
	if err != nil {
		return nil, false, err
	}
	from := func(accounts []StateAccount) []StateAccount {
		return slices.DeleteFunc(accounts, func(a StateAccount) bool { return a.compareHash(start) < 0 })
	}
	prefix := nibbles(start)
	for prefix = prefix[:min(len(prefix), depth)]; len(page) < limit; {
		part, err := c.db.NextTriePart(ctx, c.Row.ID, evm.AllAccounts, prefix)
		if errors.Is(err, store.ErrNotFound) {
			break
		}
		if err != nil {
			return nil, false, err
		}
		accounts, err := c.of(ctx, part.Keys)
		if err != nil {
			return nil, false, err
		}
		page = append(page, from(accounts)...)
		prefix = append(part.Prefix, 0) // the next part
	}
	if c.block.Number < head.Number {
		gone, err := c.goneSince(ctx)
		if err != nil {
			return nil, false, err
		}
		page = append(page, from(gone)...)
	}
	slices.SortFunc(page, compareAccounts)
	page = slices.CompactFunc(page, func(a, b StateAccount) bool { return a.Hash == b.Hash })
	return page[:min(len(page), limit)], c.db.Commits() == commits, ctx.Err()
}

func compareAccounts(a, b StateAccount) int { return a.Hash.Cmp(b.Hash) }

// goneSince returns the accounts that are deleted at the head or were for a while, few if any. Each commit computes them once.
func (c accountReader) goneSince(ctx context.Context) ([]StateAccount, error) {
	keys, err := c.gone.Of(c.db.Commits(), func() ([]byte, error) { return c.db.GoneAccounts(ctx, c.Row.ID) })
	if err != nil {
		return nil, err
	}
	return c.of(ctx, keys)
}

// of returns the accounts with these addresses, which must be contiguous.
func (c accountReader) of(ctx context.Context, addresses []byte) (all []StateAccount, err error) {
	for address := range slices.Chunk(addresses, common.AddressLength) {
		row, err := c.db.Account(ctx, c.Row.ID, address, c.block.Number)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if !row.Gone {
			all = append(all, stateAccount(row))
		}
	}
	return all, nil
}

// nibbles splits bytes into halves.
func nibbles(of []byte) []byte {
	all := make([]byte, 0, 2*len(of)) // not nil, which sorts before every row
	for _, b := range of {
		all = append(all, b>>4, b&15)
	}
	return all
}

// all returns all accounts, in the order of the state trie.
func (c accountReader) all(ctx context.Context) ([]StateAccount, error) {
	ctx, leave, err := c.acquire(ctx, c.Limits.Time)
	if err != nil {
		return nil, err
	}
	defer leave()
	rows, err := c.db.AccountsAt(ctx, c.Row.ID, c.block.Number)
	if err != nil {
		return nil, err
	}
	all := make([]StateAccount, 0, len(rows))
	for i := range rows {
		if !rows[i].Gone {
			all = append(all, stateAccount(&rows[i]))
		}
	}
	slices.SortFunc(all, compareAccounts)
	return all, ctx.Err()
}

func stateAccount(row *store.Account) StateAccount {
	a := evm.StateAccount(row)
	return StateAccount{crypto.Keccak256Hash(row.Address), common.BytesToAddress(row.Address), a.Nonce, a.Balance, a.Root, common.BytesToHash(a.CodeHash)}
}

// ModifiedAccounts returns the addresses whose accounts differ between two blocks, without deleted accounts, in the order of the state
// trie.
func (c *Chain) ModifiedAccounts(ctx context.Context, before, after *Block) ([]common.Address, error) {
	ctx, leave, err := c.acquire(ctx, c.Limits.Time)
	if err != nil {
		return nil, err
	}
	defer leave()
	parts, err := store.InHalves(ctx, func(ctx context.Context, half store.AddressHalf) ([][]byte, error) {
		return c.db.ModifiedAccounts(ctx, c.Row.ID, half, before.Number, after.Number)
	})
	if err != nil {
		return nil, err
	}
	modified, hashes := []common.Address{}, map[common.Address]common.Hash{}
	for _, row := range slices.Concat(parts...) {
		address := common.BytesToAddress(row)
		modified, hashes[address] = append(modified, address), crypto.Keccak256Hash(row)
	}
	slices.SortFunc(modified, func(a, b common.Address) int { return hashes[a].Cmp(hashes[b]) })
	return modified, ctx.Err()
}

// Code returns the code with a hash.
func (l *Ledger) Code(ctx context.Context, hash common.Hash) ([]byte, error) {
	if hash == types.EmptyCodeHash {
		return nil, nil
	}
	return l.db.Code(ctx, hash[:])
}

// Slots returns a contract's non-zero slots after a block, in the order of the storage trie.
func (c *Chain) Slots(ctx context.Context, b *Block, address common.Address) ([]StateSlot, error) {
	rows, err := c.db.SlotsAt(ctx, c.Row.ID, address[:], b.Number)
	all := make([]StateSlot, 0, len(rows))
	for i := range rows {
		if len(rows[i].Value) > 0 {
			all = append(all, stateSlot(common.BytesToHash(rows[i].Key), common.BytesToHash(rows[i].Value)))
		}
	}
	slices.SortFunc(all, compareSlots)
	return all, err
}

func stateSlot(key, value common.Hash) StateSlot {
	return StateSlot{crypto.Keccak256Hash(key[:]), key, value}
}

func compareSlots(a, b StateSlot) int { return a.Hash.Cmp(b.Hash) }

// SlotsBefore returns a contract's slots before the block's transaction with an index.
func (c *Chain) SlotsBefore(ctx context.Context, b *Block, index int, address common.Address) ([]StateSlot, error) {
	transactions, err := c.Transactions(ctx, b)
	if err != nil {
		return nil, err
	}
	if b.Number == 0 || index < 0 || index >= max(len(transactions), 1) {
		return nil, fmt.Errorf("transaction index %d out of range for block %#x", index, b.Hash)
	}
	parent, err := c.Block(ctx, b.Number-1)
	if err != nil || len(transactions) == 0 {
		if err != nil {
			return nil, err
		}
		return c.Slots(ctx, parent, address)
	}
	keys := map[common.Hash]bool{}
	for _, at := range []*Block{parent, b} { // the block's rows have its changes, except those it also changed back
		slots, err := c.Slots(ctx, at, address)
		if err != nil {
			return nil, err
		}
		for _, s := range slots {
			keys[s.Key] = true
		}
	}
	all := []StateSlot{}
	err = c.replay(ctx, b, transactions[:index+1], nil, func(ctx context.Context, x *execution, t *Transaction, m *core.Message) error {
		if t.Index() < index {
			return x.apply(ctx, t, m)
		}
		for key := range keys {
			if value := x.states.GetState(address, key); value != (common.Hash{}) {
				all = append(all, stateSlot(key, value))
			}
		}
		return evm.Fault(x.states)
	})
	slices.SortFunc(all, func(a, b StateSlot) int { return cmp.Or(compareSlots(a, b), a.Key.Cmp(b.Key)) })
	return all, err
}

// ErrLargeState refuses to collect a state that is larger than what the caller can use.
var ErrLargeState = errors.New("the chain has too many accounts and slots for this; copy the world's file instead")

// Alloc collects the whole state after a block as a genesis allocates it, of at most so many accounts and slots.
func (c *Chain) Alloc(ctx context.Context, b *Block, most int) (types.GenesisAlloc, error) {
	ctx, leave, err := c.acquire(ctx, c.Limits.Time)
	if err != nil {
		return nil, err
	}
	defer leave()
	for {
		changes := c.Changes.Load()
		all, err := c.alloc(ctx, b, most)
		if err != nil || c.Changes.Load() == changes { // else a client changed the state without a block meanwhile
			return all, err
		}
	}
}

func (c *Chain) alloc(ctx context.Context, b *Block, most int) (types.GenesisAlloc, error) {
	rows, err := c.db.AccountsAt(ctx, c.Row.ID, b.Number)
	if err != nil {
		return nil, err
	}
	all, values := make(types.GenesisAlloc, len(rows)), 0
	for i := range rows {
		row := &rows[i]
		if row.Gone {
			continue
		}
		account := types.Account{Nonce: row.Nonce, Balance: new(big.Int).SetBytes(row.Balance)}
		if row.CodeHash != nil {
			if account.Code, err = c.Code(ctx, common.BytesToHash(row.CodeHash)); err != nil {
				return nil, err
			}
		}
		if row.Root != nil {
			slots, err := c.Slots(ctx, b, common.BytesToAddress(row.Address))
			if err != nil {
				return nil, err
			}
			account.Storage = make(map[common.Hash]common.Hash, len(slots))
			for _, s := range slots {
				account.Storage[s.Key] = s.Value
			}
		}
		if values += 1 + len(account.Storage); values > most {
			return nil, ErrLargeState
		}
		all[common.BytesToAddress(row.Address)] = account
	}
	return all, ctx.Err()
}
