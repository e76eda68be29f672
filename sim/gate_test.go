package sim

import (
	"context"
	"testing"
	"time"

	"snowglobe/sim/cache"
)

// TestWhoIsLateKnowsIt has requests within while the world goes back: one that leaves in time, one that takes too long, one that comes later.
func TestWhoIsLateKnowsIt(t *testing.T) {
	g := newGate(&cache.Group{})
	enter := func() (context.Context, func()) {
		ctx, leave, err := g.Enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return ctx, leave
	}
	quick, leave := enter()
	time.AfterFunc(time.Millisecond, leave)
	g.Close(t.Context()) // waits for it
	if Overtaken(quick) {
		t.Error("a request that had left was overtaken")
	}
	g.Open()

	g.patience = time.Millisecond
	late, leave := enter()
	if Overtaken(late) {
		t.Error("overtaken by nothing")
	}
	g.Close(t.Context())
	g.Open()
	next, leaveNext := enter()
	if !Overtaken(late) || Overtaken(next) || Overtaken(t.Context()) {
		t.Errorf("overtaken: the late one %t, the next %t, one from elsewhere %t", Overtaken(late), Overtaken(next), Overtaken(t.Context()))
	}
	leaveNext()
	leave()
}
