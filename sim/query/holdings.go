package query

import (
	"bytes"
	"context"
	"sort"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/cache"
	"snowglobe/sim/store"
)

// Holdings reads owners' ERC-20 balances after any block. From the second question about an owner on, it caches the whole history if that
// is short: a chart asks about one owner after many blocks.
type Holdings struct {
	db   *store.DB
	kept *cache.Cache[holdingsKey, *holdingHistory]
}

// NewHoldings opens the holdings of the world in a file.
func NewHoldings(db *store.DB) *Holdings {
	return &Holdings{db, cache.New[holdingsKey, *holdingHistory](db.Caches())}
}

type holdingsKey struct {
	owner common.Address
	chain int
}

// keptHistory bounds the changes in a cached history.
const keptHistory = 512

// holdingHistory is an owner's full ERC-20 history on a chain, and immutable.
type holdingHistory struct {
	commits int64 // of the file when it was read
	read    bool  // false for an owner who was asked about once
	long    bool  // too many changes to cache
	assets  []heldAsset
}

// heldAsset is an asset with its past balances, newest first.
type heldAsset struct {
	asset   store.AssetKey
	changes []heldAmount
}

type heldAmount struct {
	block  uint64
	amount []byte
}

// ERC20 reads at most limit ERC-20s that an address held after a block (MaxNumber for now), between two exclusive bounds of a chain's
// assets.
func (h *Holdings) ERC20(ctx context.Context, owner common.Address, chain int, after, before store.AssetKey, block uint64, limit int) ([]store.TokenBalanceView, error) {
	if block == store.MaxNumber {
		return h.db.ERC20Balances(ctx, owner[:], after, before, block, limit)
	}
	history, err := h.history(ctx, holdingsKey{owner, chain})
	if err != nil {
		return nil, err
	}
	if !history.read || history.long {
		return h.db.ERC20Balances(ctx, owner[:], after, before, block, limit)
	}
	return history.at(after, before, block, limit), nil
}

// history returns the cached history of an owner, if it is current.
func (h *Holdings) history(ctx context.Context, of holdingsKey) (*holdingHistory, error) {
	commits := h.db.Commits()
	before, asked := h.kept.Get(of)
	asked = asked && before.commits == commits
	if asked && before.read {
		return before, nil
	}
	now := &holdingHistory{commits: commits, read: asked}
	if asked {
		first, last := store.NewTokenID(of.chain, store.ERC20, 0), store.NewTokenID(of.chain, store.ERC20, store.MaxTokens)
		rows, err := h.db.HoldingHistory(ctx, of.owner[:], first.Asset(nil), last.Asset(nil), keptHistory+1)
		if err != nil {
			return nil, err
		}
		if now.long = len(rows) > keptHistory; !now.long {
			now.assets = heldAssets(rows)
		}
	}
	h.kept.Add(of, now)
	return now, nil
}

// heldAssets groups rows, which come by asset, newest first.
func heldAssets(rows []store.TokenBalance) (all []heldAsset) {
	for i := range rows {
		if n := len(all) - 1; n < 0 || !bytes.Equal(all[n].asset, rows[i].Asset) {
			all = append(all, heldAsset{asset: rows[i].Asset})
		}
		a := &all[len(all)-1]
		a.changes = append(a.changes, heldAmount{rows[i].Block, rows[i].Amount})
	}
	return all
}

// at returns the owner's balances after a block.
func (h *holdingHistory) at(after, before store.AssetKey, block uint64, limit int) (page []store.TokenBalanceView) {
	first := sort.Search(len(h.assets), func(i int) bool { return bytes.Compare(h.assets[i].asset, after) > 0 })
	for _, a := range h.assets[first:] {
		if len(page) == limit || bytes.Compare(a.asset, before) >= 0 {
			break
		}
		newest := sort.Search(len(a.changes), func(i int) bool { return a.changes[i].block <= block })
		if newest < len(a.changes) && len(a.changes[newest].amount) > 0 {
			page = append(page, store.TokenBalanceView{Asset: a.asset, Amount: a.changes[newest].amount})
		}
	}
	return page
}
