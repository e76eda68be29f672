package evm

import (
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/lru"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
)

// Sizes of what a chain keeps at hand for readers. History never changes, so nothing here ever goes stale.
const (
	cachedBlocks    = 128
	cachedAccounts  = 1_024
	cachedSlots     = 4_096
	cachedCode      = 1 << 20 // bytes
	cachedBitVector = 128 << 10
)

type accountAt struct {
	block   uint64
	address common.Address
}

type slotAt struct {
	accountAt
	key common.Hash
}

// cache is what readers of a chain share.
type cache struct {
	blocks   *lru.Cache[uint64, *Block]
	accounts *lru.Cache[accountAt, *types.StateAccount]
	slots    *lru.Cache[slotAt, common.Hash]
	codes    *lru.SizeConstrainedCache[common.Hash, []byte]
	jumps    jumps

	proof sync.Mutex // guards the next two: a trie is not safe for many at once
	tree  state.Trie
	of    uint64 // the block that tree belongs to
}

func newCache() *cache {
	return &cache{
		blocks:   lru.NewCache[uint64, *Block](cachedBlocks),
		accounts: lru.NewCache[accountAt, *types.StateAccount](cachedAccounts),
		slots:    lru.NewCache[slotAt, common.Hash](cachedSlots),
		codes:    lru.NewSizeConstrainedCache[common.Hash, []byte](cachedCode),
		jumps:    newJumps(),
	}
}

// jumps keeps the analysis of jump destinations of hot code.
type jumps struct {
	*lru.SizeConstrainedCache[common.Hash, vm.BitVec]
}

func newJumps() jumps {
	return jumps{lru.NewSizeConstrainedCache[common.Hash, vm.BitVec](cachedBitVector)}
}

// Load is vm.JumpDestCache.
func (j jumps) Load(hash common.Hash) (vm.BitVec, bool) { return j.Get(hash) }

// Store is vm.JumpDestCache.
func (j jumps) Store(hash common.Hash, vector vm.BitVec) { j.Add(hash, vector) }
