package mpt

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// List hashes the transactions or receipts of a block for types.DeriveSha, one list after another. Its trie is keyed by indexes in RLP.
// None begins with another, so each can stand for a hash padded with zeros.
type List struct{ trie Trie }

var _ types.ListHasher = (*List)(nil)

// NewList returns an empty list.
func NewList() *List { return &List{Trie{indexes: true}} }

// Reset empties the list and keeps its memory.
func (l *List) Reset() {
	l.trie.drop(l.trie.root)
	l.trie.root = none
}

// Update adds a copy of a value.
func (l *List) Update(index, value []byte) error {
	var key common.Hash
	copy(key[:], index)
	return l.trie.Put(key, value)
}

// Hash returns the root.
func (l *List) Hash() common.Hash { return l.trie.Hash() }

// indexSize returns the number of bytes of an RLP index that starts with this byte.
func indexSize(first byte) int {
	if first <= emptyString { // a small one is a byte of its own, and 0 an empty string
		return 1
	}
	return 1 + int(first-emptyString)
}
