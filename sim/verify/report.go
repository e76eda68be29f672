package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"snowglobe/sim/store"
)

// What Verify checks, in the order in which it is printed.
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

// Report is what Verify checked, and what came of it.
type Report struct {
	found Findings

	mu       sync.Mutex
	verdicts map[string]string // by check
}

// NewReport is that of a file that could not even be opened.
func NewReport() *Report { return &Report{found: newFindings(), verdicts: map[string]string{}} }

// note keeps what came of a check. One that was broken off because another failed was not made.
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

// Print writes the table and the verdict. A file that is not there, or not to be opened for another reason than that it is damaged, has none.
func (r *Report) Print(w io.Writer, err error) error {
	verdict := "verified: every row follows from the transactions"
	if err != nil {
		verdict = "not verified: the file is damaged"
	}
	var damage *store.DamageError
	if err != nil && !errors.As(err, &damage) {
		return nil
	}
	_, err = fmt.Fprintf(w, "%s\n%s\n", r, verdict)
	return err
}

// String is a table: check, how much of what was counted, verdict.
func (r *Report) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	line := func(check, count, verdict string) {
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-56s %10s  %s", check, count, verdict), " ") + "\n")
	}
	line("check", "counted", "verdict")
	for _, check := range checks {
		verdict := r.verdicts[check]
		if verdict == "" {
			verdict = "not checked"
		}
		line(check, "", verdict)
		for _, c := range counted {
			if c.check == check && verdict != "not checked" {
				line("  "+c.name, strconv.FormatInt(r.found[c.table].Load(), 10), "")
			}
		}
	}
	return b.String()
}
