package export

import (
	"context"

	"snowglobe/sim/store"
)

// find finds at most limit positions from one up to another, ascending.
type find func(ctx context.Context, low, high store.Position, limit int) ([]store.Position, error)

// stream is what one find finds, page by page.
type stream struct {
	find     find
	next     store.Position // what is buffered ends before it
	buffered []store.Position
	ended    bool
}

// union is what several streams find, each position once, ascending.
type union struct {
	streams []*stream
	high    store.Position
	page    int
}

// How many positions are read at once: of a stream at most, of all together, and of each of many at least.
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

// take is the next positions, at most limit; none at the end.
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

// least is the stream with the lowest position buffered, nil when all have ended.
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
