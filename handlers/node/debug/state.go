package debug

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/handlers/node/eth"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// stateAPI implements the methods about whole states: coreth's eth.DebugAPI.
type stateAPI struct{ *api }

// dumpedAccounts is the maximum number of accounts in one response (coreth eth.AccountRangeMaxResults).
const dumpedAccounts = 256

// dump is a state or a part of one (libevm's state.Dump).
type dump struct {
	Root     string                   `json:"root"`
	Accounts map[string]dumpedAccount `json:"accounts"`
	Next     []byte                   `json:"next,omitempty"` // base64
}

type dumpedAccount struct {
	Balance  string                 `json:"balance"`
	Nonce    uint64                 `json:"nonce"`
	Root     hexutil.Bytes          `json:"root"`
	CodeHash hexutil.Bytes          `json:"codeHash"`
	Code     hexutil.Bytes          `json:"code,omitempty"`
	Storage  map[common.Hash]string `json:"storage,omitempty"`
	Address  common.Address         `json:"address"`
	Key      hexutil.Bytes          `json:"key"`
}

// DumpBlock returns the first accounts of the state after a block.
func (a *stateAPI) DumpBlock(ctx context.Context, number eth.BlockNumber) (*dump, error) {
	b, err := eth.ExecutedBlockOf(ctx, a.miner, eth.Numbered(number))
	if eth.Missing(err) {
		return nil, fmt.Errorf("block #%d not found", number)
	}
	if err != nil {
		return nil, err
	}
	return a.dump(ctx, b, nil, dumpedAccounts, false, false)
}

// AccountRange returns accounts of the state after a block, starting at a hash.
func (a *stateAPI) AccountRange(ctx context.Context, ref eth.BlockRef, start hexutil.Bytes, limit int, noCode, noStorage, incomplete bool) (*dump, error) {
	b, err := eth.ExecutedBlockOf(ctx, a.miner, &ref)
	switch {
	case ref.Unnamed():
		return nil, errors.New("either block number or block hash must be specified")
	case eth.Missing(err):
		return nil, fmt.Errorf("block #%d not found", ref.Number)
	case errors.Is(err, eth.ErrHash):
		return nil, fmt.Errorf("block %s not found", ref.Hash.Hex())
	case err != nil:
		return nil, err
	}
	if limit <= 0 || limit > dumpedAccounts {
		limit = dumpedAccounts
	}
	return a.dump(ctx, b, start, limit, noCode, noStorage)
}

func (a *stateAPI) dump(ctx context.Context, b *reader.Block, start []byte, limit int, noCode, noStorage bool) (*dump, error) {
	page, next, err := a.chain.Accounts(ctx, b, start, limit)
	if err != nil {
		return nil, err
	}
	all := &dump{Root: fmt.Sprintf("%x", b.Results.Root), Accounts: make(map[string]dumpedAccount, len(page)), Next: next}
	for _, account := range page {
		shown := dumpedAccount{Balance: account.Balance.Dec(), Nonce: account.Nonce, Root: account.Root[:], CodeHash: account.Code[:],
			Address: account.Address, Key: account.Hash[:]}
		if !noCode {
			if shown.Code, err = a.chain.Code(ctx, account.Code); err != nil {
				return nil, err
			}
		}
		if !noStorage && account.Root != types.EmptyRootHash {
			slots, err := a.chain.Slots(ctx, b, account.Address)
			if err != nil {
				return nil, err
			}
			shown.Storage = make(map[common.Hash]string, len(slots))
			for _, s := range slots {
				shown.Storage[s.Key] = common.Bytes2Hex(common.TrimLeftZeroes(s.Value[:]))
			}
		}
		all.Accounts[account.Address.Hex()] = shown
	}
	return all, nil
}

// storageRange is a part of a contract's storage (eth.StorageRangeResult).
type storageRange struct {
	Storage map[common.Hash]storageEntry `json:"storage"`
	NextKey *common.Hash                 `json:"nextKey"`
}

type storageEntry struct {
	Key   *common.Hash `json:"key"`
	Value common.Hash  `json:"value"`
}

// StorageRangeAt returns a contract's slots, starting at a hash, as they were before a transaction of a block.
func (a *stateAPI) StorageRangeAt(ctx context.Context, ref eth.BlockRef, index int, address common.Address, start hexutil.Bytes, limit int) (*storageRange, error) {
	b, err := eth.ExecutedBlockOf(ctx, a.miner, &ref)
	if err != nil {
		return nil, err
	}
	slots, err := a.chain.SlotsBefore(ctx, b, index, address)
	if err != nil || len(slots) == 0 {
		return &storageRange{}, err
	}
	answer := &storageRange{Storage: map[common.Hash]storageEntry{}}
	at, _ := slices.BinarySearchFunc(slots, start, func(s reader.StateSlot, start hexutil.Bytes) int { return slices.Compare(s.Hash[:], start) })
	for i, s := range slots[at:] {
		if i >= limit {
			answer.NextKey = &slots[at+i].Hash
			break
		}
		answer.Storage[s.Hash] = storageEntry{&slots[at+i].Key, s.Value}
	}
	return answer, nil
}

// GetModifiedAccountsByNumber returns the accounts that changed after one block and up to another, or in one block.
func (a *stateAPI) GetModifiedAccountsByNumber(ctx context.Context, start uint64, end *uint64) ([]common.Address, error) {
	first, err := a.chain.Block(ctx, start)
	if eth.Missing(err) {
		return nil, fmt.Errorf("start block %x not found", start)
	}
	if err != nil || end == nil {
		return a.modified(ctx, first, nil, err)
	}
	last, err := a.chain.Block(ctx, *end)
	if eth.Missing(err) {
		return nil, fmt.Errorf("end block %d not found", *end)
	}
	return a.modified(ctx, first, last, err)
}

// GetModifiedAccountsByHash returns the accounts that changed after one block and up to another, or in one block, with blocks named by hash.
func (a *stateAPI) GetModifiedAccountsByHash(ctx context.Context, start common.Hash, end *common.Hash) ([]common.Address, error) {
	first, err := a.chain.BlockByHash(ctx, start)
	if errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("start block %x not found", start)
	}
	if err != nil || end == nil {
		return a.modified(ctx, first, nil, err)
	}
	last, err := a.chain.BlockByHash(ctx, *end)
	if errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("end block %x not found", *end)
	}
	return a.modified(ctx, first, last, err)
}

// modified compares the states after two blocks; without the second, the states before and after the first.
func (a *stateAPI) modified(ctx context.Context, first, last *reader.Block, err error) ([]common.Address, error) {
	if err != nil {
		return nil, err
	}
	if last == nil {
		if last = first; last.Number == 0 {
			return nil, fmt.Errorf("block %x has no parent", last.Number)
		}
		if first, err = a.chain.Block(ctx, last.Number-1); err != nil {
			return nil, err
		}
	}
	if first.Number >= last.Number {
		return nil, fmt.Errorf("start block height (%d) must be less than end block height (%d)", first.Number, last.Number)
	}
	return a.chain.ModifiedAccounts(ctx, first, last)
}

// GetAccessibleState returns the first block of a range with an available state: the first, because every block has one.
func (a *stateAPI) GetAccessibleState(ctx context.Context, from, to eth.BlockNumber) (uint64, error) {
	head, err := a.chain.Head(ctx)
	if err != nil {
		return 0, err
	}
	start, end := uint64(from), uint64(to)
	if from < 0 {
		start = head.Number
	}
	if to < 0 {
		end = head.Number
	}
	switch {
	case start == end:
		return 0, errors.New("from and to needs to be different")
	case start > head.Number:
		return 0, fmt.Errorf("missing header %d", start)
	}
	return start, nil
}

// Preimage finds nothing: by default, a node keeps no preimages.
func (a *stateAPI) Preimage(common.Hash) (hexutil.Bytes, error) {
	return nil, errors.New("unknown preimage")
}

// GetBadBlocks returns an empty list, as eth_getBadBlocks does.
func (a *stateAPI) GetBadBlocks() []any { return []any{} }
