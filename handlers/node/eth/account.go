package eth

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/state"

	"snowglobe/sim/evm"
)

// accountAPI implements eth methods about whole accounts, which no node of the network has: those of reth and anvil, and go-ethereum's
// internal/ethapi.BlockChainAPI.GetStorageValues.
type accountAPI struct{ *api }

// maxStorageValues is the maximum number of slots in one request, go-ethereum's own.
const maxStorageValues = 1_024

// limitError refuses a request that is larger than a limit (go-ethereum internal/ethapi.clientLimitExceededError).
type limitError string

func (e limitError) Error() string { return string(e) }
func (limitError) ErrorCode() int  { return -38026 }

// ParamsError rejects parameters.
type ParamsError string

func (e ParamsError) Error() string { return string(e) }
func (ParamsError) ErrorCode() int  { return -32602 }

// stateAccount is an account as it stands in the state trie.
type stateAccount struct {
	Nonce       hexutil.Uint64 `json:"nonce"`
	Balance     *hexutil.U256  `json:"balance"`
	StorageRoot common.Hash    `json:"storageRoot"`
	CodeHash    common.Hash    `json:"codeHash"`
}

// GetAccount returns an account as the state trie has it: its nonce, its balance, and the hashes of its storage and code. An account that does
// not exist is empty. The pending state has no hashes, so pending means the last executed block.
func (a *accountAPI) GetAccount(ctx context.Context, address common.Address, ref *BlockRef) (*stateAccount, error) {
	if ref != nil && ref.Pending() {
		ref = nil
	}
	b, err := a.executedBlock(ctx, ref)
	if err != nil {
		return nil, err
	}
	account, err := a.chain.Account(ctx, b, address)
	if err != nil {
		return nil, err
	}
	return &stateAccount{hexutil.Uint64(account.Nonce), (*hexutil.U256)(account.Balance), account.Root, common.BytesToHash(account.CodeHash)}, nil
}

// AccountInfo is an account with its code.
type AccountInfo struct {
	Balance *hexutil.U256  `json:"balance"`
	Nonce   hexutil.Uint64 `json:"nonce"`
	Code    hexutil.Bytes  `json:"code"`
}

// AccountInfoOf describes an account in a state.
func AccountInfoOf(states *state.StateDB, address common.Address) (*AccountInfo, error) {
	info := &AccountInfo{(*hexutil.U256)(states.GetBalance(address).Clone()), hexutil.Uint64(states.GetNonce(address)), states.GetCode(address)}
	return info, evm.Fault(states)
}

// GetAccountInfo returns an account's balance, nonce and code.
func (a *accountAPI) GetAccountInfo(ctx context.Context, address common.Address, ref *BlockRef) (*AccountInfo, error) {
	states, err := a.state(ctx, ref)
	if err != nil {
		return nil, err
	}
	return AccountInfoOf(states, address)
}

// GetStorageValues returns the values of slots of several accounts, in the order of the request.
func (a *accountAPI) GetStorageValues(ctx context.Context, slots map[common.Address][]string, ref *BlockRef) (map[common.Address][]hexutil.Bytes, error) {
	total := 0
	for _, keys := range slots {
		total += len(keys)
	}
	switch {
	case total == 0:
		return nil, ParamsError("empty request")
	case total > maxStorageValues:
		return nil, limitError(fmt.Sprintf("too many slots (max %d)", maxStorageValues))
	}
	b, err := a.executedBlock(ctx, ref)
	if err != nil {
		return nil, err
	}
	values := make(map[common.Address][]hexutil.Bytes, len(slots))
	for address, keys := range slots {
		all := make([]hexutil.Bytes, len(keys))
		for i, text := range keys {
			key, _, err := slotKey(text)
			if err != nil {
				return nil, ParamsError(fmt.Sprintf("%v: %q", err, text))
			}
			value, err := a.chain.Slot(ctx, b, address, key)
			if err != nil {
				return nil, err
			}
			all[i] = value[:]
		}
		values[address] = all
	}
	return values, nil
}
