package metrics_test

import (
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/metrics"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

// aboutChains returns requests for every metric of every chain, in each way of counting.
func aboutChains(w *sim.World) (targets []string) {
	for _, scope := range scopes(w) {
		targets = append(targets, "/v1/avg_tps/"+scope)
		for _, metric := range everyMetric {
			targets = append(targets, "/v2/chains/"+scope+"/metrics/"+metric+"?pageSize=3")
			if metric[:2] != "cu" {
				targets = append(targets, "/v2/chains/"+scope+"/rollingWindowMetrics/"+metric)
			}
		}
		for _, interval := range intervals {
			targets = append(targets, "/v2/chains/"+scope+"/metrics/txCount?pageSize=2&timeInterval="+interval)
		}
	}
	return targets
}

// everyQuestion returns a request to each operation, in each of its ways of counting.
func everyQuestion(t testing.TB, w *sim.World) []string {
	t.Helper()
	targets := aboutChains(w)
	for _, network := range []string{"mainnet", "fuji"} {
		for _, metric := range []string{"validatorCount", "validatorWeight", "delegatorCount", "delegatorWeight"} {
			targets = append(targets, "/v2/networks/"+network+"/metrics/"+metric)
		}
	}
	for target := range feeTargets(t, w) {
		targets = append(targets, target)
	}
	for _, q := range icmQueries(messages(t, w)) {
		targets = append(targets, "/v2/icm/summary"+q.String(), "/v2/icm/timeseries"+q.String()+"&pageSize=5")
	}
	return targets
}

// TestAnswersFollowTheWorldAtOnce requests everything from one server before and after changes to the world, and expects the responses of a fresh
// server.
func TestAnswersFollowTheWorldAtOnce(t *testing.T) {
	w := generate(t, "tiny", 2)
	old, targets, sent := serve(t, w), everyQuestion(t, w), messages(t, w)[0]
	moved := 0
	for _, move := range []func(){
		func() {},
		func() { w.Clock.Set(w.Clock.Now().Add(time.Second)) },
		func() { write(t, w, func(b *store.Batch) error { return b.AddICMCount(&sent) }) },
		func() { w.Clock.Set(w.Clock.Now().Add(30 * 24 * time.Hour)) },
		func() { w.Clock.Set(w.Clock.Now().Add(-30 * 24 * time.Hour)) },
	} {
		before := answers(t, old, targets)
		move()
		for i, now := range compareWithNew(t, old, w, targets) {
			if now != before[i] {
				moved++
			}
		}
	}
	if moved < len(targets) {
		t.Errorf("only %d answers changed, of %d", moved, len(targets))
	}
}

// compareWithNew asks a server and a fresh one, and returns their common response.
func compareWithNew(t testing.TB, old *rest.Server, w *sim.World, targets []string) []string {
	t.Helper()
	have, want := answers(t, old, targets), answers(t, serve(t, w), targets)
	for i, target := range targets {
		if have[i] != want[i] {
			t.Fatalf("%s: answer is\n%s, want\n%s", target, have[i], want[i])
		}
	}
	return have
}

func answers(t testing.TB, s *rest.Server, targets []string) (all []string) {
	t.Helper()
	for _, target := range targets {
		code, body := get(t, s, target)
		if code != 200 {
			t.Fatalf("%s: answer is %d %s", target, code, body)
		}
		all = append(all, string(body))
	}
	return all
}

func write(t testing.TB, w *sim.World, what func(*store.Batch) error) {
	t.Helper()
	batch, err := w.DB.Begin()
	if err == nil {
		err = batch.End(what(batch))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestWritersFindWhatTheyWrote sends messages while others read without pause, and finds each in the answers at once.
func TestWritersFindWhatTheyWrote(t *testing.T) {
	w := generate(t, "tiny", 2)
	s, sent := serve(t, w), messages(t, w)[0]
	const target = "/v2/icm/summary"
	count := func() int64 { return ask[metrics.IcmSummary](t, s, target).Result.AllTime }
	first, done := count(), make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", target, nil))
				}
			}
		})
	}
	for i := range int64(100) {
		write(t, w, func(b *store.Batch) error { return b.AddICMCount(&sent) })
		if n := count(); n != first+i+1 {
			t.Errorf("after %d messages there are %d more", i+1, n-first)
		}
	}
	close(done)
	readers.Wait()
}

// TestQuestionsThatDifferAreNotTakenForEachOther requests the stakes of two networks and two subnets alternately.
func TestQuestionsThatDifferAreNotTakenForEachOther(t *testing.T) {
	w := shared(t, "tiny", 2)
	subnet := ids.ID(w.Chains[2].Row.SubnetID).String()
	targets := []string{"/v2/networks/mainnet/metrics/validatorWeight", "/v2/networks/fuji/metrics/validatorWeight",
		"/v2/networks/mainnet/metrics/validatorWeight?subnetId=" + subnet, "/v2/networks/mainnet/metrics/validatorCount",
		"/v2/networks/mainnet/metrics/validatorWeight?pageSize=1", "/v2/chains/43114/metrics/avgTps", "/v1/avg_tps/43114"}
	all := answers(t, serve(t, w), targets)
	for i, a := range all {
		for j := range i {
			if a == all[j] {
				t.Errorf("%s and %s have one answer", targets[i], targets[j])
			}
		}
	}
}
