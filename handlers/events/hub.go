package events

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Kind is what an event is about.
type Kind string

// The kinds.
const (
	Request  Kind = "request"  // a request was answered
	Block    Kind = "block"    // a chain has a new block
	Clock    Kind = "clock"    // the world's clock moved
	Fault    Kind = "fault"    // a fault was applied to a request
	Delivery Kind = "delivery" // a webhook was delivered, or was not
)

// Kinds are all of them.
var Kinds = []Kind{Request, Block, Clock, Fault, Delivery}

// Event is something that happened.
type Event struct {
	ID    uint64    `json:"id"` // counts the events that somebody listened to
	Kind  Kind      `json:"kind"`
	World string    `json:"world"`
	Time  time.Time `json:"time"`
	Data  any       `json:"data"`
}

// waiting is how many events may wait for one listener.
const waiting = 1024

// Hub passes events on.
type Hub struct {
	listening atomic.Int32

	mu        sync.Mutex
	last      uint64
	listeners []*Listener
	closed    bool
	begun     chan struct{} // closed when the first begins to listen
}

// NewHub makes a hub without listeners.
func NewHub() *Hub { return &Hub{begun: make(chan struct{})} }

// Listening says whether anybody listens, and gives what is closed when somebody begins to while nobody does.
func (h *Hub) Listening() (now bool, begun <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.listeners) > 0, h.begun
}

// Publish tells everyone who listens. data makes what there is to tell, to be encoded as JSON, and is not called when nobody
// listens.
func (h *Hub) Publish(kind Kind, world string, data func() any) {
	if h == nil || h.listening.Load() == 0 {
		return
	}
	e := Event{Kind: kind, World: world, Time: time.Now().UTC(), Data: data()}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last++
	e.ID = h.last
	for _, l := range h.listeners {
		l.offer(e)
	}
}

// Listen begins to collect events of some kinds, of all when none is named. End it.
func (h *Hub) Listen(kinds ...Kind) *Listener {
	l := &Listener{hub: h, kinds: kinds, events: make(chan Event, waiting)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		close(l.events)
		return l
	}
	if len(h.listeners) == 0 {
		close(h.begun)
		h.begun = make(chan struct{})
	}
	h.listeners = append(h.listeners, l)
	h.listening.Add(1)
	return l
}

// Close ends every listener.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.listeners {
		close(l.events)
	}
	h.closed, h.listeners = true, nil
	h.listening.Store(0)
}

// Listener collects events.
type Listener struct {
	hub    *Hub
	kinds  []Kind
	events chan Event
	missed atomic.Uint64
}

// Events is where they arrive. It is closed when the hub is.
func (l *Listener) Events() <-chan Event { return l.events }

// Missed is how many events there was no room for since it was last asked.
func (l *Listener) Missed() uint64 { return l.missed.Swap(0) }

// End stops collecting.
func (l *Listener) End() {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	if i := slices.Index(l.hub.listeners, l); i >= 0 {
		l.hub.listeners = slices.Delete(l.hub.listeners, i, i+1)
		l.hub.listening.Add(-1)
	}
}

func (l *Listener) offer(e Event) {
	if len(l.kinds) > 0 && !slices.Contains(l.kinds, e.Kind) {
		return
	}
	select {
	case l.events <- e:
	default:
		l.missed.Add(1)
	}
}
