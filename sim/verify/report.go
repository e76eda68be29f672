package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"snowglobe/sim/store"
)

// Checks of Verify, in the order in which they are printed.
const (
	checkFile     = "tables and pages of the file"
	checkDigest   = "digest of the world"
	checkUndo     = "steps back"
	checkPersonas = "keys of personas"
	checkEVM      = "EVM chains, executed again"
	checkPrimary  = "P- and X-Chain, applied again"
	checkPools    = "pools"
	checkExports  = "exports"
	checkCounts   = "rows that nothing accounts for"
)

var checks = []string{checkFile, checkDigest, checkUndo, checkPersonas, checkEVM, checkPrimary, checkPools, checkExports, checkCounts}

// Report lists the checks of Verify and their results.
type Report struct {
	found Findings

	mu       sync.Mutex
	verdicts map[string]string // by check
}

// NewReport returns the report on a file that could not even be opened.
func NewReport() *Report { return &Report{found: newFindings(), verdicts: map[string]string{}} }

// note records the result of a check. A check that was cancelled because another failed counts as not made.
func (r *Report) note(check string, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil:
		r.verdicts[check] = "right"
	case !errors.Is(err, context.Canceled):
		r.verdicts[check] = "WRONG"
	}
	return err
}

// Print prints the table with the verdict, or the same as JSON. A file that does not exist, or could not be opened for a reason other than
// damage, has no verdict.
func (r *Report) Print(print func(text string, value any) error, err error) error {
	verdict, reason := "verified: every row follows from the transactions", ""
	if err != nil {
		verdict, reason = "not verified: the file is damaged", err.Error()
	}
	var damage *store.DamageError
	if err != nil && !errors.As(err, &damage) {
		return nil
	}
	return print(fmt.Sprintf("%s\n%s", r, verdict), struct {
		Verified bool     `json:"verified"`
		Reason   string   `json:"reason,omitempty"`
		Checks   []result `json:"checks"`
	}{err == nil, reason, r.results()})
}

// result is the outcome of a check, right, WRONG or not checked, and its counts.
type result struct {
	Check   string           `json:"check"`
	Verdict string           `json:"verdict"`
	Counted map[string]int64 `json:"counted,omitempty"`
}

func (r *Report) results() (all []result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, check := range checks {
		one := result{Check: check, Verdict: cmp.Or(r.verdicts[check], "not checked"), Counted: map[string]int64{}}
		for _, c := range counted {
			if c.check == check && r.verdicts[check] != "" {
				one.Counted[c.name] = r.found[c.table].Load()
			}
		}
		all = append(all, one)
	}
	return all
}

// String returns a table: check, counts, verdict.
func (r *Report) String() string {
	var b strings.Builder
	line := func(check, count, verdict string) {
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-56s %10s  %s", check, count, verdict), " ") + "\n")
	}
	line("check", "counted", "verdict")
	for _, one := range r.results() {
		line(one.Check, "", one.Verdict)
		for _, c := range counted {
			if n, is := one.Counted[c.name]; is && c.check == one.Check {
				line("  "+c.name, strconv.FormatInt(n, 10), "")
			}
		}
	}
	return b.String()
}
