package data

import (
	"cmp"
	"slices"

	"snowglobe/sim/store"
)

// keyset is a list that is kept in memory, in descending order, for keyset paging: each item has a number of its own, its
// cursor, which never changes and after which a page goes on, wherever the item stands by then.
type keyset[T any] struct {
	items  []*T
	cursor func(*T) uint64
	find   func(cursor uint64) (index int, there bool)
}

// newKeyset is a list in the order of its cursors.
func newKeyset[T any](items []*T, cursor func(*T) uint64) keyset[T] {
	return keyset[T]{items, cursor, func(after uint64) (int, bool) {
		return slices.BinarySearchFunc(items, after, func(v *T, after uint64) int { return cmp.Compare(after, cursor(v)) })
	}}
}

// newOrderedKeyset is a list in the order of a comparison; item finds what has a cursor, or would stand where that stood.
func newOrderedKeyset[T any](items []*T, cursor func(*T) uint64, compare func(a, b *T) int, item func(cursor uint64) *T) keyset[T] {
	return keyset[T]{items, cursor, func(after uint64) (int, bool) {
		v := item(after)
		if v == nil {
			return len(items), false
		}
		return slices.BinarySearchFunc(items, v, compare)
	}}
}

// keysetQuery asks for a page of a keyset.
type keysetQuery struct {
	resumed   bool   // after the item with a cursor, from the beginning otherwise
	after     uint64 // that cursor
	ascending bool
	size      int
}

// page takes those items that pass, and says whether there are more.
func (k keyset[T]) page(q keysetQuery, passes func(*T) bool) (page []*T, more bool) {
	step, at := 1, 0
	there := false
	if q.resumed {
		at, there = k.find(q.after)
	}
	switch {
	case q.ascending && !q.resumed:
		step, at = -1, len(k.items)-1
	case q.ascending:
		step, at = -1, at-1
	case there:
		at++
	}
	for ; at >= 0 && at < len(k.items); at += step {
		if !passes(k.items[at]) {
			continue
		}
		if len(page) == q.size {
			return page, true
		}
		page = append(page, k.items[at])
	}
	return page, false
}

// cursorOfTx is a transaction's number among those of its chain.
func cursorOfTx(at store.Position) uint64 { return uint64(at - store.First(at.Chain())) }

// utxoIndexBits is room for what one block can make: a block of two mebibytes has fewer outputs.
const utxoIndexBits = 16

// cursorOfUTXO is an output's number among those that the chain made.
func cursorOfUTXO(n store.UTXONumber) uint64 {
	first := store.NumberUTXO(n.Chain(), n.Height(), 0)
	return n.Height()<<utxoIndexBits | uint64(n-first)
}
