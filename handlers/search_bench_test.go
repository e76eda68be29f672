// make bench: what a run of a search costs beyond the command itself.

package handlers_test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// searching runs a command that does nothing, few times and many times; the difference is the cost of the runs.
func (r *report) searching() {
	const few, many = 10, 210
	r.table("a run of a search\tms\tbudget", func(row func(string, ...any)) {
		for _, workers := range []int{1, 2} {
			search := func(runs int) time.Duration {
				begin := time.Now()
				c := exec.Command(r.program, "search", "--runs", strconv.Itoa(runs), "--workers", strconv.Itoa(workers), "--corpus", filepath.Join(r.b.TempDir(), "none"), "--", "true")
				if out, err := c.CombinedOutput(); err != nil {
					r.b.Fatalf("%v: %s", err, out)
				}
				return time.Since(begin)
			}
			row("%d workers\t%.1f\t%s", workers, milliseconds(search(many)-search(few))/(many-few), budget("each run of a search, besides the command"))
		}
	})
}
