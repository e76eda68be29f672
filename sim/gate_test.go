package sim_test

import (
	"context"
	"testing"
	"time"

	"snowglobe/sim"
	"snowglobe/sim/cache"
)

// enter has a request come in.
func enter(t *testing.T, g *sim.Gate) (within context.Context, leave func()) {
	t.Helper()
	within, leave, err := g.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return within, leave
}

// TestWhoIsLateKnowsIt has requests within while the world goes back: one that leaves in time, one that takes too long, one that comes later.
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
