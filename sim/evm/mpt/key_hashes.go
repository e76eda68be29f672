package mpt

import (
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// KeyHashes caches the hashes of addresses and of 32-byte words that a chain hashed lately: blocks change the same accounts and slots again
// and again, and a block hashes each several times, for its tries, the rows of its state and the blooms of its logs.
type KeyHashes struct {
	mu        sync.Mutex // hashing a block changes storage tries concurrently
	addresses map[common.Address]common.Hash
	words     map[common.Hash]common.Hash
}

// mostHashes bounds the cache for each kind, to a megabyte or two.
const mostHashes = 1 << 13

// NewKeyHashes returns an empty cache.
func NewKeyHashes() *KeyHashes {
	return &KeyHashes{addresses: map[common.Address]common.Hash{}, words: map[common.Hash]common.Hash{}}
}

// Address returns the hash of an address.
func (k *KeyHashes) Address(a common.Address) common.Hash {
	k.mu.Lock()
	defer k.mu.Unlock()
	return remember(k.addresses, a, a[:])
}

// Word returns the hash of 32 bytes.
func (k *KeyHashes) Word(w common.Hash) common.Hash {
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
