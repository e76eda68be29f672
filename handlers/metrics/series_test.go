package metrics_test

import (
	"testing"
	"time"

	"snowglobe/sim/simtest"
)

func TestEveryPointOfTinyWorldsIsWhatTheRowsSay(t *testing.T) {
	for _, number := range seeds(t) {
		w := withClock(t, number)
		w.Clock.Set(w.Clock.Now().Add(50*time.Hour + 30*time.Minute)) // a while after the last block
		compareAll(t, w)
	}
}

func TestEveryPointOfTheDefaultWorldIsWhatTheRowsSay(t *testing.T) {
	compareAll(t, shared(t, usual(t), 1))
}

// TestEveryPointOfAWorldThatClientsChange compares before and after clients have sent transactions.
func TestEveryPointOfAWorldThatClientsChange(t *testing.T) {
	w := generate(t, "tiny", 8)
	for _, steps := range []int{0, 40, 3} {
		if testing.Short() && steps != 3 {
			t.Log("left out of a short run: this number of steps")
			continue
		}
		if err := simtest.SendRandomly(t.Context(), w, uint64(steps), steps); err != nil {
			t.Fatal(err)
		}
		compareAll(t, w)
	}
}
