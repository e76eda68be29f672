package handlers_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// without are the functions that keep the roll-ups of the metrics. A program in which they do nothing shows what they cost:
// it is built from the same source, with a first line that returns.
var without = []struct{ file, function string }{
	{"sim/evm/activity.go", "func (p *Pending) activity() (*metric.Activity, error) {\n\treturn nil, nil\n"},
	{"sim/store/rollup.go", "func (b *Batch) AddActivity(chain int, a *metric.Activity) error {\n\treturn nil\n"},
	{"sim/store/stake.go", "func (b *Batch) addStakes(d *PrimaryDelta) error {\n\treturn nil\n"},
	{"sim/store/fee.go", "func (b *Batch) addFees(d *PrimaryDelta) error {\n\treturn nil\n"},
}

// rollups generates worlds with and without roll-ups, in turns, and prints what they cost.
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
				median(busy[0]).Seconds(), median(busy[1]).Seconds(), median(busier), budget("making a world with roll-ups of metrics, against making it without"))
		}
	})
}

// overlay tells the compiler to read the files with those functions in another version.
func (r *report) overlay() string {
	root, err := filepath.Abs("..")
	if err != nil {
		r.b.Fatal(err)
	}
	replace := map[string]string{}
	for i, w := range without {
		path := filepath.Join(root, filepath.FromSlash(w.file))
		source, err := os.ReadFile(path)
		if err != nil {
			r.b.Fatal(err)
		}
		signature := w.function[:strings.Index(w.function, "\n")+1]
		changed := strings.Replace(string(source), signature, w.function, 1)
		if changed == string(source) {
			r.b.Fatalf("%s has no %s", w.file, signature)
		}
		replace[path] = r.write(fmt.Sprintf("%d.go", i), changed)
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		r.b.Fatal(err)
	}
	return r.write("overlay.json", string(text))
}
