package rpc

import (
	"context"
	"sync"
	"time"

	"snowglobe/handlers/fault"
	"snowglobe/handlers/rest"
)

// stream forwards the notifications of a subscription, altered by faults.
type stream struct {
	conn *connection
	id   ID
	kind string // such as logs

	mu   sync.Mutex
	lost int // further notifications to lose
	held []heldNotification
}

// heldNotification waits for later notifications to overtake it.
type heldNotification struct {
	message []byte
	after   int // later notifications to wait for
}

// heldTime is how long a notification waits for later ones.
const heldTime = time.Second

// mostHeld bounds the notifications that wait at a time; more are sent at once.
const mostHeld = 1_000

// pass sends a notification, unless a fault says otherwise.
func (s *stream) pass(ctx context.Context, event, message []byte) error {
	a, delay := rest.EventFault(s.conn.opened.Context(), &fault.Event{Subscription: s.kind, Text: string(event)})
	if !fault.Sleep(ctx, delay) {
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost > 0 {
		s.lost--
		return nil
	}
	copies := 1
	switch {
	case a == nil:
	case a.Drop.Count > 0:
		s.lost = a.Drop.Count - 1
		return nil
	case a.Reorder > 0 && len(s.held) < mostHeld:
		s.held = append(s.held, heldNotification{message, a.Reorder})
		time.AfterFunc(heldTime, func() { _ = s.release(ctx) }) // a broken connection ends by itself
		return nil
	case a.End == "connection":
		fault.ResetConn(s.conn.socket.NetConn())
		s.conn.cancel()
		return context.Canceled
	case a.End == "subscription":
		s.conn.subscriptions.end(s.id)
		return context.Canceled
	default:
		copies += a.Double
	}
	for range copies {
		if err := s.conn.write(message); err != nil {
			return err
		}
	}
	return s.overtaken()
}

// overtaken counts a sent notification, and sends those that waited for it.
func (s *stream) overtaken() error {
	var waiting []heldNotification
	for _, h := range s.held {
		if h.after--; h.after > 0 {
			waiting = append(waiting, h)
		} else if err := s.conn.write(h.message); err != nil {
			return err
		}
	}
	s.held = waiting
	return nil
}

// release sends all held notifications.
func (s *stream) release(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.held
	s.held = nil
	for _, h := range held {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.conn.write(h.message); err != nil {
			return err
		}
	}
	return nil
}
