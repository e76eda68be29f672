package query

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"
	"golang.org/x/sync/errgroup"

	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// HeldRange is the range of an address's balance over some of a chain's blocks.
type HeldRange struct {
	Owner                 common.Address
	Lowest, Highest, Last uint256.Int
	block                 uint64 // from which it held the last balance
}

// holders tracks the balances of addresses from a block on: before that block, and after each block that changed them.
type holders struct {
	first uint64
	held  []HeldRange
}

// set records an address's balance from a block on. Calls come in order, the balance before the first block first.
func (h *holders) set(r *HeldRange, block uint64, amount *uint256.Int) {
	if block >= r.block {
		r.Last, r.block = *amount, block
	}
	if block < h.first {
		r.Lowest, r.Highest = *amount, *amount
		return
	}
	if amount.Lt(&r.Lowest) {
		r.Lowest = *amount
	}
	if amount.Gt(&r.Highest) {
		r.Highest = *amount
	}
}

// of returns the addresses whose range passes.
func (h *holders) of(passes func(*HeldRange) bool) (all []common.Address) {
	for i := range h.held {
		if passes(&h.held[i]) {
			all = append(all, h.held[i].Owner)
		}
	}
	return all
}

// NativeHolders returns the addresses whose native balance between two blocks passes. The second may be the block before the first.
func NativeHolders(ctx context.Context, db *store.DB, c *reader.Chain, first, last uint64, passes func(*HeldRange) bool) ([]common.Address, error) {
	if first > last {
		if found, known, err := newestHolders(ctx, db, c, last, passes); known || err != nil {
			return found, err
		}
	}
	parts, err := store.InHalves(ctx, func(ctx context.Context, half store.AddressHalf) ([]common.Address, error) {
		part := &holders{first: first}
		err := part.readNative(ctx, db, c, half, last)
		return part.of(passes), err
	})
	return slices.Concat(parts...), err
}

// NativeSupply adds up the balances of all accounts of a chain after its newest block, in wei.
func NativeSupply(ctx context.Context, db *store.DB, c *reader.Chain) (*uint256.Int, error) {
	head, err := c.Head(ctx)
	if err != nil {
		return nil, err
	}
	sum, mu := new(uint256.Int), sync.Mutex{}
	_, err = NativeHolders(ctx, db, c, head.Number+1, head.Number, func(r *HeldRange) bool {
		mu.Lock()
		defer mu.Unlock()
		sum.Add(sum, &r.Last)
		return false
	})
	return sum, err
}

// newestHolders returns the addresses whose balance after a block passes, if that block is the newest and the file has parts of the account
// trie.
func newestHolders(ctx context.Context, db *store.DB, c *reader.Chain, last uint64, passes func(*HeldRange) bool) (found []common.Address, known bool, err error) {
	if head, err := c.Head(ctx); err != nil || head.Number != last {
		return nil, false, err
	}
	all, err := db.GoneAccounts(ctx, c.Row.ID)
	if err != nil {
		return nil, false, err
	}
	gone := map[common.Address]bool{}
	for address := range slices.Chunk(all, common.AddressLength) {
		gone[common.BytesToAddress(address)] = true
	}
	var r HeldRange
	add := func(owner common.Address, balance []byte) {
		r.Last.SetBytes(balance)
		if r.Owner, r.Lowest, r.Highest = owner, r.Last, r.Last; passes(&r) {
			found = append(found, owner)
		}
	}
	err = db.EachNewestBalance(ctx, c.Row.ID, func(address, balance []byte) {
		known = true
		owner := common.BytesToAddress(address)
		if add(owner, balance); len(gone) > 0 {
			delete(gone, owner) // it is back
		}
	})
	if err != nil {
		return nil, false, err
	}
	for owner := range gone {
		add(owner, nil)
	}
	head, err := c.Head(ctx)
	return found, known && err == nil && head.Number == last, err // no block was added meanwhile
}

func (h *holders) readNative(ctx context.Context, db *store.DB, c *reader.Chain, half store.AddressHalf, last uint64) error {
	if before := min(h.first, last+1); before > 0 {
		err := db.EachBalanceBefore(ctx, c.Row.ID, half, before, func(a *store.AccountBalance) {
			h.held = append(h.held, HeldRange{Owner: common.BytesToAddress(a.Address)})
			h.set(&h.held[len(h.held)-1], a.Block, new(uint256.Int).SetBytes(a.Balance))
		})
		if err != nil {
			return err
		}
		slices.Reverse(h.held)
	}
	if h.first > last {
		return nil
	}
	var fresh []HeldRange
	var r *HeldRange
	err := db.EachBalance(ctx, c.Row.ID, half, h.first, last, func(a *store.AccountBalance) {
		if owner := common.BytesToAddress(a.Address); r == nil || r.Owner != owner {
			at, found := slices.BinarySearchFunc(h.held, owner, func(r HeldRange, owner common.Address) int { return r.Owner.Cmp(owner) })
			if found {
				r = &h.held[at]
			} else {
				fresh = append(fresh, HeldRange{Owner: owner})
				r = &fresh[len(fresh)-1]
			}
		}
		h.set(r, a.Block, new(uint256.Int).SetBytes(a.Balance))
	})
	h.held = append(h.held, fresh...)
	return err
}

// TokenHolders does the same for a token; it counts NFTs.
func TokenHolders(ctx context.Context, db *store.DB, c *reader.Chain, token *store.Token, first, last uint64, passes func(*HeldRange) bool) ([]common.Address, error) {
	owners, err := ownersOf(ctx, db, c, token, last)
	if err != nil {
		return nil, err
	}
	parts := slices.Collect(slices.Chunk(slices.SortedFunc(maps.Keys(owners), common.Address.Cmp), store.MostAmong))
	found := make([][]common.Address, len(parts))
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(runtime.GOMAXPROCS(0))
	for i, part := range parts {
		reading.Go(func() error {
			h := &holders{first: first}
			err := h.readToken(ctx, db, token, part, last)
			found[i] = h.of(passes)
			return err
		})
	}
	err = reading.Wait()
	return slices.Concat(found...), err
}

func (h *holders) readToken(ctx context.Context, db *store.DB, token *store.Token, owners []common.Address, last uint64) error {
	keys := make([][]byte, len(owners))
	for i := range owners {
		keys[i] = owners[i][:]
	}
	all, err := db.TokenBalancesAmong(ctx, keys, token.ID, last)
	for len(all) > 0 {
		owner, n := all[0].Owner, 1
		for n < len(all) && bytes.Equal(all[n].Owner, owner) {
			n++
		}
		h.held = append(h.held, h.rangeOf(owner, all[:n]))
		all = all[n:]
	}
	return err
}

// rangeOf returns an address's balance over the range of blocks from its rows, newest first within each item.
func (h *holders) rangeOf(owner []byte, rows []store.TokenBalance) HeldRange {
	slices.SortStableFunc(rows, func(a, b store.TokenBalance) int { return cmp.Compare(a.Block, b.Block) })
	items, sum, r := map[string]*uint256.Int{}, new(uint256.Int), HeldRange{Owner: common.BytesToAddress(owner)}
	for i := range rows {
		item := string(rows[i].Asset)
		if items[item] == nil {
			items[item] = new(uint256.Int)
		}
		sum.Sub(sum, items[item])
		sum.Add(sum, items[item].SetBytes(rows[i].Amount))
		if i+1 == len(rows) || rows[i+1].Block != rows[i].Block {
			h.set(&r, rows[i].Block, sum)
		}
	}
	return r
}

// wrappedEvents lists the topics by which a wrapped native token changes the balance of the address in them.
var wrappedEvents = []common.Hash{
	crypto.Keccak256Hash([]byte("Deposit(address,uint256)")), crypto.Keccak256Hash([]byte("Withdrawal(address,uint256)")),
}

// ownersOf returns the addresses in a token's logs up to a block, which include every past owner.
func ownersOf(ctx context.Context, db *store.DB, c *reader.Chain, token *store.Token, last uint64) (map[common.Address]bool, error) {
	owners := map[common.Address]bool{}
	err := db.EachTransferOfToken(ctx, token.ID, store.At(c.Row.ID, last, store.MaxIndex), func(t *store.Transfer) {
		owners[common.BytesToAddress(t.Sender)] = true
		owners[common.BytesToAddress(t.Recipient)] = true
	})
	if err != nil || token.ID.Standard() != store.ERC20 {
		return owners, err
	}
	wrapped := &reader.LogFilter{Addresses: []common.Address{common.BytesToAddress(token.Address)}, Topics: [][]common.Hash{wrappedEvents}}
	return owners, c.EachLog(ctx, wrapped, 0, last, func(_ store.Position, l *types.Log) {
		if len(l.Topics) == 2 {
			owners[common.BytesToAddress(l.Topics[1][:])] = true
		}
	})
}

// zeroAddress sends minted tokens and receives burned ones.
var zeroAddress = make([]byte, common.AddressLength)

// NetMinted returns a token's mints to each address less its burns from it, up to a chain's last block.
func NetMinted(ctx context.Context, db *store.DB, token *store.Token) (map[common.Address]*uint256.Int, error) {
	minted := map[common.Address]*uint256.Int{}
	err := db.EachTransferOfToken(ctx, token.ID, store.Last(token.ID.Chain()), func(t *store.Transfer) {
		owner, amount := common.BytesToAddress(t.Recipient), new(uint256.Int).SetBytes(t.Amount)
		switch {
		case bytes.Equal(t.Recipient, zeroAddress):
			owner = common.BytesToAddress(t.Sender)
			amount.Neg(amount)
		case !bytes.Equal(t.Sender, zeroAddress):
			return
		}
		if minted[owner] == nil {
			minted[owner] = new(uint256.Int)
		}
		minted[owner].Add(minted[owner], amount)
	})
	return minted, err
}
