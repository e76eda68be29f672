package rest

import (
	"fmt"
	"testing"
	"time"
)

func TestLimiterForgetsClients(t *testing.T) {
	l := newLimiter(time.Minute, 100)
	now := time.Unix(0, 0)
	for i := range 10_000 {
		l.take(fmt.Sprint(i), 1, now)
		now = now.Add(time.Millisecond)
	}
	if l.clients.Len() != 100 {
		t.Errorf("limiter holds %d clients", l.clients.Len())
	}
	if _, _, ok := l.take("9999", 1, now); ok {
		t.Error("an active client was forgotten")
	}
	l.take("last", 1, now.Add(time.Minute))
	if l.clients.Len() != 1 {
		t.Errorf("limiter holds %d clients after their windows", l.clients.Len())
	}
	if _, _, ok := l.take("last", 1, now.Add(2*time.Minute-1)); ok {
		t.Error("a window ended too early")
	}
	if _, _, ok := l.take("last", 1, now.Add(2*time.Minute)); !ok {
		t.Error("a window has not ended")
	}
}
