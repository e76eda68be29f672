package verify

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"snowglobe/sim/store"
)

// TestReportTellsWhatWasChecked: the table has every check, even if one failed, and none if there was no file to check.
func TestReportTellsWhatWasChecked(t *testing.T) {
	r := NewReport()
	_ = r.note(checkFile, nil)
	_ = r.note(checkPrimary, context.Canceled)
	r.found["block"].Store(7)
	wrong := store.Damaged(r.note(checkEVM, errors.New("block 5: gas is 1")))
	for _, c := range []struct {
		err     error
		verdict string
	}{{nil, "\nverified: "}, {wrong, "\nnot verified: the file is damaged"}, {errors.New("no world"), ""}} {
		var b strings.Builder
		var answer []byte
		err := r.Print(func(text string, value any) (err error) {
			b.WriteString(text + "\n")
			answer, err = json.Marshal(value)
			return err
		}, c.err)
		if err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if c.verdict == "" {
			if text != "" {
				t.Error(text)
			}
			continue
		}
		for _, want := range []string{"check ", "tables and pages of the file                                         right\n", "WRONG\n", "  blocks                                                          7\n",
			"P- and X-Chain, applied again                                        not checked\n", c.verdict} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
		var shown struct {
			Verified bool
			Reason   string
			Checks   []result
		}
		if err := json.Unmarshal(answer, &shown); err != nil || shown.Verified != (c.err == nil) || shown.Verified != (shown.Reason == "") || len(shown.Checks) != len(checks) ||
			shown.Checks[0].Verdict != "right" || !slices.ContainsFunc(shown.Checks, func(r result) bool { return r.Counted["blocks"] == 7 }) {
			t.Errorf("%v %s", err, answer)
		}
	}
}
