package reader

import (
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/cache"
	"snowglobe/sim/evm"
)

type accountKey struct {
	changes uint64 // Chain.changes when the state was opened
	block   uint64
	address common.Address
}

type slotKey struct {
	accountKey
	key common.Hash
}

// history is what readers of a chain share. Blocks never change. The state after the newest one may without a block: what is kept
// of states is of so many such changes, and is not asked for after the next.
type history struct {
	blocks    *cache.Cache[uint64, *Block]
	accounts  *cache.Cache[accountKey, *types.StateAccount]
	slots     *cache.Cache[slotKey, common.Hash]
	codes     *cache.Cache[common.Hash, []byte]
	jumpDests evm.JumpDestCache

	proofLock    sync.Mutex // guards the next three: a trie is not safe for many at once
	proofTrie    *evm.Trie
	proofBlock   uint64 // the block that tree belongs to,
	proofChanges uint64 // and Chain.changes then
}

func newHistory(g *cache.Group) *history {
	return &history{
		blocks:    cache.New[uint64, *Block](g),
		accounts:  cache.New[accountKey, *types.StateAccount](g),
		slots:     cache.New[slotKey, common.Hash](g),
		codes:     cache.New[common.Hash, []byte](nil),
		jumpDests: evm.NewJumpDestCache(),
	}
}
