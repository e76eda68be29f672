package reader

import (
	"context"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/triedb"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/index"
	"snowglobe/sim/store"
)

// historicalState is the flat state after one block, read through the chain's cache.
type historicalState struct {
	evm.FlatState
	block   uint64
	changes uint64
	*history
}

var _ state.Reader = historicalState{}

// State returns the state after a block. Callers may change it freely: nothing of it is ever written.
func (c *Chain) State(ctx context.Context, b *Block) (*state.StateDB, error) {
	if b.draft != nil {
		return b.draft.copyState(), nil
	}
	return state.New(b.Results.Root, readOnlyState{c.historicalState(ctx, b)})
}

// Account returns the nonce and the balance of an account after a block.
func (c *Chain) Account(ctx context.Context, b *Block, address common.Address) (*types.StateAccount, error) {
	if b.draft != nil {
		states := b.draft.copyState()
		return &types.StateAccount{Nonce: states.GetNonce(address), Balance: states.GetBalance(address)}, evm.Fault(states)
	}
	account, err := c.historicalState(ctx, b).Account(address)
	if account == nil {
		account = types.NewEmptyStateAccount()
	}
	return account, err
}

// Slot returns the value of a slot after a block.
func (c *Chain) Slot(ctx context.Context, b *Block, address common.Address, key common.Hash) (common.Hash, error) {
	key = evm.StateKey(c.Kind, key)
	if b.draft != nil {
		states := b.draft.copyState()
		return states.GetState(address, key), evm.Fault(states)
	}
	return c.historicalState(ctx, b).Storage(address, key)
}

func (c *Chain) historicalState(ctx context.Context, b *Block) historicalState {
	// A read of one row is short; without cancellation the driver needs no goroutine to watch for it.
	ctx = context.WithoutCancel(ctx)
	return historicalState{evm.NewFlatState(ctx, c.db, c.Row.ID, b.Number), b.Number, c.Changes.Load(), c.history}
}

func (p historicalState) Account(address common.Address) (*types.StateAccount, error) {
	account, err := p.account(address)
	if account == nil {
		return nil, err
	}
	return account.Copy(), nil
}

// account returns an account that other readers share.
func (p historicalState) account(address common.Address) (*types.StateAccount, error) {
	at := accountKey{p.changes, p.block, address}
	account, known := p.accounts.Get(at)
	if known {
		return account, nil
	}
	account, err := p.FlatState.Account(address)
	if err == nil {
		p.accounts.Add(at, account)
	}
	return account, err
}

// After readsAlone slots, a contract's storage is read as a whole, unless it has more than storageRows rows: reading these takes about as long.
const (
	readsAlone  = 64
	storageRows = 1_024
)

func (p historicalState) Storage(address common.Address, key common.Hash) (common.Hash, error) {
	account, err := p.account(address)
	if err != nil || account == nil || account.Root == types.EmptyRootHash {
		return common.Hash{}, err
	}
	all := storageKey{p.changes, account.Root}
	whole, counted := p.storages.Get(all)
	if counted && whole.slots != nil {
		return whole.slots[key], nil
	}
	at := slotKey{accountKey{p.changes, p.block, address}, key}
	if value, known := p.slots.Get(at); known {
		return value, nil
	}
	if !counted {
		p.storages.Add(all, new(storage))
	} else if whole.reads.Add(1) == readsAlone {
		slots, err := p.FlatState.Slots(address, storageRows)
		if err != nil {
			return common.Hash{}, err
		}
		if slots != nil {
			p.storages.Add(all, &storage{slots: slots})
			return slots[key], nil
		}
	}
	value, err := p.FlatState.Storage(address, key)
	if err == nil {
		p.slots.Add(at, value)
	}
	return value, err
}

func (p historicalState) Code(address common.Address, hash common.Hash) []byte {
	code, known := p.codes.Get(hash)
	if !known {
		if code = p.FlatState.Code(address, hash); len(code) > 0 {
			p.codes.Add(hash, code)
		}
	}
	return code
}

func (p historicalState) CodeSize(address common.Address, hash common.Hash) int {
	return len(p.Code(address, hash))
}

func (p historicalState) Has(address common.Address, hash common.Hash) bool {
	return p.CodeSize(address, hash) > 0
}

// readOnlyState is a state database at one block that refuses writes.
type readOnlyState struct{ reader state.Reader }

var _ state.Database = readOnlyState{}

func (f readOnlyState) Type() state.DatabaseType                     { return state.TypeMPT }
func (f readOnlyState) Reader(common.Hash) (state.Reader, error)     { return f.reader, nil }
func (f readOnlyState) Iteratee(common.Hash) (state.Iteratee, error) { return nil, evm.ErrFlatState }
func (f readOnlyState) OpenTrie(common.Hash) (state.Trie, error)     { return nil, evm.ErrFlatState }
func (f readOnlyState) TrieDB() *triedb.Database                     { return nil }
func (f readOnlyState) Commit(*state.StateUpdate) error              { return evm.ErrFlatState }

func (f readOnlyState) OpenStorageTrie(common.Hash, common.Address, common.Hash, state.Trie) (state.Trie, error) {
	return nil, evm.ErrFlatState
}

// Holdings reads the tokens in the file after a block.
func (c *Chain) Holdings(ctx context.Context, block uint64) index.Holdings {
	return holdings{context.WithoutCancel(ctx), c, block}
}

type holdings struct {
	ctx   context.Context
	chain *Chain
	block uint64
}

func (h holdings) Token(id store.TokenID) (*store.Token, error) { return h.chain.db.Token(h.ctx, id) }

func (h holdings) TokenBalances(id store.TokenID) ([]store.TokenBalance, error) {
	return h.chain.db.TokenBalances(h.ctx, id, h.block, index.MaxHoldings)
}

func (h holdings) NFTStates(id store.TokenID) ([]store.NFTState, error) {
	return h.chain.db.NFTStates(h.ctx, id, store.At(h.chain.Row.ID, h.block, 0), index.MaxHoldings)
}

// NoncesSet reports whether any nonce was changed without a transaction, in which case a nonce below the account's may never have been
// used.
func (l *Ledger) NoncesSet(ctx context.Context) (bool, error) { return l.db.NoncesSet(ctx, l.Row.ID) }
