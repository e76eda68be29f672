package metrics_test

import (
	"testing"
	"time"
)

func TestEveryPointOfTinyWorldsIsWhatTheRowsSay(t *testing.T) {
	numbers := []int64{1, 2, 3, 4, 5, -6}
	if testing.Short() {
		numbers = numbers[:2]
	}
	for _, number := range numbers {
		w := generate(t, "tiny", number)
		w.Clock.Set(w.Clock.Now().Add(50*time.Hour + 30*time.Minute)) // a while after the last block
		compareAll(t, w)
	}
}

func TestEveryPointOfTheDefaultWorldIsWhatTheRowsSay(t *testing.T) {
	profile := "default"
	if testing.Short() {
		profile = "tiny"
	}
	compareAll(t, generate(t, profile, 1))
}
