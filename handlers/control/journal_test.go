package control_test

import (
	"net/http"
	"strings"
	"testing"

	"snowglobe/handlers/control"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/rest"
	"snowglobe/seed/seedtest"
)

// TestTheJournalVerifies counts requests, checks them, names near misses and forgets.
func TestTheJournalVerifies(t *testing.T) {
	t.Parallel()
	w, j := seedtest.Shared(t, "tiny", 1), journal.New(10, nil, nil)
	api, err := rest.New(rest.Options{Clock: w.Clock, Revision: w.Revision, WorldKey: w.Identity(), Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	if err := control.Register(api, w, "1.2.3", nil); err != nil {
		t.Fatal(err)
	}
	if err := control.RegisterJournal(api, j); err != nil {
		t.Fatal(err)
	}
	s := &server{t, w, api}
	post := func(path, body string, into any) {
		t.Helper()
		_, text := s.ask(http.MethodPost, path, body)
		decode(t, text, into)
	}
	for range 2 { // the second from the cache
		s.get("/sim/world/clock?pretty=false")
	}
	var count control.RequestCount
	if post("/sim/requests:count", `{"operation":"describeSection","parameters":{"section":"clock"}}`, &count); count.Count != 2 {
		t.Errorf("%d requests", count.Count)
	}
	for body, want := range map[string]bool{
		`{"operation":"describeSection"}`: true, `{"operation":"describeSection","times":{"exactly":2}}`: true, `{"operation":"describeSection","times":{"atLeast":3}}`: false,
		`{"operation":"describeSection","times":{"atMost":1}}`: false, `{"operation":"describeSection","times":{"atLeast":1,"atMost":2}}`: true,
		`{"operation":"checkHealth","times":{"exactly":0}}`: true, `{"operation":"checkHealth"}`: false,
	} {
		var v control.Verification
		if post("/sim/requests:verify", body, &v); v.Verified != want {
			t.Errorf("%s: %+v", body, v)
		}
	}
	var v control.Verification
	if post("/sim/requests:verify", `{"operation":"checkHealth"}`, &v); len(v.NearMisses) != 2 || v.NearMisses[0].Request.Operation != "describeSection" || len(v.NearMisses[0].Differences) != 1 {
		t.Errorf("near misses are %+v", v.NearMisses)
	}
	for body, want := range map[string]string{
		`{"operation":"checkHelth"}`: "did you mean checkHealth?", `{"interface":"date"}`: "did you mean data?", `{"times":{}}`: "atLeast", `{"times":{"exactly":1,"atMost":2}}`: "atLeast",
	} {
		if status, text := s.ask(http.MethodPost, "/sim/requests:verify", body); status != http.StatusBadRequest || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
	s.ask(http.MethodDelete, "/sim/requests", "")
	if text := s.get("/sim/requests"); !strings.Contains(text, `"requests":[]`) {
		t.Errorf("what is left is %s", text)
	}
}
