package handlers

import (
	"context"
	"encoding/binary"

	"snowglobe/sim"
	"snowglobe/sim/store"
)

// moments are the states that a world went through, for page tokens.
type moments struct{ world *sim.World }

// Present is the world's moment.
func (m moments) Present() (number int64, mark uint32) {
	now := m.world.DB.Moment()
	return now.Sequence, markOf(now)
}

// Moment is a moment up to the present one.
func (m moments) Moment(number int64) (mark uint32, clock int64, err error) {
	now := m.world.DB.Moment()
	switch {
	case number == now.Sequence:
		return markOf(now), m.world.Clock.Now().Unix(), nil
	case number == 0:
		return 0, m.world.Meta.Until, nil
	case number < 0 || number > now.Sequence:
		return 0, 0, store.ErrNotFound
	}
	then, err := m.world.DB.MomentOf(context.Background(), number)
	if err != nil {
		return 0, 0, err
	}
	return markOf(then), then.Clock / 1000, nil
}

// markOf tells one moment from another with its number by the world's digest then. There is one first moment only.
func markOf(m *store.Moment) uint32 {
	if m.Sequence == 0 {
		return 0
	}
	return binary.BigEndian.Uint32(m.Digest)
}
