package data

import (
	"snowglobe/sim/cache"
	"snowglobe/sim/store"
)

// Cached answers the rows at positions, which come newest first. read reads those from the first position down to the
// last: rows between them never change. Lists find the positions of their rows first, which an index alone answers, and
// read the rows only when one of them is not in the cache.
func Cached[R, F any](at []store.Position, kept *cache.Cache[store.Position, *F],
	read func(high, low store.Position, limit int) ([]R, error), decode func(*R) (store.Position, *F, error)) ([]*F, error) {
	facts := make([]*F, len(at))
	known := true
	for i, p := range at {
		facts[i], known = get(kept, p, known)
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

func get[F any](kept *cache.Cache[store.Position, *F], at store.Position, known bool) (*F, bool) {
	f, ok := kept.Get(at)
	return f, known && ok
}
