package metrics_test

import (
	"testing"
	"time"
)

func TestEveryPointOfTinyWorldsIsWhatTheRowsSay(t *testing.T) {
	for _, number := range seeds() {
		w := generate(t, "tiny", number)
		w.Clock.Set(w.Clock.Now().Add(50*time.Hour + 30*time.Minute)) // a while after the last block
		compareAll(t, w)
	}
}

func TestEveryPointOfTheDefaultWorldIsWhatTheRowsSay(t *testing.T) {
	compareAll(t, generate(t, usual(), 1))
}
