package data_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"testing"
)

// trial is a random query of a list, with the items that it selects, in descending order.
type trial struct {
	*testing.T
	g     *globe
	rng   *rand.Rand
	path  string
	key   string // of the list
	id    string // of an item
	query url.Values
	all   []object
	holds []func(object) bool
}

func newTrial(t *testing.T, g *globe, rng *rand.Rand, path, key, id string, all []object) *trial {
	return &trial{T: t, g: g, rng: rng, path: path, key: key, id: id, query: url.Values{}, all: all}
}

// sometimes sets a parameter, once in so many times.
func (q *trial) sometimes(once int, name, value string, holds func(object) bool) bool {
	if q.rng.IntN(once) > 0 {
		return false
	}
	q.query.Set(name, value)
	q.holds = append(q.holds, holds)
	return true
}

// one returns any of all items.
func (q *trial) one() object { return q.all[q.rng.IntN(len(q.all))] }

// run sends the query, follows the pages, and compares.
func (q *trial) run(sorts bool) {
	q.Helper()
	want := []string{}
	for _, o := range q.all {
		if !slices.ContainsFunc(q.holds, func(holds func(object) bool) bool { return !holds(o) }) {
			want = append(want, fmt.Sprint(o[q.id]))
		}
	}
	if sorts && q.rng.IntN(2) == 0 {
		q.query.Set("sortOrder", "asc")
		slices.Reverse(want)
	}
	path := q.path + "?" + q.query.Encode()
	have := []string{}
	for _, o := range q.g.pages(q.T, path, q.key, 1+q.rng.IntN(25)) {
		have = append(have, fmt.Sprint(o[q.id]))
	}
	if !slices.Equal(have, want) {
		q.Fatalf("GET %s:\nhave %v\nwant %v", path, have, want)
	}
}

func integer(v any) int64 {
	n, _ := strconv.ParseInt(fmt.Sprint(v), 10, 64)
	return n
}

// between sets a range of times around the times of items.
func (q *trial) between(name string) {
	at := func() int64 { return integer(q.one()[name]) + q.rng.Int64N(3) - 1 }
	start, end := at(), at()
	start, end = min(start, end), max(start, end)
	q.sometimes(3, "startTimestamp", fmt.Sprint(start), func(o object) bool { return integer(o[name]) >= start })
	q.sometimes(3, "endTimestamp", fmt.Sprint(end), func(o object) bool { return integer(o[name]) < end })
}

func holds(list any, one string) bool {
	items, _ := list.([]any)
	return slices.Contains(items, any(one))
}
