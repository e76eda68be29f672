// make bench: the report, and its budgets.

package handlers_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"testing"
	"text/tabwriter"
	"time"

	"snowglobe/handlers/docs"
)

// How often each figure is measured; the median is reported.
const (
	generations = 3
	starts      = 7
	rounds      = 5
)

// keptWorlds is the folder in which a report finds and leaves worlds.
var keptWorlds = flag.String("worlds", "", "folder of the worlds that BenchmarkReport keeps")

// BenchmarkReport runs the built program and prints its figures beside their budgets, for `make bench`. ROWS selects one part, as in `make
// bench ROWS=clock`.
func BenchmarkReport(b *testing.B) {
	r := &report{b: b, program: release(b), folder: cmp.Or(*keptWorlds, b.TempDir())}
	fmt.Printf("\n%s/%s, %d CPUs, %s\n", runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), runtime.Version())
	for _, part := range r.parts() {
		b.Run(part.name, func(b *testing.B) {
			r.b = b
			part.measure()
		})
	}
}

// part is a part of the report that ROWS can select.
type part struct {
	name    string
	measure func()
}

func (r *report) parts() []part {
	return []part{
		{"size", r.size},
		{"generation", r.generation},
		{"rollups", r.rollups},
		{"starts", r.starts},
		{"serving", r.serving},
		{"newWords", r.newWords},
		{"journaling", r.journaling},
		{"ownNames", r.ownNames},
		{"signing", r.signing},
		{"growth", r.growth},
		{"firsts", r.firsts},
		{"exports", r.exports},
		{"sending", r.sending},
		{"undoing", r.undoing},
		{"searching", r.searching},
		{"clock", r.clock},
		{"webhooks", r.webhooks},
		{"abuses", r.abuses},
		{"webPages", r.webPages},
		{"replicas", r.replicas},
	}
}

// report is one run of the benchmark.
type report struct {
	b       *testing.B
	program string
	folder  string
	speeds  map[string]speed // of the default world
}

func (r *report) size() {
	r.table("binary\tMiB\tbudget", func(row func(string, ...any)) {
		row("stripped\t%.1f\t%s", mebibytes(r.fileSize(r.program)), budget("binary, stripped"))
	})
}

func (r *report) fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		r.b.Fatal(err)
	}
	return info.Size()
}

// table prints a heading and the rows that fill writes.
func (r *report) table(heading string, fill func(row func(format string, args ...any))) {
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "\n%s\t\n", heading)
	fill(func(format string, args ...any) { fmt.Fprintf(t, format+"\t\n", args...) })
	if err := t.Flush(); err != nil {
		r.b.Fatal(err)
	}
}

// median of an odd number of measurements.
func median[T ~int64 | ~float64](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// budget returns a limit from the manual.
func budget(name string) string {
	i := slices.IndexFunc(docs.Budgets, func(b docs.Budget) bool { return b.Name == name })
	if i < 0 {
		panic("no budget is named " + name)
	}
	return docs.Budgets[i].Limit
}

// TestBudgetsAreMeasured: each part of the bench prints exactly the budgets that the manual lists for it.
func TestBudgetsAreMeasured(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	printed := map[string]bool{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\bbudget\("([^"]+)"\)`).FindAllSubmatch(source, -1) {
			name := string(m[1])
			printed[name] = true
			if !slices.ContainsFunc(docs.Budgets, func(b docs.Budget) bool { return b.Name == name }) {
				t.Errorf("%s: the manual has no budget %q", file, name)
			}
		}
	}
	parts := new(report).parts()
	for _, b := range docs.Budgets {
		if !printed[b.Name] || !slices.ContainsFunc(parts, func(p part) bool { return p.name == b.Part }) {
			t.Errorf("make bench ROWS=%s does not print the budget %q", b.Part, b.Name)
		}
	}
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// write writes a text to a file in the report's folder.
func (r *report) write(name, text string) string {
	path := filepath.Join(r.folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.b.Fatal(err)
	}
	return path
}
