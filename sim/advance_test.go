package sim_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"snowglobe/seed"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
	"snowglobe/sim/verify/verifytest"
)

// TestTimePasses moves one world's clock by an hour, a day, some weeks and on to two years, and another's there in one step. The two worlds are
// equal, and every stake has ended in blocks that verify.
func TestTimePasses(t *testing.T) {
	var digests [][]byte
	for _, steps := range [][]time.Duration{{time.Hour, 24 * time.Hour, 20 * 24 * time.Hour, 730 * 24 * time.Hour}, {730 * 24 * time.Hour}} {
		w := copied(t)
		for _, step := range steps {
			if err := w.Advance(t.Context(), seed.DefaultUntil.Add(step)); err != nil {
				t.Fatalf("%s: %v", step, err)
			}
			if now := w.Clock.Now(); !now.Equal(seed.DefaultUntil.Add(step)) {
				t.Errorf("after %s it is %s", step, now)
			}
		}
		checkStakersEnded(t, w)
		digests = append(digests, w.Digest())
		if len(digests) == 1 {
			verifytest.Sound(t, w)
		}
	}
	if !bytes.Equal(digests[0], digests[1]) {
		t.Error("the steps in which time passes make a difference")
	}
}

// checkStakersEnded looks for stakers past their end that no block ended.
func checkStakersEnded(t *testing.T, w *sim.World) {
	t.Helper()
	for _, n := range w.Networks {
		stakers, err := w.DB.Stakers(t.Context(), n.Chain(txs.PChain))
		if err != nil || len(stakers) == 0 {
			t.Fatal(n.Name, len(stakers), err)
		}
		for i := range stakers {
			if s := &stakers[i]; s.Status == store.StakerPending || s.Status == store.StakerActive && s.End <= w.Clock.Unix() {
				t.Errorf("%s: staker %x from %d to %d has status %v at %d", n.Name, s.Tx, s.Start, s.End, s.Status, w.Clock.Unix())
			}
		}
	}
}

// TestTimeHasBounds moves the clock where it must not go.
func TestTimeHasBounds(t *testing.T) {
	w := copied(t)
	before := w.Digest()
	if err := w.Advance(t.Context(), seed.DefaultUntil.Add(-time.Second)); !errors.Is(err, sim.ErrBackwards) {
		t.Errorf("back: %v", err)
	}
	if err := w.Advance(t.Context(), seed.DefaultUntil.AddDate(100, 0, 0)); !errors.Is(err, sim.ErrFar) {
		t.Errorf("a hundred years on: %v", err)
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	if err := w.Advance(left, seed.DefaultUntil.Add(time.Hour)); !errors.Is(err, context.Canceled) {
		t.Errorf("for who has left: %v", err)
	}
	if !bytes.Equal(before, w.Digest()) {
		t.Error("the world is another one")
	}
}
