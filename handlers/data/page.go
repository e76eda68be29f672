package data

import (
	"snowglobe/handlers/rest"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
)

// Span returns the part of a chain that a page may cover, from the newest position down to the oldest.
func Span(r *rest.Request, c *reader.Chain) (high, low store.Position) {
	high, low = Bounds(r, c)
	if n, resumed := r.PositionNumber(); resumed {
		high = min(high, store.First(c.Row.ID)+store.Position(n)-1)
	}
	return high, low
}

// Bounds returns the newest and oldest positions that the request's block range allows.
func Bounds(r *rest.Request, c *reader.Chain) (high, low store.Position) {
	high, low = store.Last(c.Row.ID), store.First(c.Row.ID)
	if r.Given("startBlock") {
		low = store.At(c.Row.ID, min(uint64(r.Int("startBlock")), store.MaxNumber), 0)
	}
	if r.Given("endBlock") && r.Int("endBlock") <= store.MaxNumber {
		high = store.At(c.Row.ID, uint64(r.Int("endBlock")), 0) - 1
	}
	return high, low
}

// Before returns the number before which a page of rows begins that are listed from the highest number down.
func Before(r *rest.Request) int64 {
	if n, resumed := r.PositionNumber(); resumed {
		return int64(n)
	}
	return 1 << 62
}

// CutPage removes the extra row, which reveals that another page exists, and makes that page's token.
func CutPage[T any](r *rest.Request, rows []T, position func(*T) []byte) ([]T, string) {
	if len(rows) <= r.PageSize() {
		return rows, ""
	}
	rows = rows[:r.PageSize()]
	return rows, r.NextPageToken(position(&rows[len(rows)-1]))
}

// Within encodes a position on its chain for a page token.
func Within(p store.Position) []byte {
	return rest.Position(uint64(p - store.First(p.Chain())))
}

// List encodes as [] when empty, never as null.
func List[T, U any](rows []T, item func(*T) U) []U {
	items := make([]U, len(rows))
	for i := range rows {
		items[i] = item(&rows[i])
	}
	return items
}

// TryList is List for items that may fail, up to the first that does.
func TryList[T, U any](rows []T, item func(T) (U, error)) ([]U, error) {
	items := make([]U, len(rows))
	for i, row := range rows {
		var err error
		if items[i], err = item(row); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// PageOf cuts a page of the matching items out of a keyset, backwards if the request says so.
func PageOf[T any](r *rest.Request, k query.Keyset[T], passes func(*T) bool) (page []*T, next string) {
	after, resumed := r.PositionNumber()
	page, more := k.Page(query.KeysetQuery{Resumed: resumed, After: after, Ascending: r.Text("sortOrder") == "asc", Size: r.PageSize()}, passes)
	if more {
		next = r.NextPageToken(rest.Position(k.Cursor(page[len(page)-1])))
	}
	return page, next
}

// Position adapts a position to a function of a list's items.
func Position(p *store.Position) []byte { return Within(*p) }
