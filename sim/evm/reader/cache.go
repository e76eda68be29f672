package reader

import (
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/lru"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/evm"
)

// Sizes of the caches of a chain. History never changes, so their entries never become invalid.
const (
	cachedBlocks   = 128
	cachedAccounts = 1_024
	cachedSlots    = 4_096
	cachedCode     = 1 << 20 // bytes
)

type accountKey struct {
	block   uint64
	address common.Address
}

type slotKey struct {
	accountKey
	key common.Hash
}

// cache is what readers of a chain share.
type cache struct {
	blocks    *lru.Cache[uint64, *Block]
	accounts  *lru.Cache[accountKey, *types.StateAccount]
	slots     *lru.Cache[slotKey, common.Hash]
	codes     *lru.SizeConstrainedCache[common.Hash, []byte]
	jumpDests evm.JumpDestCache

	proofLock  sync.Mutex // guards the next two: a trie is not safe for many at once
	proofTrie  state.Trie
	proofBlock uint64 // the block that tree belongs to
}

func newCache() *cache {
	return &cache{
		blocks:    lru.NewCache[uint64, *Block](cachedBlocks),
		accounts:  lru.NewCache[accountKey, *types.StateAccount](cachedAccounts),
		slots:     lru.NewCache[slotKey, common.Hash](cachedSlots),
		codes:     lru.NewSizeConstrainedCache[common.Hash, []byte](cachedCode),
		jumpDests: evm.NewJumpDestCache(),
	}
}
