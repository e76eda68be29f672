package metrics_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"snowglobe/handlers/metrics"
	"snowglobe/handlers/rest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

var (
	everyMetric = []string{"activeAddresses", "activeSenders", "cumulativeTxCount", "cumulativeAddresses", "cumulativeContracts",
		"cumulativeDeployers", "contracts", "deployers", "gasUsed", "txCount", "avgGps", "maxGps", "avgTps", "maxTps",
		"avgGasPrice", "maxGasPrice", "feesPaid"}
	longMetrics = map[string]bool{"activeAddresses": true, "activeSenders": true, "gasUsed": true, "txCount": true}
	intervals   = []string{"hour", "day", "week", "month"}
)

// usual returns the profile that users see; a smaller one in a short run.
func usual(t testing.TB) string {
	if testing.Short() {
		t.Log("left out of a short run: the larger world")
		return "tiny"
	}
	return "default"
}

// shared returns a world that several tests read, or whose clock they set and set back.
func shared(t testing.TB, profile string, number int64) *sim.World {
	t.Helper()
	return seedtest.Shared(t, profile, number)
}

// withClock returns a shared world whose clock a test may set until it ends.
func withClock(t testing.TB, number int64) *sim.World {
	t.Helper()
	w := shared(t, "tiny", number)
	until := w.Clock.Now()
	t.Cleanup(func() { w.Clock.Set(until) })
	return w
}

// generate makes a world for one test, which may change it.
func generate(t testing.TB, profile string, number int64) *sim.World {
	t.Helper()
	w := seedtest.Generate(t, store.Memory, profile, number)
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func serve(t testing.TB, w *sim.World) *rest.Server {
	t.Helper()
	s, err := rest.New(rest.Options{Clock: w.Clock, Revision: w.Revision, WorldKey: w.Meta.Digest})
	if err == nil {
		err = metrics.Register(s, w)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func get(t testing.TB, s *rest.Server, target string) (int, []byte) {
	t.Helper()
	r := httptest.NewRequest("GET", target, nil)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if err := s.CheckAnswer(r, w.Code, w.Body.Bytes()); err != nil {
		t.Errorf("%s: %v", target, err)
	}
	return w.Code, w.Body.Bytes()
}

// ask decodes the answer of a request that must succeed.
func ask[T any](t testing.TB, s *rest.Server, target string) (answer T) {
	t.Helper()
	code, body := get(t, s, target)
	if err := json.Unmarshal(body, &answer); code != 200 || err != nil {
		t.Fatalf("%s: answer is %d %s", target, code, body)
	}
	return answer
}

// everyPoint reads all pages of a series.
func everyPoint(t testing.TB, s *rest.Server, scope, metric, interval string, size int) (all []metrics.Point) {
	t.Helper()
	target := fmt.Sprintf("/v2/chains/%s/metrics/%s?timeInterval=%s&pageSize=%d", scope, metric, interval, size)
	for token := ""; ; {
		page := ask[metrics.Series](t, s, target+"&pageToken="+token)
		all = append(all, page.Results...)
		if token = page.NextPageToken; token == "" {
			return all
		}
		if len(page.Results) != size {
			t.Fatalf("%s: a page that is not the last has %d points", target, len(page.Results))
		}
	}
}

// scopes lists everything that a series can be about.
func scopes(w *sim.World) []string {
	list := []string{"total", "mainnet", "testnet"}
	for _, c := range w.Chains {
		list = append(list, strconv.FormatUint(c.Row.EVMID, 10))
	}
	return list
}

// compareAll compares every point of every metric, interval and scope with the naive evaluation.
func compareAll(t *testing.T, w *sim.World) {
	t.Helper()
	s, all := serve(t, w), happenings(t, w)
	for _, scope := range scopes(w) {
		mine := in(all, scope, w)
		for _, metric := range everyMetric {
			for _, interval := range intervals {
				if interval == "day" || longMetrics[metric] {
					compare(t, w, s, mine, scope, metric, interval)
				}
			}
		}
	}
}

func compare(t *testing.T, w *sim.World, s *rest.Server, all []happening, scope, metric, interval string) {
	t.Helper()
	points := everyPoint(t, s, scope, metric, interval, 1000)
	var want []int64
	if len(all) > 0 {
		want = starts(interval, all[0].time, max(w.Clock.Unix()-1, all[len(all)-1].time))
	}
	if len(points) != len(want) {
		t.Fatalf("%s %s by %s: %d points, want %d", scope, metric, interval, len(points), len(want))
	}
	for i, p := range points {
		start := time.Unix(want[i], 0).UTC()
		value := naive(metric, all, want[i], following(interval, start).Unix())
		if p.Timestamp != want[i] || !same(p.Value, value) {
			t.Fatalf("%s %s by %s: point %d is %d %s, want %d (%s) %s", scope, metric, interval, i, p.Timestamp, p.Value,
				want[i], start, value.RatString())
		}
	}
}

// same compares integers exactly and fractions as the nearest floats.
func same(have json.Number, want *big.Rat) bool {
	n, ok := new(big.Rat).SetString(have.String())
	if !ok {
		return false
	}
	if n.Cmp(want) == 0 {
		return true
	}
	f, _ := want.Float64()
	return !want.IsInt() && strconv.FormatFloat(f, 'f', -1, 64) == have.String()
}
