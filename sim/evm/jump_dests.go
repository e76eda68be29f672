package evm

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"

	"snowglobe/sim/cache"
)

// JumpDestCache keeps the analysis of jump destinations of hot code.
type JumpDestCache struct {
	*cache.Cache[common.Hash, vm.BitVec]
}

func NewJumpDestCache() JumpDestCache {
	return JumpDestCache{cache.New[common.Hash, vm.BitVec](nil)}
}

// Load is vm.JumpDestCache.
func (j JumpDestCache) Load(hash common.Hash) (vm.BitVec, bool) { return j.Get(hash) }

// Store is vm.JumpDestCache.
func (j JumpDestCache) Store(hash common.Hash, vector vm.BitVec) { j.Add(hash, vector) }
