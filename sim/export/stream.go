package export

import (
	"context"

	"snowglobe/sim/store"
)

// find returns at most limit positions from one up to another, ascending.
type find func(ctx context.Context, low, high store.Position, limit int) ([]store.Position, error)

// stream pages through the positions that one find returns.
type stream struct {
	find     find
	next     store.Position // the buffer ends before it
	buffered []store.Position
	ended    bool
}

// union merges several streams into ascending positions without duplicates.
type union struct {
	streams []*stream
	high    store.Position
	page    int
}

// Batch sizes: at most from one stream, from all together, and at least from each of many.
const (
	largestPage  = 256
	allPages     = 8192
	smallestPage = 16
)

func newUnion(finds []find, low, high store.Position) *union {
	u := &union{high: high, page: min(largestPage, max(smallestPage, allPages/max(len(finds), 1)))}
	for _, f := range finds {
		u.streams = append(u.streams, &stream{find: f, next: low})
	}
	return u
}

// take returns the next positions, at most limit; none at the end.
func (u *union) take(ctx context.Context, limit int) (taken []store.Position, err error) {
	for len(taken) < limit {
		least, err := u.least(ctx)
		if err != nil || least == nil {
			return taken, err
		}
		at := least.buffered[0]
		for _, s := range u.streams {
			if len(s.buffered) > 0 && s.buffered[0] == at {
				s.buffered = s.buffered[1:]
			}
		}
		taken = append(taken, at)
	}
	return taken, nil
}

// least returns the stream with the lowest buffered position, or nil when all have ended.
func (u *union) least(ctx context.Context) (least *stream, err error) {
	for _, s := range u.streams {
		if err := s.fill(ctx, u.high, u.page); err != nil {
			return nil, err
		}
		if len(s.buffered) > 0 && (least == nil || s.buffered[0] < least.buffered[0]) {
			least = s
		}
	}
	return least, nil
}

func (s *stream) fill(ctx context.Context, high store.Position, page int) (err error) {
	if len(s.buffered) > 0 || s.ended {
		return nil
	}
	if s.buffered, err = s.find(ctx, s.next, high, page); err != nil {
		return err
	}
	s.ended = len(s.buffered) < page
	if n := len(s.buffered); n > 0 {
		s.next = s.buffered[n-1] + 1
	}
	return nil
}
