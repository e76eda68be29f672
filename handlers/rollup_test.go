// make bench disables the functions that maintain roll-ups; they must be where it expects them.

package handlers_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// without lists the functions that maintain the roll-ups of the metrics, by file, with the first line that disables them. A program built with these
// lines shows the cost of roll-ups.
var without = map[string]map[string]string{
	"sim/evm/block_metrics.go": {"func (p *BlockExecution) blockMetrics() (*metric.Activity, error) {": "return nil, nil"},
	"sim/store/metric.go": {
		"func (b *Batch) AddActivity(chain int, a *metric.Activity) error {": "return nil",
		"func (b *Batch) addStakes(d *PrimaryDelta) error {":                 "return nil",
		"func (b *Batch) addFees(d *PrimaryDelta) error {":                   "return nil",
	},
}

// withoutRollups returns the changed files.
func withoutRollups() (map[string]string, error) {
	changed := map[string]string{}
	for file, functions := range without {
		path, err := filepath.Abs(filepath.Join("..", filepath.FromSlash(file)))
		if err != nil {
			return nil, err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		text := string(source)
		for signature, first := range functions {
			before, after, found := strings.Cut(text, signature+"\n")
			if !found {
				return nil, fmt.Errorf("%s has no %s", file, signature)
			}
			text = before + signature + "\n\t" + first + "\n" + after
		}
		changed[path] = text
	}
	return changed, nil
}

// TestRollupsCanBeLeftOut: the functions that make bench disables are in their files.
func TestRollupsCanBeLeftOut(t *testing.T) {
	if files, err := withoutRollups(); err != nil || len(files) != len(without) {
		t.Errorf("%d files, %v", len(files), err)
	}
}

// rollups generates worlds with and without roll-ups, alternately, and prints the cost.
func (r *report) rollups() {
	bare := &report{b: r.b, folder: r.b.TempDir()}
	bare.program = release(r.b, "-overlay", bare.overlay())
	profile := r.profile("more", 60_000)
	r.table("roll-ups\ts with\ts without\tratio\tCPU s with\tCPU s without\tratio\tbudget", func(row func(string, ...any)) {
		for _, p := range []string{"default", profile} {
			var took, busy [2][]time.Duration
			var slower, busier []float64
			for range rounds {
				for i, program := range []*report{r, bare} {
					if err := os.RemoveAll(program.path(p)); err != nil {
						r.b.Fatal(err)
					}
					t, cpu, _ := program.make(p)
					took[i], busy[i] = append(took[i], t), append(busy[i], cpu)
				}
				n := len(took[0]) - 1
				slower = append(slower, took[0][n].Seconds()/took[1][n].Seconds())
				busier = append(busier, busy[0][n].Seconds()/busy[1][n].Seconds())
			}
			row("%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%s", title(p), median(took[0]).Seconds(), median(took[1]).Seconds(), median(slower),
				median(busy[0]).Seconds(), median(busy[1]).Seconds(), median(busier), budget("generating a world with roll-ups of metrics, against generating it without"))
		}
	})
}

// overlay makes the compiler read the changed files.
func (r *report) overlay() string {
	files, err := withoutRollups()
	if err != nil {
		r.b.Fatal(err)
	}
	replace := map[string]string{}
	for path, text := range files {
		replace[path] = r.write(fmt.Sprintf("%d.go", len(replace)), text)
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		r.b.Fatal(err)
	}
	return r.write("overlay.json", string(text))
}
