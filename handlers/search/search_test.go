package search_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"snowglobe/handlers/events"
	"snowglobe/handlers/fault"
	"snowglobe/handlers/search"
)

// program asks for ten chains, several times each. fails decides from the faults it met whether it fails.
func program(fails func(met []string) bool) search.Run { return programOf(10, fails) }

func programOf(chains int, fails func(met []string) bool) search.Run {
	return func(_ context.Context, s *fault.Schedule) (*search.Outcome, error) {
		set := fault.NewSet(1, "main", time.Now, events.NewHub())
		set.Follow(s, func() int64 { return 0 }, func(context.Context) {})
		var met []string
		for range 3 {
			for chain := range chains {
				path := fmt.Sprintf("/v1/chains/%d", chain)
				p := set.Decide(&fault.Request{Interface: "data", Operation: "getChain", Method: "GET", Path: path, Text: path, Header: http.Header{}})
				if p != nil {
					met = append(met, strings.TrimPrefix(p.Text, "schedule: ")+fmt.Sprint(chain))
				}
			}
		}
		o := &search.Outcome{Applied: s.Applied(), Output: strings.Join(met, " ")}
		if fails(met) {
			o.Failure = "exit code 1"
		}
		return o, nil
	}
}

func find(t *testing.T, run search.Run, o search.Options) *search.Result {
	t.Helper()
	if o.Runs == 0 {
		o.Runs = 300
	}
	r, err := search.Find(t.Context(), run, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func names(l fault.List) (all []string) {
	for _, p := range l {
		all = append(all, fmt.Sprintf("%s*%d %s", p.Kind, p.Times, p.What))
	}
	slices.Sort(all)
	return all
}

// TestACommandWithManyRequestsMeetsFewFaults: the run without faults tells how many requests may fail.
func TestACommandWithManyRequestsMeetsFewFaults(t *testing.T) {
	r := find(t, programOf(400, func([]string) bool { return false }), search.Options{Runs: 60})
	met := 0
	for _, run := range r.Runs {
		met += len(run.Outcome.Applied)
		if len(run.Outcome.Applied) > 80 {
			t.Errorf("run %d has %d faults", run.Number, len(run.Outcome.Applied))
		}
	}
	if met < 60 {
		t.Errorf("%d faults in %d runs", met, len(r.Runs))
	}
}

// TestAFailureIsShrunk finds failures that need one fault, or two, and keeps no others. Of several kinds, the mildest that still fails remains.
func TestAFailureIsShrunk(t *testing.T) {
	for _, workers := range []int{1, 4} {
		one := find(t, program(func(met []string) bool { return slices.Contains(met, "cut3") || slices.Contains(met, "5033") }), search.Options{Workers: workers})
		if one.Found == nil || fmt.Sprint(names(one.Found.List)) != "[503*1 GET /v1/chains/3]" {
			t.Fatalf("%+v", one.Found)
		}
		two := find(t, program(func(met []string) bool { return slices.Contains(met, "reset1") && slices.Contains(met, "4292") }), search.Options{Runs: 3_000, Workers: workers})
		if two.Found == nil || fmt.Sprint(names(two.Found.List)) != "[429*1 GET /v1/chains/2 reset*1 GET /v1/chains/1]" || two.Found.From < 2 {
			t.Fatalf("%+v", two.Found)
		}
	}
}

// TestNothingIsTriedTwice while a failure is shrunk, but the whole list and what is left of it, to be sure. Faults are tried alone first, the last one first.
func TestNothingIsTriedTwice(t *testing.T) {
	for _, needed := range [][]string{{"reset1"}, {"reset1", "4292"}, {"reset1", "4292", "5030"}} {
		fails := program(func(met []string) bool {
			return !slices.ContainsFunc(needed, func(n string) bool { return !slices.Contains(met, n) }) && !strings.Contains(fmt.Sprint(met), "limited")
		})
		var tried []*search.Outcome // from the first failure on
		f := find(t, func(ctx context.Context, s *fault.Schedule) (*search.Outcome, error) {
			o, err := fails(ctx, s)
			if tried != nil || o.Failure != "" {
				tried = append(tried, o)
			}
			return o, err
		}, search.Options{Runs: 30_000}).Found
		if f == nil || len(f.List) != len(needed) || f.From <= len(needed) || f.Attempts != len(tried)-1 || f.Outcome != tried[f.Attempts] {
			t.Fatalf("%v: %+v, %d tries", needed, f, len(tried))
		}
		whole, times := tried[0].Applied, map[string]int{}
		for i, o := range tried {
			times[o.Applied.ID()]++
			if alone := i > 0 && (i <= f.From || len(needed) == 1); len(o.Applied) == 0 || alone && len(o.Applied) != 1 {
				t.Errorf("%v: try %d meets %s", needed, i, o.Applied)
			}
		}
		if at := f.From; len(needed) > 1 && tried[1].Applied.ID() != whole[at-1:].ID() {
			t.Errorf("%v: %s is tried first, of %s", needed, tried[1].Applied, whole)
		}
		for id, n := range times {
			if sure := id == f.List.ID() || id == whole.ID() && len(needed) > 1; n != 1 && !sure || sure && n != 3 {
				t.Errorf("%v: %s was tried %d times", needed, id, n)
			}
		}
	}
}

// TestAFaultOfARetryIsShrunk: a program asks until it has two answers, and fails if the second one is stale. A failure before that is left out.
func TestAFaultOfARetryIsShrunk(t *testing.T) {
	found := false // with both, so that the search doesn't find the stale answer alone first
	run := func(_ context.Context, s *fault.Schedule) (*search.Outcome, error) {
		set := fault.NewSet(1, "main", time.Now, events.NewHub())
		revision := int64(0)
		set.Follow(s, func() int64 { revision++; return revision }, func(context.Context) {})
		ask := func() string {
			p := set.Decide(&fault.Request{Interface: "data", Operation: "getChain", Method: "GET", Path: "/v1/chains/1", Text: "/v1/chains/1", Header: http.Header{}})
			if p == nil {
				return ""
			}
			return strings.TrimPrefix(p.Text, "schedule: ")
		}
		kind, refused := "", 0
		for answers := 0; answers < 2; {
			if kind = ask(); kind == "503" {
				refused++
			} else {
				answers++
			}
		}
		o := &search.Outcome{Applied: s.Applied()}
		found = found || kind == "stale" && refused == 1 && len(o.Applied) == 2
		if found && kind == "stale" {
			o.Failure = "exit code 1"
		}
		return o, nil
	}
	f := find(t, run, search.Options{Runs: 3_000}).Found
	if f == nil || f.From != 2 || len(f.List) != 1 || f.List[0].Kind != "stale" || f.List[0].Nth != 2 {
		t.Errorf("%+v", f)
	}
}

// TestAFaultWhoseRequestDependsOnAnother: a risen price changes the hash of a payment, and so the request for its receipt. The price is left out still.
func TestAFaultWhoseRequestDependsOnAnother(t *testing.T) {
	found := false // with both, so that the search doesn't find the other fault alone first
	run := func(_ context.Context, s *fault.Schedule) (*search.Outcome, error) {
		set := fault.NewSet(1, "main", time.Now, events.NewHub())
		set.Follow(s, func() int64 { return 0 }, func(context.Context) {})
		path := "/v1/chains/1"
		if slices.Contains(s.World(), "fee") {
			path = "/v1/chains/2"
		}
		p := set.Decide(&fault.Request{Interface: "data", Operation: "getChain", Method: "GET", Path: path, Text: path, Header: http.Header{}})
		o := &search.Outcome{Applied: s.Applied()}
		found = found || p != nil && path == "/v1/chains/2" && len(o.Applied) == 2
		if found && p != nil {
			o.Failure = "exit code 1"
		}
		return o, nil
	}
	if f := find(t, run, search.Options{Runs: 1_000}).Found; f == nil || f.From != 2 || len(f.List) != 1 || f.List[0].On != "getChain" || f.List[0].Key != "*" {
		t.Errorf("%+v", f)
	}
}

// TestDelaysThatOnlyMatterTogetherBecomeOne: a program asks for ten chains and fails if that takes too long.
func TestDelaysThatOnlyMatterTogetherBecomeOne(t *testing.T) {
	run := func(_ context.Context, s *fault.Schedule) (*search.Outcome, error) {
		set := fault.NewSet(1, "main", time.Now, events.NewHub())
		set.Follow(s, func() int64 { return 0 }, func(context.Context) {})
		took := time.Duration(0)
		for chain := range 10 {
			path := fmt.Sprintf("/v1/chains/%d", chain)
			if p := set.Decide(&fault.Request{Interface: "data", Operation: "getChain", Method: "GET", Path: path, Text: path, Header: http.Header{}}); p != nil {
				took += p.Delay
			}
		}
		o := &search.Outcome{Applied: s.Applied()}
		if took > 2*time.Second {
			o.Failure = "exit code 1"
		}
		return o, nil
	}
	if f := find(t, run, search.Options{}).Found; f == nil || f.From < 3 || len(f.List) != 1 || f.List[0].Kind != "slow" {
		t.Errorf("%+v", f)
	}
}

// TestTheFirstDoubledMessageIsBlamed: a program gets four messages and fails if any comes twice. The last could come again after it has ended.
func TestTheFirstDoubledMessageIsBlamed(t *testing.T) {
	var first fault.List // of the run that failed first
	run := func(_ context.Context, s *fault.Schedule) (*search.Outcome, error) {
		set := fault.NewSet(1, "main", time.Now, events.NewHub())
		set.Follow(s, func() int64 { return 0 }, func(context.Context) {})
		o := &search.Outcome{}
		for number := range int64(4) {
			if a, _ := set.DecideEvent(&fault.Event{Webhook: "address_activity", Text: "{}", Number: number + 1}, &fault.Request{Interface: "webhook"}); a != nil && a.Double > 0 {
				o.Failure = "exit code 1"
			}
		}
		if o.Applied = s.Applied(); first == nil && len(o.Applied) > 1 {
			first = o.Applied
		} else if first == nil {
			o.Failure = ""
		}
		return o, nil
	}
	if f := find(t, run, search.Options{}).Found; f == nil || len(f.List) != 1 || f.List[0].String() != first[0].String() {
		t.Errorf("%+v of %v", f, first)
	}
}

// TestAProgramWithRandomParameters asks for other chains in each run, and fails if the second request fails: the schedule counts its requests.
func TestAProgramWithRandomParameters(t *testing.T) {
	var last atomic.Int64
	run := func(_ context.Context, s *fault.Schedule) (*search.Outcome, error) {
		set := fault.NewSet(1, "main", time.Now, events.NewHub())
		set.Follow(s, func() int64 { return 0 }, func(context.Context) {})
		o := &search.Outcome{}
		for i := range 3 {
			path := fmt.Sprintf("/v1/chains/%d", last.Add(1))
			if p := set.Decide(&fault.Request{Interface: "data", Operation: "getChain", Method: "GET", Path: path, Text: path, Header: http.Header{}}); p != nil && i == 1 {
				o.Failure = "exit code 1"
			}
		}
		o.Applied = s.Applied()
		return o, nil
	}
	f := find(t, run, search.Options{}).Found
	if f == nil || len(f.List) != 1 || f.List[0].Nth != 2 || !strings.HasPrefix(f.List[0].String(), "the 2nd of getChain, whatever its parameters, is ") {
		t.Fatalf("%+v", f)
	}
	if read, err := fault.ParseLists(f.List.String()); err != nil || read[0].String() != f.List.String() {
		t.Errorf("%s is read as %v, %v", f.List, read, err)
	}
}

// TestAProgramThatPasses sees a different schedule in each run.
func TestAProgramThatPasses(t *testing.T) {
	met := map[string]bool{}
	told := 0
	r := find(t, program(func(m []string) bool { met[fmt.Sprint(m)] = true; return false }), search.Options{Runs: 60, Progress: func(done, total int) {
		if told++; done != told || total != 60 {
			t.Errorf("%d of %d, want %d", done, total, told)
		}
	}})
	if r.Found != nil || len(r.Runs) != 60 || told != 60 || len(met) < 30 {
		t.Errorf("%d runs, %d told, %d outcomes, %v", len(r.Runs), told, len(met), r.Found)
	}
	if text := r.Report(nil).String(); text != "no failure in 60 runs" {
		t.Error(text)
	}
	idle := func(context.Context, *fault.Schedule) (*search.Outcome, error) { return &search.Outcome{}, nil }
	if text := find(t, idle, search.Options{Runs: 3}).Report(nil).String(); text != "no failure in 3 runs; none met a fault: does the command ask the server at SNOWGLOBE_URL?" {
		t.Error(text)
	}
}

// TestAProgramThatFailsByItself fails always, or now and then, without faults.
func TestAProgramThatFailsByItself(t *testing.T) {
	if _, err := search.Find(t.Context(), program(func([]string) bool { return true }), search.Options{Runs: 5}); !errors.Is(err, search.ErrPlain) || !strings.HasSuffix(err.Error(), ": exit code 1\n  (it printed nothing)") {
		t.Errorf("it always fails: %v", err)
	}
	var runs atomic.Int64
	r := find(t, program(func(met []string) bool { return len(met) > 0 && runs.Add(1) == 5 }), search.Options{Runs: 30})
	if r.Found != nil || r.Unsteady != 1 || !strings.Contains(r.Report(nil).String(), "1 failed once and passed again") {
		t.Errorf("it failed once: %+v", r)
	}
	failed := false
	_, err := search.Find(t.Context(), program(func(met []string) bool {
		fails := len(met) == 0 && failed
		failed = true
		return fails
	}), search.Options{Runs: 300})
	if err == nil || !strings.Contains(err.Error(), "failed without a fault") {
		t.Errorf("it fails without a fault: %v", err)
	}
}

// TestTheBudgetEndsASearch without an error.
func TestTheBudgetEndsASearch(t *testing.T) {
	slow := program(func([]string) bool { time.Sleep(5 * time.Millisecond); return false })
	r := find(t, func(ctx context.Context, s *fault.Schedule) (*search.Outcome, error) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return slow(ctx, s)
	}, search.Options{Runs: 1 << 30, Budget: 100 * time.Millisecond, Workers: 2})
	if r.Found != nil || len(r.Runs) == 0 || len(r.Runs) > 200 {
		t.Errorf("%d runs, %v", len(r.Runs), r.Found)
	}
	if text := r.Report(nil).String(); text != fmt.Sprintf("no failure in %d runs of %d: the budget is used up", len(r.Runs), 1<<30) {
		t.Error(text)
	}
}

// TestASearchThatEndsEarlyTellsWhatItFound: the budget ends, or the user stops the search, after any number of runs that shrink a failure.
func TestASearchThatEndsEarlyTellsWhatItFound(t *testing.T) {
	fails := program(func(met []string) bool { return slices.Contains(met, "reset1") })
	for _, stopped := range []string{"the budget is used up", "interrupted"} {
		for last := 0; ; last++ { // runs after the failure
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			after := -1
			r, err := search.Find(ctx, func(ctx context.Context, s *fault.Schedule) (*search.Outcome, error) {
				if after == last {
					if stopped == "interrupted" {
						stop()
					}
					<-ctx.Done()
					return nil, ctx.Err()
				}
				o, err := fails(ctx, s)
				if after >= 0 || o.Failure != "" {
					after++
				}
				return o, err
			}, search.Options{Runs: 300, Budget: 300 * time.Millisecond})
			if r.Found != nil && !r.Found.Unfinished && last > 3 {
				break
			}
			if interrupted := stopped == "interrupted"; interrupted != errors.Is(err, context.Canceled) || !interrupted && err != nil {
				t.Errorf("%s: %v", stopped, err)
			}
			if r.Found == nil || !r.Found.Unfinished || r.Found.Attempts != last || r.Found.Outcome.Applied.ID() != r.Found.List.ID() {
				t.Fatalf("%s after %d more runs: %+v", stopped, last, r.Found)
			}
			text := r.Report(func(id string) string { return "exec " + id }).String()
			want := fmt.Sprintf("run %d fails: exit code 1\n%d of its %d faults are left after %d more runs, and perhaps fewer suffice (%s):\n", r.Found.Number, len(r.Found.List), r.Found.From, last, stopped)
			if !strings.HasPrefix(text, want) || !strings.HasSuffix(text, "again: exec "+r.Found.List.ID()) {
				t.Errorf("%s, want %s", text, want)
			}
			var page strings.Builder
			if err := r.WritePage(&page, "true", r.Report(func(string) string { return "" })); err != nil || !strings.Contains(page.String(), "The search ended early ("+stopped+")") {
				t.Errorf("the page: %v, %s", err, &page)
			}
		}
	}
}

// TestAFailureBesideARunThatHangs is told even if the budget ends before the other worker's run.
func TestAFailureBesideARunThatHangs(t *testing.T) {
	var runs atomic.Int64
	hangs := make(chan struct{})
	r := find(t, func(ctx context.Context, s *fault.Schedule) (*search.Outcome, error) {
		switch runs.Add(1) {
		case 1:
			return &search.Outcome{}, nil
		case 2:
			<-hangs
			return &search.Outcome{Failure: "exit code 1", Applied: fault.List{{Kind: "503", Times: 1, On: "getChain", Key: "*", Nth: 1}}}, nil
		case 3:
			close(hangs)
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}, search.Options{Workers: 2, Budget: 100 * time.Millisecond})
	if r.Found == nil || !r.Found.Unfinished || len(r.Found.List) != 1 {
		t.Errorf("%+v", r.Found)
	}
}

// TestThePage has every run, its faults and the finding, all escaped.
func TestThePage(t *testing.T) {
	r := find(t, program(func(met []string) bool { return slices.Contains(met, "reset7") }), search.Options{})
	slices.Reverse(r.Runs) // as several workers may end them
	var page strings.Builder
	if err := r.WritePage(&page, "sh -c 'echo <b>'", r.Report(func(id string) string { return "exec " + id })); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"sh -c &#39;echo &lt;b&gt;&#39;", "exec " + r.Found.List.ID(), fmt.Sprintf("Run %d failed with %d faults", r.Found.Number, r.Found.From)} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	first, last := strings.Index(page.String(), "<tr><td>1<"), strings.Index(page.String(), fmt.Sprintf("<tr><td>%d<", r.Found.Number))
	if len(r.Runs) < 2 || first < 0 || last < first {
		t.Errorf("run 1 is at %d, run %d at %d", first, r.Found.Number, last)
	}
	for _, run := range r.Runs {
		if list := run.Outcome.Applied; len(list) > 0 && !strings.Contains(page.String(), "<pre>"+list.String()+"</pre>") {
			t.Errorf("the page lacks the schedule of run %d", run.Number)
		}
	}
	if n := strings.Count(page.String(), "<tr><td>"); n != len(r.Runs) || n == 0 {
		t.Errorf("%d of %d runs", n, len(r.Runs))
	}
}

// TestReportsAsText compares whole reports.
func TestReportsAsText(t *testing.T) {
	for _, c := range []struct {
		report search.Report
		want   string
	}{
		{search.Report{Runs: 5, Planned: 9, Stopped: "interrupted"}, "no failure in 5 runs of 9: interrupted"},
		{search.Report{Runs: 5, Unsteady: 2}, "no failure in 5 runs; 2 failed once and passed again with the same faults"},
		{search.Report{Found: true, Run: 7, Failure: "exit code 1", Faults: []string{"a", "b"}, From: 4, Attempts: 12, Again: "exec"},
			"run 7 fails: exit code 1\n2 of its 4 faults suffice (12 more runs):\n  * a\n  * b\nagain: exec"},
		{search.Report{Found: true, Schedule: "5f", Failure: "exit code 2", Faults: []string{"a"}, Output: " said\nmore\n", Again: "exec"},
			"the known schedule 5f fails: exit code 2\n  * a\nthe command's last output:\n  said\n  more\nagain: exec"},
		{*(&search.Result{Plain: &search.Outcome{}}).Report(nil), "no failure in 0 runs"},
	} {
		if got := c.report.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestTheCorpus keeps each schedule once, finds it by id and by file, and a search tries it first.
func TestTheCorpus(t *testing.T) {
	path := filepath.Join(t.TempDir(), "schedules.txt")
	if none, err := search.ReadCorpus(path); none != nil || err != nil {
		t.Fatal(none, err)
	}
	fails := program(func(met []string) bool { return slices.Contains(met, "reset7") })
	found := find(t, fails, search.Options{}).Found
	for range 2 {
		if err := search.Keep(path, found.List, "a\nprogram"); err != nil {
			t.Fatal(err)
		}
	}
	text, _ := os.ReadFile(path)
	if strings.Count(string(text), "schedule ") != 1 || !strings.HasPrefix(string(text), "# a program\n") {
		t.Errorf("the file is %s", text)
	}
	for _, name := range []string{found.List.ID(), found.List.ID()[:4], path} {
		if l, err := search.Named(name, path); err != nil || l.ID() != found.List.ID() {
			t.Errorf("%s: %v, %v", name, l, err)
		}
	}
	two := filepath.Join(t.TempDir(), "two.txt")
	if err := os.WriteFile(two, []byte("schedule a\n503*1 getChain * 1\nschedule b\n503*1 getChain * 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := search.Named(two, path); err == nil || err.Error() != fmt.Sprintf("%s has 2 schedules: choose one by its id, with --corpus %[1]s", two) {
		t.Error(err)
	}
	if _, err := search.Named("ffff", path); err == nil || !strings.Contains(err.Error(), "neither a file nor the id") {
		t.Error(err)
	}
	known, err := search.ReadCorpus(path)
	if err != nil {
		t.Fatal(err)
	}
	r := find(t, fails, search.Options{Known: known})
	if len(r.Runs) != 1 || r.Found == nil || r.Found.Number != 0 || !strings.Contains(r.Report(func(id string) string { return "exec " + id }).String(), " of GET /v1/chains/7 is not carried out: the connection is reset\n") {
		t.Errorf("%+v", r.Found)
	}
	if err := os.WriteFile(path, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := search.ReadCorpus(path); err == nil || !strings.Contains(err.Error(), path+": line 1") {
		t.Error(err)
	}
}
