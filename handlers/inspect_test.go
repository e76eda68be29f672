// Inspecting a file yields to a server's clients.

package handlers

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"time"

	"snowglobe/sim"
	"snowglobe/sim/cache"
)

// TestInspectionGivesWay sends requests during a long step of the inspection. The step is interrupted and restarted, but eventually runs to its end
// even if requests never cease.
func TestInspectionGivesWay(t *testing.T) {
	gate := sim.NewGate(&cache.Group{}, time.Minute)
	visit := func() {
		if _, leave, err := gate.Enter(t.Context()); err == nil {
			leave()
		}
	}
	for _, clients := range []int{0, 1, interrupted + 10} {
		taken := 0
		err := newYieldingPace(t.Context(), gate, func() int64 { return 0 }).Long(t.Context(), func(ctx context.Context) error {
			if taken++; taken <= clients {
				visit()
			}
			if taken <= min(clients, interrupted) {
				<-ctx.Done()
			}
			return ctx.Err()
		})
		if want := min(clients, interrupted) + 1; err != nil || taken != want {
			t.Errorf("%d clients: taken %d times, %v; want %d times", clients, taken, err, want)
		}
	}
	_, leave, err := gate.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pace := newYieldingPace(t.Context(), gate, func() int64 { return 0 })
	time.AfterFunc(10*time.Millisecond, leave)
	pace.untilQuiet(time.Minute)
	if within, _ := gate.Visits(); within > 0 {
		t.Error("the work went on beside a request")
	}
}

// TestInspectionEndsWhileTransactionsAreSent: a view of the file keeps every commit in the log beside it, so the inspection lets go of its view, unless
// it has done so before, and does not when clients only read.
func TestInspectionEndsWhileTransactionsAreSent(t *testing.T) {
	gate := sim.NewGate(&cache.Group{}, time.Minute)
	_, leave, err := gate.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	for _, c := range []struct {
		commits int64
		may     bool
		ends    bool
	}{{mostCommits, true, false}, {mostCommits + 1, true, true}, {mostCommits + 1, false, false}} {
		commits, ended := int64(7), false
		pace := newYieldingPace(t.Context(), gate, func() int64 { return commits })
		if c.may {
			pace.giveUp = func() { ended = true }
		}
		commits += c.commits
		pace.Pause()
		if ended != c.ends {
			t.Errorf("%+v: it ended: %t", c, ended)
		}
	}
}

// TestInspectionComesToItsEnd: however long clients send transactions, the inspection gives up a few times and then runs through. Without them it runs
// once, and it reports what it finds.
func TestInspectionComesToItsEnd(t *testing.T) {
	gate, damage := sim.NewGate(&cache.Group{}, time.Minute), errors.New("damage")
	for sent, want := range map[int64]int{0: 1, mostCommits + 1: interrupted + 1} {
		commits, runs := int64(0), 0
		err := inspectBetweenCommits(t.Context(), gate, func() int64 { return commits }, func(ctx context.Context, pace *yieldingPace) error {
			runs++
			commits += sent
			pace.Pause()
			return cmp.Or(ctx.Err(), damage)
		})
		if runs != want || !errors.Is(err, damage) {
			t.Errorf("%d transactions during each run: %d runs, want %d; %v", sent, runs, want, err)
		}
	}
}
