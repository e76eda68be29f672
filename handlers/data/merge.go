package data

import (
	"encoding/binary"

	"snowglobe/handlers"
	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// Lists across chains are merged from one list a chain, newest first by block time; of the same second the chain that
// the world lists first comes first. A page token holds the place in every chain's list, so what arrives later is not
// in later pages.

// strand is one chain's part of such a list: its next rows, and the position below which to go on.
type strand[T any] struct {
	chain *evm.Chain
	below uint64 // position on the chain
	rows  []T
}

// merge makes a page of the rows of several chains. read reads the rows of a chain from one position down to another.
func merge[T any](r *handlers.Request, chains []*evm.Chain, read func(c *evm.Chain, high, low store.Position, limit int) ([]T, error),
	when func(*T) (store.Position, int64)) (page []T, from []*evm.Chain, next string, err error) {
	strands := make([]strand[T], len(chains))
	token, resumed := r.Position()
	for i, c := range chains {
		s := &strands[i]
		*s = strand[T]{chain: c, below: uint64(store.Last(0)) + 1}
		if n, size := binary.Uvarint(token); resumed && size > 0 {
			s.below, token = n, token[size:]
		}
		high := store.First(c.Row.ID) + store.Position(s.below) - 1
		if s.rows, err = read(c, high, store.First(c.Row.ID), r.PageSize()+1); err != nil {
			return nil, nil, "", err
		}
		if len(s.rows) > 0 {
			first, _ := when(&s.rows[0])
			s.below = uint64(first-store.First(c.Row.ID)) + 1
		} else {
			s.below = 0
		}
	}
	for len(page) < r.PageSize() {
		s := newest(strands, when)
		if s == nil {
			return page, from, "", nil
		}
		at, _ := when(&s.rows[0])
		page, from = append(page, s.rows[0]), append(from, s.chain)
		s.rows, s.below = s.rows[1:], uint64(at-store.First(s.chain.Row.ID))
	}
	if newest(strands, when) == nil {
		return page, from, "", nil
	}
	var position []byte
	for i := range strands {
		position = binary.AppendUvarint(position, strands[i].below)
	}
	return page, from, r.NextPageToken(position), nil
}

// newest is the strand whose next row is the newest, nil when all are at their end.
func newest[T any](strands []strand[T], when func(*T) (store.Position, int64)) *strand[T] {
	var best *strand[T]
	var latest int64
	for i := range strands {
		s := &strands[i]
		if len(s.rows) == 0 {
			continue
		}
		if _, time := when(&s.rows[0]); best == nil || time > latest {
			best, latest = s, time
		}
	}
	return best
}

func (a *api) listAllBlocks(r *handlers.Request) (any, error) {
	rows, _, next, err := merge(r, a.chainsOf(r), func(c *evm.Chain, high, low store.Position, limit int) ([]*blockFact, error) {
		at, err := a.world.DB.BlockIDs(r.Context(), high, low, limit)
		if err != nil {
			return nil, err
		}
		return a.blocksAt(r, c, at)
	}, func(f **blockFact) (store.Position, int64) { return (*f).at, (*f).shown.BlockTimestamp })
	return blocks{next, list(rows, func(f **blockFact) Block { return (*f).shown })}, err
}
