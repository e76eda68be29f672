package evm

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/lru"
	"github.com/ethereum/go-ethereum/core/vm"
)

// cachedBitVector is how many bytes of analysed code a cache keeps.
const cachedBitVector = 128 << 10

// JumpDestCache keeps the analysis of jump destinations of hot code.
type JumpDestCache struct {
	*lru.SizeConstrainedCache[common.Hash, vm.BitVec]
}

func NewJumpDestCache() JumpDestCache {
	return JumpDestCache{lru.NewSizeConstrainedCache[common.Hash, vm.BitVec](cachedBitVector)}
}

// Load is vm.JumpDestCache.
func (j JumpDestCache) Load(hash common.Hash) (vm.BitVec, bool) { return j.Get(hash) }

// Store is vm.JumpDestCache.
func (j JumpDestCache) Store(hash common.Hash, vector vm.BitVec) { j.Add(hash, vector) }
