package metrics_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"snowglobe/sim/simtest"
)

// TestRollingWindowsAreWhatTheRowsSay compares every window of every metric with the naive evaluation, with the clock where history ends, within an
// hour of it and long after. Clients have changed the world.
func TestRollingWindowsAreWhatTheRowsSay(t *testing.T) {
	w := generate(t, "tiny", 7)
	if err := simtest.SendRandomly(t.Context(), w, 1, 12); err != nil {
		t.Fatal(err)
	}
	s, all, until := serve(t, w), happenings(t, w), w.Clock.Now()
	windows := map[string]time.Duration{"lastHour": time.Hour, "lastDay": 24 * time.Hour, "lastWeek": 7 * 24 * time.Hour,
		"lastMonth": 30 * 24 * time.Hour, "last90Days": 90 * 24 * time.Hour, "lastYear": 365 * 24 * time.Hour, "allTime": 0}
	for _, later := range []time.Duration{0, 90 * time.Minute, 5 * 24 * time.Hour, 400 * 24 * time.Hour} {
		w.Clock.Set(until.Add(later))
		for _, scope := range scopes(w) {
			mine := in(all, scope, w)
			for _, metric := range everyMetric {
				if len(metric) > 10 && metric[:10] == "cumulative" {
					continue
				}
				answer := ask[struct{ Result map[string]json.Number }](t, s, "/v2/chains/"+scope+"/rollingWindowMetrics/"+metric)
				if len(answer.Result) != len(windows) {
					t.Fatalf("%s %s: windows are %v", scope, metric, answer.Result)
				}
				for name, length := range windows {
					from := int64(0)
					if length > 0 {
						from = w.Clock.Now().Add(-length).Truncate(time.Hour).Unix()
					}
					if want := naive(metric, mine, from, math.MaxInt64); !same(answer.Result[name], want) {
						t.Errorf("%s %s %s, %s later: %s, want %s", scope, metric, name, later, answer.Result[name], want.RatString())
					}
				}
			}
		}
	}
}
