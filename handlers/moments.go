package handlers

import (
	"context"
	"encoding/binary"

	"snowglobe/sim"
	"snowglobe/sim/store"
)

// moments numbers the states that a world went through, for page tokens.
type moments struct{ world *sim.World }

// Present returns the world's current moment.
func (m moments) Present() (number int64, mark uint32) {
	now := m.world.DB.Moment()
	return now.Sequence, markOf(now)
}

// Moment returns a moment up to the present one.
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

// markOf tells moments with the same number apart by the world's digest. There is only one first moment.
func markOf(m *store.Moment) uint32 {
	if m.Sequence == 0 {
		return 0
	}
	return binary.BigEndian.Uint32(m.Digest)
}
