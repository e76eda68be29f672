package events

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// publish sends an event whose data is a number.
func publish(h *Hub, kind Kind, n int) { h.Publish(kind, "w", func() any { return n }) }

// received reads what waits for a listener.
func received(l *Listener) (data []any) {
	for {
		select {
		case e, open := <-l.Events():
			if !open {
				return data
			}
			data = append(data, e.Data)
		default:
			return data
		}
	}
}

// TestListenersGetTheKindsThatTheyName publishes one event of each kind.
func TestListenersGetTheKindsThatTheyName(t *testing.T) {
	h := NewHub()
	all, some := h.Listen(), h.Listen(Block, Clock)
	before := time.Now()
	for i, kind := range Kinds {
		publish(h, kind, i)
	}
	var ids []uint64
	for range Kinds {
		e := <-all.Events()
		ids = append(ids, e.ID)
		if e.Kind != Kinds[len(ids)-1] || e.World != "w" || e.Data != len(ids)-1 || e.Time.Before(before) || e.Time.After(time.Now()) || e.Time.Location() != time.UTC {
			t.Errorf("event %d is %+v", len(ids), e)
		}
	}
	if want := []uint64{1, 2, 3, 4, 5, 6}; !slices.Equal(ids, want) {
		t.Errorf("the ids are %v", ids)
	}
	if have := received(some); !slices.Equal(have, []any{1, 2}) || received(all) != nil {
		t.Errorf("the events of two kinds are %v", have)
	}
}

// TestNobodyIsToldWhileNobodyListens: data is not made, and the ids count only what somebody could hear.
func TestNobodyIsToldWhileNobodyListens(t *testing.T) {
	h := NewHub()
	h.Publish(Block, "w", func() any { t.Error("data was made"); return nil })
	(*Hub)(nil).Publish(Block, "w", func() any { t.Error("data was made without a hub"); return nil })
	first := h.Listen()
	publish(h, Block, 1)
	first.End()
	first.End() // once is enough
	h.Publish(Block, "w", func() any { t.Error("data was made after the last listener"); return nil })
	second := h.Listen()
	publish(h, Block, 2)
	if e := <-second.Events(); e.ID != 2 || e.Data != 2 {
		t.Errorf("the second event is %+v", e)
	}
	if have := received(first); !slices.Equal(have, []any{1}) {
		t.Errorf("the first listener got %v", have)
	}
}

// TestListeningTellsOfTheFirst: the channel closes when somebody begins to listen, each time that nobody did.
func TestListeningTellsOfTheFirst(t *testing.T) {
	h := NewHub()
	closed := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	for range 2 {
		now, begun := h.Listening()
		if now || closed(begun) {
			t.Error("somebody listens already")
		}
		a := h.Listen()
		if now, _ := h.Listening(); !now || !closed(begun) {
			t.Error("nobody listens")
		}
		_, next := h.Listening()
		b := h.Listen()
		if closed(next) {
			t.Error("the second listener counts as the first")
		}
		a.End()
		if now, _ := h.Listening(); !now {
			t.Error("the second listener went with the first")
		}
		publish(h, Block, 5)
		if have := received(b); !slices.Equal(have, []any{5}) {
			t.Errorf("the second listener got %v", have)
		}
		b.End()
	}
}

// TestListenersThatFallBehindMissEvents fills a queue: publishing goes on, and the listener learns how many it missed.
func TestListenersThatFallBehindMissEvents(t *testing.T) {
	h := NewHub()
	slow := h.Listen()
	for n := range waiting + 3 {
		publish(h, Block, n)
	}
	if missed := slow.Missed(); missed != 3 {
		t.Errorf("%d events are missing", missed)
	}
	if have := received(slow); len(have) != waiting || have[0] != 0 || have[waiting-1] != waiting-1 {
		t.Errorf("%d events came", len(have))
	}
	publish(h, Block, -1)
	if have := received(slow); !slices.Equal(have, []any{-1}) || slow.Missed() != 0 {
		t.Errorf("afterwards came %v", have)
	}
}

// TestClosingEndsEveryListener: what was published before is still there.
func TestClosingEndsEveryListener(t *testing.T) {
	h := NewHub()
	l := h.Listen()
	publish(h, Block, 1)
	h.Close()
	if e, open := <-l.Events(); !open || e.Data != 1 {
		t.Errorf("the event before is %v", e)
	}
	if _, open := <-l.Events(); open {
		t.Error("the listener goes on")
	}
	h.Publish(Block, "w", func() any { t.Error("data was made for a closed hub"); return nil })
	l.End()
	late := h.Listen()
	if _, open := <-late.Events(); open {
		t.Error("a listener begins after the end")
	}
	if now, _ := h.Listening(); now {
		t.Error("somebody listens to a closed hub")
	}
	h.Close()
}

// TestPublishersAndListenersAtOnce begins and ends listeners while events come.
func TestPublishersAndListenersAtOnce(t *testing.T) {
	h := NewHub()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for n := range 200 {
				publish(h, Block, n)
			}
		})
		wg.Go(func() {
			for range 50 {
				l := h.Listen(Block)
				var last uint64
				for len(l.Events()) > 0 {
					e := <-l.Events()
					if e.ID <= last {
						t.Errorf("event %d comes after %d", e.ID, last)
					}
					last = e.ID
				}
				l.End()
			}
		})
	}
	wg.Wait()
	if now, _ := h.Listening(); now {
		t.Error("a listener is left")
	}
}
