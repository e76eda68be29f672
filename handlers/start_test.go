// make bench: the first start.

package handlers_test

import (
	"path/filepath"
	"slices"
	"time"
)

// starts measures how long a user waits from the start of the process to the first answer of eth_chainId.
func (r *report) starts() {
	withFile := budget("start with a file of any size, to the first answer")
	r.table("start\tmedian ms\tslowest ms\tCPU ms\tbudget", func(row func(string, ...any)) {
		for _, c := range []struct {
			name, profile string
			warm          bool
			budget        string
		}{
			{"first, tiny", "tiny", false, budget("first start, tiny, to the first answer")},
			{"first, default", "default", false, budget("first start, default, to the first answer")},
			{"with a file, tiny", "tiny", true, withFile},
			{"with a file, default", "default", true, withFile},
			{"with a file, large", "large", true, withFile},
		} {
			var took, worked []time.Duration
			for range starts {
				t, cpu := r.start(c.profile, c.warm)
				took, worked = append(took, t), append(worked, cpu)
			}
			row("%s\t%.1f\t%.1f\t%.0f\t%s", c.name, milliseconds(median(took)), milliseconds(slices.Max(took)),
				milliseconds(median(worked)), c.budget)
		}
	})
}

// start returns the duration of one start, and its CPU time.
func (r *report) start(profile string, warm bool) (took, worked time.Duration) {
	db := filepath.Join(r.b.TempDir(), "snowglobe.db")
	if warm {
		db = r.world(profile)
	}
	p := r.serve("--profile", profile, "--db", db)
	defer p.stop()
	return p.waited, busy(p.cmd.Process.Pid)
}
