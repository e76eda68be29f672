package data

import (
	"snowglobe/handlers"
	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// span is the part of a chain that a page may show: from the newest position down to the oldest.
func span(r *handlers.Request, c *evm.Chain) (high, low store.Position) {
	high, low = bounds(r, c)
	if n, resumed := r.PositionNumber(); resumed {
		high = min(high, store.First(c.Row.ID)+store.Position(n)-1)
	}
	return high, low
}

// bounds are the newest and the oldest position that the request's block range allows.
func bounds(r *handlers.Request, c *evm.Chain) (high, low store.Position) {
	high, low = store.Last(c.Row.ID), store.First(c.Row.ID)
	if r.Given("startBlock") {
		low = store.At(c.Row.ID, limited(r.Int("startBlock")), 0)
	}
	if r.Given("endBlock") && r.Int("endBlock") <= store.MaxNumber {
		high = store.At(c.Row.ID, uint64(r.Int("endBlock")), 0) - 1
	}
	return high, low
}

func limited(n int64) uint64 { return min(uint64(n), store.MaxNumber) }

// cut takes the row off that was read to learn whether there is another page, and makes that page's token.
func cut[T any](r *handlers.Request, rows []T, position func(*T) []byte) ([]T, string) {
	if len(rows) <= r.PageSize() {
		return rows, ""
	}
	rows = rows[:r.PageSize()]
	return rows, r.NextPageToken(position(&rows[len(rows)-1]))
}

// within is a position on its chain, for a page token.
func within(p store.Position) []byte {
	return handlers.Position(uint64(p - store.First(p.Chain())))
}

// list is never null in JSON.
func list[T, U any](rows []T, item func(*T) U) []U {
	items := make([]U, len(rows))
	for i := range rows {
		items[i] = item(&rows[i])
	}
	return items
}

// pageOf takes a page of those who pass out of a keyset, backwards if the request says so.
func pageOf[T any](r *handlers.Request, k keyset[T], passes func(*T) bool) (page []*T, next string) {
	after, resumed := r.PositionNumber()
	page, more := k.page(keysetQuery{resumed: resumed, after: after, ascending: r.Text("sortOrder") == "asc", size: r.PageSize()}, passes)
	if more {
		next = r.NextPageToken(handlers.Position(k.cursor(page[len(page)-1])))
	}
	return page, next
}

// position is the same as a function of a list's items.
func position(p *store.Position) []byte { return within(*p) }
