package query

import (
	"bytes"
	"cmp"
	"context"
	"runtime"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"
	"golang.org/x/sync/errgroup"

	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// HeldRange is how much an address held over a range of a chain's blocks.
type HeldRange struct {
	Owner                 common.Address
	Lowest, Highest, Last uint256.Int
}

// Holders is what addresses held of something from a block of a chain on: as it was before the block, and after each block that
// changed it.
type Holders struct {
	first uint64
	held  []HeldRange // by owner, once all are known
}

// set notes what an address held from a block on. Blocks of an owner come in order, and follow each other.
func (h *Holders) set(owner common.Address, block uint64, amount *uint256.Int) {
	if n := len(h.held); n == 0 || h.held[n-1].Owner != owner {
		h.held = append(h.held, HeldRange{Owner: owner})
	}
	h.held[len(h.held)-1].set(block < h.first, amount)
}

// set notes what is held from a block on.
func (r *HeldRange) set(before bool, amount *uint256.Int) {
	r.Last = *amount
	if before {
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

// sort puts the holders in the order of their addresses.
func (h *Holders) sort() {
	slices.SortFunc(h.held, func(a, b HeldRange) int { return a.Owner.Cmp(b.Owner) })
}

// Of are the addresses whose range passes, in order.
func (h *Holders) Of(passes func(*HeldRange) bool) []common.Address {
	var all []common.Address
	for i := range h.held {
		if passes(&h.held[i]) {
			all = append(all, h.held[i].Owner)
		}
	}
	return all
}

// mostRanges is how many ranges of accounts are read beside each other at most: others want connections too.
const mostRanges = 4

// NativeHolders are the holders of a chain's own token from one block to another, which may be the one before.
func NativeHolders(ctx context.Context, db *store.DB, c *reader.Chain, first, last uint64) (*Holders, error) {
	ranges := store.AddressRanges(min(runtime.GOMAXPROCS(0), mostRanges))
	parts := make([]Holders, len(ranges))
	group, ctx := errgroup.WithContext(ctx)
	for i, among := range ranges {
		parts[i].first = first
		group.Go(func() error { return parts[i].readNative(ctx, db, c, among, last) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	h := &Holders{first: first}
	for i := range parts {
		h.held = append(h.held, parts[i].held...)
	}
	return h, nil
}

// readNative reads the holders in a range of addresses.
func (h *Holders) readNative(ctx context.Context, db *store.DB, c *reader.Chain, among store.AddressRange, last uint64) error {
	set := func(a *store.AccountBalance) {
		h.set(common.BytesToAddress(a.Address), a.Block, new(uint256.Int).SetBytes(a.Balance))
	}
	if before := min(h.first, last+1); before > 0 {
		if err := db.EachBalanceBefore(ctx, c.Row.ID, among, before, set); err != nil {
			return err
		}
		slices.Reverse(h.held)
	}
	if h.first > last {
		return nil
	}
	known := h.held
	h.held = nil
	err := db.EachBalance(ctx, c.Row.ID, among, h.first, last, func(a *store.AccountBalance) {
		for len(known) > 0 && bytes.Compare(known[0].Owner[:], a.Address) <= 0 {
			h.held, known = append(h.held, known[0]), known[1:]
		}
		set(a)
	})
	h.held = append(h.held, known...)
	return err
}

// TokenHolders are the holders of a token, of NFTs by how many they have, of blocks as NativeHolders.
func TokenHolders(ctx context.Context, db *store.DB, c *reader.Chain, token *store.Token, first, last uint64) (*Holders, error) {
	owners, err := ownersOf(ctx, db, c, token, last)
	if err != nil {
		return nil, err
	}
	h := &Holders{first: first}
	for owner := range owners {
		rows, err := db.TokenBalancesOf(ctx, owner[:], token.ID, last)
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(rows, func(a, b store.TokenBalance) int { return cmp.Compare(a.Block, b.Block) })
		items, sum := map[string]*uint256.Int{}, new(uint256.Int)
		for i := range rows {
			item := string(rows[i].Asset)
			if items[item] == nil {
				items[item] = new(uint256.Int)
			}
			sum.Sub(sum, items[item])
			sum.Add(sum, items[item].SetBytes(rows[i].Amount))
			if i+1 == len(rows) || rows[i+1].Block != rows[i].Block {
				h.set(owner, rows[i].Block, sum)
			}
		}
	}
	h.sort()
	return h, nil
}

// wrappedEvents are the topics with which a wrapped native token changes what the address in them holds.
var wrappedEvents = []common.Hash{
	crypto.Keccak256Hash([]byte("Deposit(address,uint256)")), crypto.Keccak256Hash([]byte("Withdrawal(address,uint256)")),
}

// ownersOf are the addresses that a token's logs name up to a block: those who ever had some are among them.
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

// zeroAddress sends what is minted and receives what is burned.
var zeroAddress = make([]byte, common.AddressLength)

// NetMinted is what a token minted to each address without what it burned of it, up to a chain's last block.
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
