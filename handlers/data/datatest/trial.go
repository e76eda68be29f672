package datatest

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"testing"
)

// Trial is a random query of a list, with the items that it selects, in descending order.
type Trial struct {
	*testing.T
	Rng   *rand.Rand
	Path  string
	Query url.Values
	All   []Object // every item, of which one is listed if all of Holds hold
	Holds []func(Object) bool

	g   *Globe
	key string // of the list
	id  string // of an item
}

// NewTrial returns a query of a list that has all these items. key names the list and id the member that identifies an item.
func NewTrial(t *testing.T, g *Globe, rng *rand.Rand, path, key, id string, all []Object) *Trial {
	return &Trial{T: t, g: g, Rng: rng, Path: path, key: key, id: id, Query: url.Values{}, All: all}
}

// Sometimes sets a parameter, once in so many times.
func (q *Trial) Sometimes(once int, name, value string, holds func(Object) bool) bool {
	if q.Rng.IntN(once) > 0 {
		return false
	}
	q.Query.Set(name, value)
	q.Holds = append(q.Holds, holds)
	return true
}

// One returns any of all items.
func (q *Trial) One() Object { return q.All[q.Rng.IntN(len(q.All))] }

// Run sends the query, follows the pages, and compares.
func (q *Trial) Run(sorts bool) {
	q.Helper()
	want := []string{}
	for _, o := range q.All {
		if !slices.ContainsFunc(q.Holds, func(holds func(Object) bool) bool { return !holds(o) }) {
			want = append(want, fmt.Sprint(o[q.id]))
		}
	}
	if sorts && q.Rng.IntN(2) == 0 {
		q.Query.Set("sortOrder", "asc")
		slices.Reverse(want)
	}
	path := q.Path + "?" + q.Query.Encode()
	have := []string{}
	for _, o := range q.g.Pages(q.T, path, q.key, 1+q.Rng.IntN(25)) {
		have = append(have, fmt.Sprint(o[q.id]))
	}
	if !slices.Equal(have, want) {
		q.Fatalf("GET %s:\nhave %v\nwant %v", path, have, want)
	}
}

// Between sets a range of times around the times of items.
func (q *Trial) Between(name string) {
	at := func() int64 { return Integer(q.One()[name]) + q.Rng.Int64N(3) - 1 }
	start, end := at(), at()
	start, end = min(start, end), max(start, end)
	q.Sometimes(3, "startTimestamp", fmt.Sprint(start), func(o Object) bool { return Integer(o[name]) >= start })
	q.Sometimes(3, "endTimestamp", fmt.Sprint(end), func(o Object) bool { return Integer(o[name]) < end })
}
