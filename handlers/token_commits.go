package handlers

import (
	"context"
	"encoding/binary"

	"snowglobe/sim"
	"snowglobe/sim/store"
)

// tokenCommits gives page tokens the commits of a world.
type tokenCommits struct{ world *sim.World }

// Last returns the newest commit.
func (c tokenCommits) Last() (sequence int64, mark uint32, clock int64) {
	now := c.world.DB.LastCommit()
	return now.Sequence, markOf(now), c.clockOf(now)
}

// At returns a commit up to the newest one.
func (c tokenCommits) At(sequence int64) (mark uint32, clock int64, err error) {
	now := c.world.DB.LastCommit()
	switch {
	case sequence == now.Sequence:
		return markOf(now), c.clockOf(now), nil
	case sequence == 0:
		return 0, c.world.Meta.Until, nil
	case sequence < 0 || sequence > now.Sequence:
		return 0, 0, store.ErrNotFound
	}
	then, err := c.world.DB.CommitAt(context.Background(), sequence)
	if err != nil {
		return 0, 0, err
	}
	return markOf(then), then.Clock / 1000, nil
}

// clockOf returns the clock after the newest commit. It has moved on by store.QuietSeconds at most.
func (c tokenCommits) clockOf(newest *store.Commit) int64 {
	return max(newest.Clock/1000, c.world.Clock.Unix()-store.QuietSeconds)
}

// markOf returns a mark from the world's digest, which tells commits with the same number apart. The generated world needs none.
func markOf(c *store.Commit) uint32 {
	if c.Sequence == 0 {
		return 0
	}
	return binary.BigEndian.Uint32(c.Digest)
}
