package eth

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
)

// stateAPI implements the eth methods about accounts at any block: coreth's internal/ethapi.BlockChainAPI.
type stateAPI struct{ *api }

// maxProofKeys is the maximum number of slots in one proof, go-ethereum's own; the network's nodes have none.
const maxProofKeys = 1_024

// proofBlock finds the block of a proof. A pruning node proves only the newest blocks, and reports a missing block in terms of that rule
// (coreth internal/ethapi.BlockChainAPI.stateQueryBlockNumberAllowed).
func (a *stateAPI) proofBlock(ctx context.Context, ref BlockRef) (*reader.Block, error) {
	if ref.Hash == nil && ref.Number == pending {
		ref.Number = Latest // the pending state has no root
	}
	b, err := a.executedBlock(ctx, &ref)
	switch {
	case ref.Unnamed():
		err = errors.New("historical proof query not allowed: block number or hash not provided")
	case errors.Is(err, ErrHash):
		err = fmt.Errorf("historical proof query not allowed: block from hash %s doesn't exist", ref.Hash)
	}
	return b, err
}

// state returns the state after a block.
func (a *api) state(ctx context.Context, ref *BlockRef) (*state.StateDB, error) {
	b, err := a.executedBlock(ctx, ref)
	if err != nil {
		return nil, err
	}
	return a.chain.State(ctx, b)
}

func (a *api) account(ctx context.Context, address common.Address, ref BlockRef) (*types.StateAccount, error) {
	b, err := a.executedBlock(ctx, &ref)
	if err != nil {
		return nil, err
	}
	return a.chain.Account(ctx, b, address)
}

// GetBalance returns an account's balance in wei.
func (a *stateAPI) GetBalance(ctx context.Context, address common.Address, ref BlockRef) (*hexutil.U256, error) {
	account, err := a.account(ctx, address, ref)
	if err != nil {
		return nil, err
	}
	return (*hexutil.U256)(account.Balance), nil
}

// GetTransactionCount returns an account's next nonce. For pending it asks the pool, which also counts transactions that do not fit into
// the next block.
func (a *stateAPI) GetTransactionCount(ctx context.Context, address common.Address, ref BlockRef) (hexutil.Uint64, error) {
	if ref.Hash == nil && ref.Number == pending {
		nonce, err := a.miner.Nonce(ctx, address)
		return hexutil.Uint64(nonce), err
	}
	account, err := a.account(ctx, address, ref)
	if err != nil {
		return 0, err
	}
	return hexutil.Uint64(account.Nonce), nil
}

// GetCode returns a contract's code.
func (a *stateAPI) GetCode(ctx context.Context, address common.Address, ref BlockRef) (hexutil.Bytes, error) {
	states, err := a.state(ctx, &ref)
	if err != nil {
		return nil, err
	}
	code := hexutil.Bytes(states.GetCode(address))
	return code, evm.Fault(states)
}

// GetStorageAt returns the value of a storage slot.
func (a *stateAPI) GetStorageAt(ctx context.Context, address common.Address, slot string, ref BlockRef) (hexutil.Bytes, error) {
	b, err := a.executedBlock(ctx, &ref)
	if err != nil {
		return nil, err
	}
	key, _, err := slotKey(slot)
	if err != nil {
		return nil, fmt.Errorf("unable to decode storage key: %w", err)
	}
	value, err := a.chain.Slot(ctx, b, address, key)
	return value[:], err
}

// slotKey reads a slot's number, with or without leading zeros; whole reports whether it had all 64 digits (coreth
// internal/ethapi.decodeHash).
func slotKey(text string) (key common.Hash, whole bool, err error) {
	digits := strings.TrimPrefix(strings.TrimPrefix(text, "0x"), "0X")
	if len(digits)%2 == 1 {
		digits = "0" + digits
	}
	raw, err := hex.DecodeString(digits)
	if err != nil {
		return key, false, errors.New("hex string invalid")
	}
	if len(raw) > common.HashLength {
		return key, false, fmt.Errorf("hex string too long, want at most %d bytes", common.HashLength)
	}
	return common.BytesToHash(raw), len(raw) == common.HashLength, nil
}

// accountProof is an account with the proof of its state.
type accountProof struct {
	Address      common.Address `json:"address"`
	AccountProof []string       `json:"accountProof"`
	Balance      *hexutil.U256  `json:"balance"`
	CodeHash     common.Hash    `json:"codeHash"`
	Nonce        hexutil.Uint64 `json:"nonce"`
	StorageHash  common.Hash    `json:"storageHash"`
	StorageProof []slotProof    `json:"storageProof"`
}

type slotProof struct {
	Key   string        `json:"key"`
	Value *hexutil.U256 `json:"value"`
	Proof []string      `json:"proof"`
}

// GetProof returns an account and some of its slots, with proofs against the block's state root (coreth internal/ethapi.BlockChainAPI.GetProof).
func (a *stateAPI) GetProof(ctx context.Context, address common.Address, slots []string, ref BlockRef) (*accountProof, error) {
	if len(slots) > maxProofKeys {
		return nil, fmt.Errorf("too many keys (max %d)", maxProofKeys)
	}
	b, missing := a.proofBlock(ctx, ref)
	if missing != nil && !Missing(missing) {
		return nil, missing
	}
	keys := make([]common.Hash, len(slots))
	names := make([]string, len(slots))
	for i, slot := range slots {
		key, whole, err := slotKey(slot)
		if err != nil {
			return nil, err
		}
		keys[i], names[i] = key, key.Hex()
		if !whole {
			names[i] = hexutil.EncodeBig(key.Big())
		}
	}
	if missing != nil {
		return nil, missing
	}
	proof, err := a.chain.Prove(ctx, b, address, keys)
	if err != nil {
		return nil, err
	}
	return accountProofOf(address, names, proof), nil
}

func accountProofOf(address common.Address, names []string, p *reader.Proof) *accountProof {
	account := p.Account
	if account == nil { // without hashes
		account = &types.StateAccount{Balance: new(uint256.Int)}
	}
	answer := &accountProof{
		Address: address, AccountProof: hexes(p.Nodes), Balance: (*hexutil.U256)(account.Balance),
		CodeHash: common.BytesToHash(account.CodeHash), Nonce: hexutil.Uint64(account.Nonce),
		StorageHash: account.Root, StorageProof: make([]slotProof, len(names)),
	}
	for i, slot := range p.Slots {
		value := (*hexutil.U256)(new(uint256.Int).SetBytes(slot.Value[:]))
		answer.StorageProof[i] = slotProof{names[i], value, hexes(slot.Nodes)}
	}
	return answer
}

func hexes(nodes [][]byte) []string {
	texts := make([]string, len(nodes))
	for i, node := range nodes {
		texts[i] = hexutil.Encode(node)
	}
	return texts
}
