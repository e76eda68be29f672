// make bench: the speed and the peak memory of generation.

package handlers_test

import (
	"fmt"
	"os"
	"time"
)

// generation measures how fast worlds are made, from the start of the process to its end.
func (r *report) generation() {
	const many = 60_000
	profile := r.profile("many", many)
	r.table("generation\ttransactions\tseconds\tCPU seconds\ttransactions/s\tbudget\tfile bytes/transaction\tbudget\tpeak MiB\tbudget", func(row func(string, ...any)) {
		r.generate(row, "tiny", 600)
		r.generate(row, "default", 12_000)
		r.generate(row, profile, many)
	})
}

// profile returns a profile shaped like the default one, with another number of EVM transactions.
func (r *report) profile(name string, transactions int) string {
	return r.write(name+".yaml", fmt.Sprintf(`name: %s
days: 120
chains: 5
transactions: %d
validators: 160
delegators: 400
l1Validators: 60
primaryTransactions: 4000
`, name, transactions))
}

func (r *report) generate(row func(string, ...any), profile string, transactions int64) {
	var took, busy []time.Duration
	var peaks []float64
	for range generations {
		if err := os.RemoveAll(r.path(profile)); err != nil {
			r.b.Fatal(err)
		}
		t, cpu, peak := r.make(profile)
		took, busy, peaks = append(took, t), append(busy, cpu), append(peaks, mebibytes(peak))
	}
	t := median(took).Seconds()
	row("%s\t%d\t%.2f\t%.2f\t%.0f\t%s\t%d\t%s\t%.0f\t%s", title(profile), transactions, t, median(busy).Seconds(),
		float64(transactions)/t, budget("generating a world, everything included"), r.fileSize(r.path(profile))/transactions, budget("the world's file, per EVM transaction"),
		median(peaks), budget("memory while generating a world"))
}
