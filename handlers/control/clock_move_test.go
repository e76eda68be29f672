package control_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"snowglobe/handlers/control"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/query"
)

// clocked serves the clock of a world.
func clocked(t *testing.T, w *sim.World) *server {
	t.Helper()
	return serve(t, w, permit.Rule{}, func(s *rest.Server) error {
		return control.RegisterClock(s, w, control.NewClockRunner(w, nil, 0, false))
	})
}

// TestClockRefuses: a body that cannot be obeyed gets the reason, and the clock stays.
func TestClockRefuses(t *testing.T) {
	t.Parallel()
	w := seedtest.Copy(t, 1)
	s, before := clocked(t, w), w.Clock.UnixMilli()
	for body, want := range map[string]string{
		`{}`: "exactly one of", `{"advance":"1h","rate":1}`: "exactly one of", `{"advance":"-1h"}`: "time span", `{"advance":"soon"}`: "time span",
		`{"advance":"30000d"}`: "cannot go that far", `{"advance":"99999999h"}`: "cannot go that far", `{"set":"2020-01-01T00:00:00Z"}`: "never goes back", `{"set":"tomorrow"}`: "expected a time",
		`{"set":"9999-01-01T00:00:00Z"}`: "cannot go that far", `{"rate":-1}`: "rate must be", `{"rate":1e7}`: "rate must be", `{"freeze":false}`: "freeze",
		`{"until":"tea"}`: "is not one of next-block, next-validator-start", `{"leap":1}`: "expected one of",
	} {
		if status, text := s.ask(http.MethodPost, "/sim/clock", body); status != http.StatusBadRequest || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s, want %q", body, status, text, want)
		}
	}
	if now := w.Clock.UnixMilli(); now != before {
		t.Errorf("a refusal moves the clock from %d to %d", before, now)
	}
}

// TestUntilTheNextOfEachKind moves the clock to the next event of each listed kind, and to the next block of a P-Chain.
func TestUntilTheNextOfEachKind(t *testing.T) {
	t.Parallel()
	w := seedtest.Copy(t, 1)
	s := clocked(t, w)
	events := func(query string) (all control.Events) {
		t.Helper()
		decode(t, s.get("/sim/clock/events"+query), &all)
		return all
	}
	if all, few := events("").Events, events("?limit=3").Events; len(all) < 10 || !slices.Equal(few, all[:3]) {
		t.Errorf("the first three of %d: %v", len(all), few)
	}
	for _, kind := range []query.EventKind{query.ValidatorEnd, query.L1Deactivation, query.ValidatorStart, query.DelegatorStart, query.DelegatorEnd, query.Unlock} {
		all := events("").Events
		next := slices.IndexFunc(all, func(e control.Event) bool { return e.Kind == string(kind) })
		var now control.ClockState
		_, text := s.ask(http.MethodPost, "/sim/clock", fmt.Sprintf(`{"until":"next-%s"}`, kind))
		if decode(t, text, &now); next < 0 || now.Unix != all[next].Unix {
			t.Errorf("until %s: %s, want %v", kind, text, all)
		}
	}
	height := func() (sum uint64) {
		for _, n := range w.Networks {
			number, err := n.PHeight(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			sum += number
		}
		return sum
	}
	before := height()
	if _, text := s.ask(http.MethodPost, "/sim/clock", `{"until":"next-block"}`); height() <= before {
		t.Errorf("the P-Chains have %d blocks as before: %s", before, text)
	}
}
