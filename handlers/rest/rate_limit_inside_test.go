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
	if len(l.clients) != 100 || len(l.order) != 100 {
		t.Errorf("limiter holds %d clients, %d windows", len(l.clients), len(l.order))
	}
	if _, _, ok := l.take("9999", 1, now); ok {
		t.Error("an active client was forgotten")
	}
	l.take("last", 1, now.Add(time.Minute))
	if len(l.clients) != 1 || len(l.order) != 1 {
		t.Errorf("limiter holds %d clients after their windows", len(l.clients))
	}
}
