package search

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Report is the result of a search, for programs.
type Report struct {
	Runs      int      `json:"runs"`
	Planned   int      `json:"planned"`
	Stopped   string   `json:"stopped,omitempty"` // why the search ended early
	Unsteady  int      `json:"unsteady"`
	Untouched bool     `json:"untouched,omitempty"` // no run met a fault
	PlainTook string   `json:"plainTook"`
	Found     bool     `json:"found"`
	Run       int64    `json:"run,omitempty"`
	Schedule  string   `json:"schedule,omitempty"`
	Failure   string   `json:"failure,omitempty"`
	Faults    []string `json:"faults,omitempty"`
	From      int      `json:"from,omitempty"`
	Attempts  int      `json:"attempts,omitempty"`
	// Unfinished means that the search ended before it knew that every fault is needed.
	Unfinished bool   `json:"unfinished,omitempty"`
	Output     string `json:"output,omitempty"`
	Again      string `json:"again,omitempty"`
}

// Report summarizes the result. again returns the command line that repeats a schedule.
func (r *Result) Report(again func(id string) string) *Report {
	report := &Report{Runs: len(r.Runs), Planned: r.Planned, Stopped: r.Stopped, Unsteady: r.Unsteady, PlainTook: r.Plain.Took.Round(time.Millisecond).String()}
	report.Untouched = len(r.Runs) > 0 && !slices.ContainsFunc(r.Runs, func(run Record) bool { return len(run.Outcome.Applied) > 0 })
	f := r.Found
	if f == nil {
		return report
	}
	report.Found, report.Run, report.Schedule, report.Failure = true, f.Number, f.List.ID(), f.Outcome.Failure
	report.From, report.Attempts, report.Unfinished, report.Output, report.Again = f.From, f.Attempts, f.Unfinished, f.Outcome.Output, again(f.List.ID())
	for _, p := range f.List {
		report.Faults = append(report.Faults, p.String())
	}
	return report
}

// String returns the report for people.
func (r *Report) String() string {
	var b strings.Builder
	if !r.Found {
		fmt.Fprintf(&b, "no failure in %d runs", r.Runs)
		if r.Stopped != "" {
			fmt.Fprintf(&b, " of %d: %s", r.Planned, r.Stopped)
		}
		if r.Untouched {
			b.WriteString("; none met a fault: does the command ask the server at SNOWGLOBE_URL?")
		}
		if r.Unsteady > 0 {
			fmt.Fprintf(&b, "; %d failed once and passed again with the same faults", r.Unsteady)
		}
		return b.String()
	}
	switch {
	case r.Unfinished:
		fmt.Fprintf(&b, "run %d fails: %s\n%d of its %d faults are left after %d more runs, and perhaps fewer suffice (%s):\n", r.Run, r.Failure, len(r.Faults), r.From, r.Attempts, r.Stopped)
	case r.Run > 0:
		fmt.Fprintf(&b, "run %d fails: %s\n%d of its %d faults suffice (%d more runs):\n", r.Run, r.Failure, len(r.Faults), r.From, r.Attempts)
	default:
		fmt.Fprintf(&b, "the known schedule %s fails: %s\n", r.Schedule, r.Failure)
	}
	for _, f := range r.Faults {
		fmt.Fprintf(&b, "  * %s\n", f)
	}
	if out := strings.TrimSpace(r.Output); out != "" {
		fmt.Fprintf(&b, "the command's last output:\n%s\n", indented(out))
	}
	fmt.Fprintf(&b, "again: %s", r.Again)
	return b.String()
}
