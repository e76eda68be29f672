package export

import (
	"context"

	"snowglobe/sim/store"
)

// find finds at most limit positions from one up to another, ascending.
type find func(ctx context.Context, low, high store.Position, limit int) ([]store.Position, error)

// stream is what one find finds, piece by piece.
type stream struct {
	find  find
	next  store.Position // what is in hand ends before it
	hand  []store.Position
	ended bool
}

// union is what several streams find, each position once, ascending.
type union struct {
	streams []*stream
	high    store.Position
	piece   int
}

// How many positions are read ahead: of one stream, of all together, and of each of many.
const (
	mostAhead  = 256
	allAhead   = 8192
	leastAhead = 16
)

func newUnion(finds []find, low, high store.Position) *union {
	u := &union{high: high, piece: min(mostAhead, max(leastAhead, allAhead/max(len(finds), 1)))}
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
		at := least.hand[0]
		for _, s := range u.streams {
			if len(s.hand) > 0 && s.hand[0] == at {
				s.hand = s.hand[1:]
			}
		}
		taken = append(taken, at)
	}
	return taken, nil
}

// least is the stream with the lowest position in hand, nil when all have ended.
func (u *union) least(ctx context.Context) (least *stream, err error) {
	for _, s := range u.streams {
		if err := s.fill(ctx, u.high, u.piece); err != nil {
			return nil, err
		}
		if len(s.hand) > 0 && (least == nil || s.hand[0] < least.hand[0]) {
			least = s
		}
	}
	return least, nil
}

func (s *stream) fill(ctx context.Context, high store.Position, piece int) (err error) {
	if len(s.hand) > 0 || s.ended {
		return nil
	}
	if s.hand, err = s.find(ctx, s.next, high, piece); err != nil {
		return err
	}
	s.ended = len(s.hand) < piece
	if n := len(s.hand); n > 0 {
		s.next = s.hand[n-1] + 1
	}
	return nil
}
