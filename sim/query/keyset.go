package query

import (
	"cmp"
	"slices"

	"snowglobe/sim/store"
)

// Keyset is a list in memory, in descending order, for keyset paging: each item has a cursor of its own, a number that never changes. A
// page continues after a cursor, wherever its item has moved by then.
type Keyset[T any] struct {
	items  []*T
	Cursor func(*T) uint64
	find   func(cursor uint64) (index int, there bool)
}

// NewKeyset returns a list in the order of its cursors.
func NewKeyset[T any](items []*T, cursor func(*T) uint64) Keyset[T] {
	return Keyset[T]{items, cursor, func(after uint64) (int, bool) {
		return slices.BinarySearchFunc(items, after, func(v *T, after uint64) int { return cmp.Compare(after, cursor(v)) })
	}}
}

// newOrderedKeyset returns a list in the order of a comparison; item returns the item with a cursor, or a stand-in at its former place.
func newOrderedKeyset[T any](items []*T, cursor func(*T) uint64, compare func(a, b *T) int, item func(cursor uint64) *T) Keyset[T] {
	return Keyset[T]{items, cursor, func(after uint64) (int, bool) {
		v := item(after)
		if v == nil {
			return len(items), false
		}
		return slices.BinarySearchFunc(items, v, compare)
	}}
}

// KeysetQuery asks for a page of a keyset.
type KeysetQuery struct {
	Resumed   bool   // continue after a cursor instead of starting at the beginning
	After     uint64 // that cursor
	Ascending bool
	Size      int
}

// Page returns the items that pass, and reports whether there are more.
func (k Keyset[T]) Page(q KeysetQuery, passes func(*T) bool) (page []*T, more bool) {
	step, at := 1, 0
	there := false
	if q.Resumed {
		at, there = k.find(q.After)
	}
	switch {
	case q.Ascending && !q.Resumed:
		step, at = -1, len(k.items)-1
	case q.Ascending:
		step, at = -1, at-1
	case there:
		at++
	}
	for ; at >= 0 && at < len(k.items); at += step {
		if !passes(k.items[at]) {
			continue
		}
		if len(page) == q.Size {
			return page, true
		}
		page = append(page, k.items[at])
	}
	return page, false
}

// CursorOfTx numbers a transaction within its chain.
func CursorOfTx(at store.Position) uint64 { return uint64(at - store.First(at.Chain())) }

// utxoIndexBits leaves room for the outputs of one block: a block of two mebibytes has fewer.
const utxoIndexBits = 16

// CursorOfUTXO numbers an output within the chain that created it.
func CursorOfUTXO(n store.UTXONumber) uint64 {
	first := store.NewUTXONumber(n.Chain(), n.Height(), 0)
	return n.Height()<<utxoIndexBits | uint64(n-first)
}
