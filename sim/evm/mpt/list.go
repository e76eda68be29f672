package mpt

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// List hashes the transactions or receipts of a block for types.DeriveSha, one list after another. Its trie has the indexes in RLP for keys,
// of which none begins with another, so that each can stand for a hash that goes on with zeros.
type List struct{ trie Trie }

var _ types.ListHasher = (*List)(nil)

// NewList is an empty list.
func NewList() *List { return &List{Trie{indexes: true}} }

// Reset empties the list and keeps its memory.
func (l *List) Reset() {
	l.trie.drop(l.trie.root)
	l.trie.root = none
}

// Update adds a value, of which it keeps a copy.
func (l *List) Update(index, value []byte) error {
	var key common.Hash
	copy(key[:], index)
	return l.trie.Put(key, value)
}

// Hash is the root.
func (l *List) Hash() common.Hash { return l.trie.Hash() }

// indexSize is how many bytes an index has in RLP that begins with this one.
func indexSize(first byte) int {
	if first <= emptyString { // a small one is a byte, and 0 an empty string
		return 1
	}
	return 1 + int(first-emptyString)
}
