package evm

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/event"
	"github.com/ethereum/go-ethereum/params"

	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/store"
)

// Chain is one EVM chain of a world as readers see it: beside the file it holds the head and caches only, and it is safe
// for many at once.
type Chain struct {
	Row     store.Chain
	Kind    Kind
	Genesis *Genesis
	Limits  Limits
	Now     func() int64 // the world's clock, Unix seconds; nil for one that stands at the head
	Home    Home

	db       *store.DB
	rules    *params.ChainConfig
	schedule *precompile.Schedule
	signer   types.Signer

	head  atomic.Pointer[Block]
	feed  event.FeedOf[*News]
	tip   atomic.Pointer[suggestion]
	cache *cache
	slots chan struct{} // one for each execution under way
}

// NewChain is the reading side of a chain.
func NewChain(db *store.DB, row store.Chain) (*Chain, error) {
	genesis, err := ParseGenesis(Kind(row.Kind), row.Genesis, row.Upgrades)
	if err != nil {
		return nil, fmt.Errorf("chain %d: %w", row.ID, err)
	}
	c := &Chain{Row: row, Kind: genesis.Kind, Genesis: genesis, Limits: DefaultLimits(), db: db, rules: genesis.rules(), schedule: &genesis.Schedule}
	c.signer = types.LatestSigner(c.rules)
	c.cache = newCache()
	c.slots = make(chan struct{}, executions)
	return c, nil
}

// accountTrie makes the state trie after a block, from the flat rows.
func (c *Chain) accountTrie(ctx context.Context, block uint64) (*memoryTrie, error) {
	rows, err := c.db.AccountsAt(ctx, c.Row.ID, block)
	if err != nil {
		return nil, err
	}
	tree := newMemoryTrie(c.Kind)
	for i := range rows {
		if rows[i].Gone {
			continue
		}
		if err := tree.UpdateAccount(common.BytesToAddress(rows[i].Address), stateAccount(&rows[i]), 0); err != nil {
			return nil, err
		}
	}
	return tree, nil
}

// storageTrie makes the storage trie of a contract after a block, from the flat rows.
func (c *Chain) storageTrie(ctx context.Context, address common.Address, block uint64) (*memoryTrie, error) {
	rows, err := c.db.SlotsAt(ctx, c.Row.ID, address[:], block)
	if err != nil {
		return nil, err
	}
	tree := newMemoryTrie(c.Kind)
	for i := range rows {
		if len(rows[i].Value) == 0 {
			continue
		}
		if err := tree.UpdateStorage(address, rows[i].Key, rows[i].Value); err != nil {
			return nil, err
		}
	}
	return tree, nil
}

// slotKeys are the keys of a contract's slots that hold something after a block.
func (c *Chain) slotKeys(ctx context.Context, address common.Address, block uint64) ([]common.Hash, error) {
	rows, err := c.db.SlotsAt(ctx, c.Row.ID, address[:], block)
	var keys []common.Hash
	for i := range rows {
		if len(rows[i].Value) > 0 {
			keys = append(keys, common.BytesToHash(rows[i].Key))
		}
	}
	return keys, err
}
