package control

import (
	"testing"
	"time"

	"snowglobe/seed"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/store"
)

// TestARunningClockWaits: blocks that follow each other faster than time passes put a running clock ahead, however far, until time has caught up; a
// block whose time a client chose takes the clock along.
func TestARunningClockWaits(t *testing.T) {
	w := seedtest.Generate(t, store.Memory, "tiny", 1)
	defer w.Close()
	m, started := w.Miners[0], time.Now()
	c := NewClockRunner(w, nil, 1, false)
	lead := func() time.Duration {
		t.Helper()
		if err := c.tick(t.Context()); err != nil {
			t.Fatal(err)
		}
		due, runs := c.due()
		if !runs {
			t.Fatal("it stands still")
		}
		return w.Clock.Now().Sub(due)
	}
	for range 300 {
		if err := m.Mine(t.Context(), 1, 0); err != nil {
			t.Fatal(err)
		}
	}
	if ahead := w.Clock.Now().Sub(seed.DefaultUntil); ahead < 2*time.Minute {
		t.Fatalf("300 blocks put it only %s ahead", ahead)
	}
	before := w.Clock.Now()
	if ahead := lead(); ahead < 2*time.Minute-time.Since(started) || !w.Clock.Now().Equal(before) {
		t.Errorf("%s ahead it went on, from %s to %s", ahead, before, w.Clock.Now())
	}
	c.mu.Lock()
	c.from = c.from.Add(-time.Hour) // as if an hour had passed
	c.mu.Unlock()
	if ahead := lead(); ahead > 0 || w.Clock.Now().Sub(seed.DefaultUntil) < time.Hour || w.Clock.Now().Sub(seed.DefaultUntil) > time.Hour+time.Since(started) {
		t.Errorf("an hour later it is %s, %s ahead", w.Clock.Now(), ahead)
	}
	for _, way := range []struct {
		name string
		jump func() error
	}{
		{"a block at a time", func() error {
			if err := m.SetNextTime(t.Context(), uint64(w.Clock.Now().Add(time.Hour).UnixMilli())); err != nil {
				return err
			}
			return m.Mine(t.Context(), 1, 0)
		}},
		{"blocks an hour apart", func() error { return m.Mine(t.Context(), 2, time.Hour) }},
		{"a call", func() error { return c.Advance(t.Context(), w.Clock.Now().Add(time.Hour)) }},
	} {
		if err := way.jump(); err != nil {
			t.Fatal(err)
		}
		if ahead := lead(); ahead > time.Second {
			t.Errorf("%s put it %s ahead for it to wait", way.name, ahead)
		}
	}
}
