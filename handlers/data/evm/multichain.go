package evm

import (
	"encoding/binary"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// Lists across chains merge one list per chain, newest first by block time; within the same second, chains keep the world's order. A page
// token names the last row of the page. Its time decides where every other chain's list continues, so later pages do not show rows that
// arrive meanwhile.

// chainCursor is one chain's part of such a list: its next rows, all below a position.
type chainCursor[T any] struct {
	chain *reader.Chain
	rows  []T
}

// merge builds a page from the rows of several chains. read returns a chain's rows from one position down to another.
func merge[T any](r *rest.Request, chains []*reader.Chain, read func(c *reader.Chain, high, low store.Position, limit int) ([]T, error),
	when func(*T) (store.Position, int64), highest func(*reader.Chain) (store.Position, error)) (page []T, from []*reader.Chain, next string, err error) {
	cursors := make([]chainCursor[T], len(chains))
	for i, c := range chains {
		high, err := highest(c)
		if err != nil {
			return nil, nil, "", err
		}
		cursors[i].chain = c
		if cursors[i].rows, err = read(c, high, store.First(c.Row.ID), r.PageSize()+1); err != nil {
			return nil, nil, "", err
		}
	}
	var last store.Position
	for len(page) < r.PageSize() {
		s := newest(cursors, when)
		if s == nil {
			return page, from, "", nil
		}
		last, _ = when(&s.rows[0])
		page, from = append(page, s.rows[0]), append(from, s.chain)
		s.rows = s.rows[1:]
	}
	if newest(cursors, when) == nil {
		return page, from, "", nil
	}
	return page, from, r.NextPageToken(mark(last)), nil
}

// resumption returns the position from which a chain's part of the list continues downwards.
func (a *chainAPI) resumption(r *rest.Request) (func(*reader.Chain) (store.Position, error), error) {
	token, resumed := r.Position()
	if !resumed {
		return func(c *reader.Chain) (store.Position, error) { return store.Last(c.Row.ID), nil }, nil
	}
	last := unmark(token)
	block, err := a.World.DB.Block(r.Context(), last.Chain(), last.Number())
	if err != nil {
		return nil, err
	}
	return func(c *reader.Chain) (store.Position, error) {
		time := block.Time
		switch {
		case c.Row.ID == last.Chain():
			return last - 1, nil
		case c.Row.ID > last.Chain():
			time++ // its rows of the same second come later
		}
		first, err := a.World.DB.FirstSince(r.Context(), c.Row.ID, time)
		return store.At(c.Row.ID, first, 0) - 1, err
	}, nil
}

// Five bytes of a short page token hold a position, packed into these bits.
const (
	markIndex  = 12
	markNumber = 24
	markBits   = 40
)

// mark packs any chain's position for a page token: five bytes unless its numbers are very large.
func mark(p store.Position) []byte {
	if p.Index() < 1<<markIndex && p.Number() < 1<<markNumber && p.Chain() < 1<<(markBits-markIndex-markNumber) {
		packed := uint64(p.Chain())<<(markNumber+markIndex) | p.Number()<<markIndex | uint64(p.Index())
		return binary.BigEndian.AppendUint64(nil, packed)[8-markBits/8:]
	}
	return binary.BigEndian.AppendUint64(nil, uint64(p))
}

func unmark(b []byte) store.Position {
	n := binary.BigEndian.Uint64(append(make([]byte, 8-len(b), 8), b...))
	if len(b) > markBits/8 {
		return store.Position(n)
	}
	return store.At(int(n>>(markNumber+markIndex)), n>>markIndex&(1<<markNumber-1), int(n&(1<<markIndex-1)))
}

// newest returns the cursor with the newest next row, or nil when all are exhausted.
func newest[T any](cursors []chainCursor[T], when func(*T) (store.Position, int64)) *chainCursor[T] {
	var best *chainCursor[T]
	var latest int64
	for i := range cursors {
		s := &cursors[i]
		if len(s.rows) == 0 {
			continue
		}
		if _, time := when(&s.rows[0]); best == nil || time > latest {
			best, latest = s, time
		}
	}
	return best
}

func (a *chainAPI) listAllBlocks(r *rest.Request) (any, error) {
	from, err := a.resumption(r)
	if err != nil {
		return nil, err
	}
	rows, _, next, err := merge(r, a.ChainsOf(r), func(c *reader.Chain, high, low store.Position, limit int) ([]*blockFact, error) {
		at, err := a.World.DB.BlockIDs(r.Context(), high, low, limit)
		if err != nil {
			return nil, err
		}
		return a.blocks.blocksAt(r, c, at)
	}, func(f **blockFact) (store.Position, int64) { return (*f).at, (*f).shown.BlockTimestamp }, from)
	return blocks{next, data.List(rows, func(f **blockFact) Block { return (*f).shown })}, err
}
