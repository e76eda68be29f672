package sim_test

import (
	"context"
	"testing"
	"time"

	"snowglobe/sim"
	"snowglobe/sim/cache"
	"snowglobe/sim/store"
)

// enter lets a request enter.
func enter(t *testing.T, g *sim.Gate) (within context.Context, leave func()) {
	t.Helper()
	within, leave, err := g.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return within, leave
}

// TestWhoIsLateKnowsIt has requests inside while the world is rewound: one leaves in time, one takes too long, and one arrives later.
func TestWhoIsLateKnowsIt(t *testing.T) {
	g := sim.NewGate(&cache.Group{}, time.Minute)
	quick, leave := enter(t, g)
	time.AfterFunc(time.Millisecond, leave)
	g.Close() // waits for it
	if sim.Overtaken(quick) {
		t.Error("a request that had left was overtaken")
	}
	g.Open()

	g = sim.NewGate(&cache.Group{}, time.Millisecond)
	late, leave := enter(t, g)
	if sim.Overtaken(late) {
		t.Error("overtaken by nothing")
	}
	g.Close()
	g.Open()
	next, leaveNext := enter(t, g)
	if !sim.Overtaken(late) || sim.Overtaken(next) || sim.Overtaken(t.Context()) {
		t.Errorf("overtaken: the late one %t, the next %t, one from elsewhere %t", sim.Overtaken(late), sim.Overtaken(next), sim.Overtaken(t.Context()))
	}
	leaveNext()
	leave()
}

// TestTheGateHoldsBack closes the gate on requests of two generations: a new request waits or gives up, visits are counted, and the caches store
// nothing until the last request inside has left.
func TestTheGateHoldsBack(t *testing.T) {
	caches := &cache.Group{}
	kept := cache.New[int, int](caches)
	stores := func() bool {
		kept.Add(1, 1)
		_, there := kept.Get(1)
		return there
	}
	g := sim.NewGate(caches, time.Millisecond)
	expect := func(within int, came uint64) {
		t.Helper()
		if w, c := g.Visits(); w != within || c != came {
			t.Errorf("%d of %d visitors are within, want %d of %d", w, c, within, came)
		}
	}
	_, leaveOne := enter(t, g)
	expect(1, 1)
	g.Close()
	given, giveUp := context.WithCancel(t.Context())
	giveUp()
	if _, leave, err := g.Enter(given); err == nil {
		t.Error("a closed gate lets somebody in")
	} else {
		leave()
	}
	expect(1, 1)
	came := make(chan func())
	go func() {
		_, leave, _ := g.Enter(t.Context())
		came <- leave
	}()
	select {
	case <-came:
		t.Error("a closed gate lets somebody in")
	case <-time.After(2 * time.Millisecond):
	}
	g.Open()
	leaveTwo := <-came
	expect(2, 2)
	if stores() {
		t.Error("what is read beside a late request is cached")
	}
	g.Close()
	g.Open()
	leaveOne()
	leaveOne()
	expect(1, 2)
	if stores() {
		t.Error("what is read beside the second late request is cached")
	}
	leaveTwo()
	expect(0, 2)
	for range 1000 {
		if stores() {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if !stores() {
		t.Error("nothing is cached after all have left")
	}
	g.Close() // nobody is inside, so it doesn't wait
	g.Close() // already closed
	g.Open()
	within, leave := enter(t, g)
	sim.Leave(within)
	leave()
	sim.Leave(t.Context())
	expect(0, 3)
}

// TestWhoWaitsForTheWriterIsOutside: a rewind does not wait for a request that waits for the writer's lock. That request learns afterwards that the
// rewind overtook it.
func TestWhoWaitsForTheWriterIsOutside(t *testing.T) {
	w := copied(t)
	writing, written, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- w.Write(t.Context(), func(*store.Batch) error {
			close(writing)
			<-written
			return nil
		})
	}()
	<-writing
	within, leave := enter(t, w.Gate)
	go func() { done <- w.Write(within, func(*store.Batch) error { return nil }) }()
	for inside := 1; inside > 0; inside, _ = w.Gate.Visits() {
		time.Sleep(time.Millisecond)
	}
	w.Gate.Close()
	w.Gate.Open()
	close(written)
	for range 2 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if inside, _ := w.Gate.Visits(); inside != 1 || !sim.Overtaken(within) {
		t.Errorf("%d within, overtaken %t: want it within again, and overtaken", inside, sim.Overtaken(within))
	}
	leave()
	if inside, _ := w.Gate.Visits(); inside != 0 {
		t.Errorf("%d within after all have left", inside)
	}
}
