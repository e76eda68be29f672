package sim_test

import (
	"context"
	"testing"
	"time"

	"snowglobe/sim"
	"snowglobe/sim/cache"
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
	g.Close(t.Context()) // waits for it
	if sim.Overtaken(quick) {
		t.Error("a request that had left was overtaken")
	}
	g.Open()

	g = sim.NewGate(&cache.Group{}, time.Millisecond)
	late, leave := enter(t, g)
	if sim.Overtaken(late) {
		t.Error("overtaken by nothing")
	}
	g.Close(t.Context())
	g.Open()
	next, leaveNext := enter(t, g)
	if !sim.Overtaken(late) || sim.Overtaken(next) || sim.Overtaken(t.Context()) {
		t.Errorf("overtaken: the late one %t, the next %t, one from elsewhere %t", sim.Overtaken(late), sim.Overtaken(next), sim.Overtaken(t.Context()))
	}
	leaveNext()
	leave()
}

// TestTheGateHoldsBack closes the gate on requests of two generations: a new request waits or gives up, visits are counted, and the caches
// store nothing until the last request inside has left.
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
	g.Close(t.Context())
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
	g.Close(t.Context())
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
	g.Close(t.Context()) // nobody is within: nobody is waited for
	g.Open()
	within, leave := enter(t, g)
	sim.Leave(within)
	leave()
	sim.Leave(t.Context())
	expect(0, 3)
	within, _ = enter(t, g)
	g.Close(within) // who closes it is not waited for
	expect(0, 4)
	g.Open()
	if !stores() {
		t.Error("nothing is cached after the gate was closed by the only visitor")
	}
}
