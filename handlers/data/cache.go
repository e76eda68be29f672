package data

import (
	"snowglobe/sim/cache"
	"snowglobe/sim/store"
)

// Cached returns the rows at positions, newest first. Lists get the positions from an index alone; Cached calls read only if a row is
// missing from the cache. read returns the rows from the first position down to the last, which never change.
func Cached[R, F any](at []store.Position, kept *cache.Cache[store.Position, *F],
	read func(high, low store.Position, limit int) ([]R, error), decode func(*R) (store.Position, *F, error)) ([]*F, error) {
	facts := make([]*F, len(at))
	known := true
	for i, p := range at {
		f, found := kept.Get(p)
		facts[i], known = f, known && found
	}
	if known {
		return facts, nil
	}
	rows, err := read(at[0], at[len(at)-1], len(at))
	if err != nil {
		return nil, err
	}
	facts = facts[:0]
	for i := range rows {
		p, f, err := decode(&rows[i])
		if err != nil {
			return nil, err
		}
		kept.Add(p, f)
		facts = append(facts, f)
	}
	return facts, nil
}
