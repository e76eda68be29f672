package evm

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/params"

	"snowglobe/sim/store"
)

// Chain is one EVM chain of a world as readers see it: it is stateless beside the file, and safe for many at once.
type Chain struct {
	Row     store.Chain
	Kind    Kind
	Genesis *Genesis

	db     *store.DB
	rules  *params.ChainConfig
	fees   fees
	signer types.Signer
}

// NewChain is the reading side of a chain.
func NewChain(db *store.DB, row store.Chain) (*Chain, error) {
	genesis, err := ParseGenesis(row.Genesis)
	if err != nil {
		return nil, fmt.Errorf("chain %d: %w", row.ID, err)
	}
	c := &Chain{Row: row, Kind: genesis.Kind, Genesis: genesis, db: db, rules: genesis.rules()}
	c.fees = fees{kind: genesis.Kind, config: genesis.FeeConfig}
	c.signer = types.LatestSigner(c.rules)
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
