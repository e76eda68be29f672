package txs

import (
	"reflect"
	"strings"
)

// TypeName returns the network's name of a transaction's type. Atomic transactions have the names of the other chains' types.
func (tx *Tx) TypeName() string {
	return strings.TrimPrefix(reflect.TypeOf(tx.Unsigned).Elem().Name(), "Atomic")
}

// TypeName returns the network's name of a block's type.
func (b *Block) TypeName() string {
	if _, onX := b.Body.(*XChainBlock); onX {
		return "Standard"
	}
	return strings.TrimSuffix(reflect.TypeOf(b.Body).Elem().Name(), "Block")
}
