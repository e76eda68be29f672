package events

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Kind is an event's subject.
type Kind string

const (
	Request  Kind = "request"  // a request was answered
	Block    Kind = "block"    // a chain has a new block
	Clock    Kind = "clock"    // the world's clock moved
	Fault    Kind = "fault"    // a fault was applied to a request
	Delivery Kind = "delivery" // a webhook was delivered, or failed to be
	Console  Kind = "console"  // a contract logged to the console
)

// Kinds lists every kind.
var Kinds = []Kind{Request, Block, Clock, Fault, Delivery, Console}

// Event is one event.
type Event struct {
	ID    uint64    `json:"id"` // counts the events published while somebody listened
	Kind  Kind      `json:"kind"`
	World string    `json:"world"`
	Time  time.Time `json:"time"`
	Data  any       `json:"data"`
}

// waiting is the number of events that a listener's queue holds.
const waiting = 1024

// Hub distributes events to listeners.
type Hub struct {
	listening atomic.Int32

	mu        sync.Mutex
	last      uint64
	listeners []*Listener
	closed    bool
	begun     chan struct{} // closed when the first listener begins
}

// NewHub makes a hub without listeners.
func NewHub() *Hub { return &Hub{begun: make(chan struct{})} }

// Listening reports whether anybody listens. While nobody does, it also returns a channel that closes when the first listener begins.
func (h *Hub) Listening() (now bool, begun <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.listeners) > 0, h.begun
}

// Publish sends an event to every listener. data returns the value to encode as JSON; Publish does not call it while nobody listens.
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

// Listen starts collecting events of the named kinds, or of all kinds if none is named. The caller must call End.
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

// Events returns the channel of events. It closes with the hub.
func (l *Listener) Events() <-chan Event { return l.events }

// Missed returns the number of events dropped for lack of room since its last call.
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
