package data

import (
	"cmp"
	"slices"

	"snowglobe/handlers"
	"snowglobe/sim/store"
)

// shelf is a list that is kept in memory, in descending order. Each item has a number of its own, its place, which never
// changes and after which a page goes on, wherever the item stands by then.
type shelf[T any] struct {
	order []*T
	place func(*T) uint64
	find  func(place uint64) (index int, there bool)
}

// placed is a shelf that is in the order of its places.
func placed[T any](order []*T, place func(*T) uint64) shelf[T] {
	return shelf[T]{order, place, func(p uint64) (int, bool) {
		return slices.BinarySearchFunc(order, p, func(v *T, p uint64) int { return cmp.Compare(p, place(v)) })
	}}
}

// ordered is a shelf in the order of a comparison; item finds what has a place, or would stand where that stood.
func ordered[T any](order []*T, place func(*T) uint64, compare func(a, b *T) int, item func(place uint64) *T) shelf[T] {
	return shelf[T]{order, place, func(p uint64) (int, bool) {
		v := item(p)
		if v == nil {
			return len(order), false
		}
		return slices.BinarySearchFunc(order, v, compare)
	}}
}

// pageOf takes a page of those who pass off a shelf, backwards if the request says so.
func pageOf[T any](r *handlers.Request, s shelf[T], passes func(*T) bool) (page []*T, next string) {
	step, at := 1, 0
	token, resumed := r.PositionNumber()
	there := false
	if resumed {
		at, there = s.find(token)
	}
	switch {
	case r.Text("sortOrder") == "asc" && !resumed:
		step, at = -1, len(s.order)-1
	case r.Text("sortOrder") == "asc":
		step, at = -1, at-1
	case there:
		at++
	}
	for ; at >= 0 && at < len(s.order); at += step {
		if !passes(s.order[at]) {
			continue
		}
		if len(page) == r.PageSize() {
			return page, r.NextPageToken(handlers.Position(s.place(page[len(page)-1])))
		}
		page = append(page, s.order[at])
	}
	return page, ""
}

// placeOnChain is a transaction's place among those of its chain.
func placeOnChain(at store.Position) uint64 { return uint64(at - store.First(at.Chain())) }

// placeBits is room for what one block can make: a block of two mebibytes has fewer outputs.
const placeBits = 16

// placeOfOutput is an output's place among those that the chain made.
func placeOfOutput(n store.UTXONumber) uint64 {
	first := store.NumberUTXO(n.Chain(), n.Height(), 0)
	return n.Height()<<placeBits | uint64(n-first)
}
