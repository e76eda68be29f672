package metrics_test

import (
	"testing"
	"time"
)

func TestEveryPointOfTinyWorldsIsWhatTheRowsSay(t *testing.T) {
	for _, number := range seeds() {
		w := withClock(t, number)
		w.Clock.Set(w.Clock.Now().Add(50*time.Hour + 30*time.Minute)) // a while after the last block
		compareAll(t, w)
	}
}

func TestEveryPointOfTheDefaultWorldIsWhatTheRowsSay(t *testing.T) {
	compareAll(t, shared(t, usual(), 1))
}
