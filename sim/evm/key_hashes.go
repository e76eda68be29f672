package evm

import (
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// keyHashes remembers the hashes of addresses and of 32-byte words that a chain hashed lately: blocks change the same accounts and slots
// again and again, and a block hashes each several times, for its tries, the rows of its state and the blooms of its logs.
type keyHashes struct {
	mu        sync.Mutex // storage tries change at the same time while a block is hashed
	addresses map[common.Address]common.Hash
	words     map[common.Hash]common.Hash
}

// mostHashes is how many are remembered of each kind: a megabyte or two.
const mostHashes = 1 << 13

func newKeyHashes() *keyHashes {
	return &keyHashes{addresses: map[common.Address]common.Hash{}, words: map[common.Hash]common.Hash{}}
}

func (k *keyHashes) address(a common.Address) common.Hash {
	k.mu.Lock()
	defer k.mu.Unlock()
	return remember(k.addresses, a, a[:])
}

func (k *keyHashes) word(w common.Hash) common.Hash {
	k.mu.Lock()
	defer k.mu.Unlock()
	return remember(k.words, w, w[:])
}

func remember[K comparable](hashes map[K]common.Hash, key K, bytes []byte) common.Hash {
	hash, known := hashes[key]
	if !known {
		if len(hashes) >= mostHashes {
			clear(hashes)
		}
		hash = crypto.Keccak256Hash(bytes)
		hashes[key] = hash
	}
	return hash
}

// bloom is that of the logs of a transaction, as types.CreateBloom makes it.
func (k *keyHashes) bloom(logs []*types.Log) (b types.Bloom) {
	add := func(hash common.Hash) {
		for i := range 3 { // eleven bits of each pair of bytes say which bit of the bloom is set
			bit := (uint(hash[2*i])<<8 | uint(hash[2*i+1])) % types.BloomBitLength
			b[types.BloomByteLength-1-bit/8] |= 1 << (bit % 8)
		}
	}
	for _, log := range logs {
		add(k.address(log.Address))
		for _, topic := range log.Topics {
			add(k.word(topic))
		}
	}
	return b
}
