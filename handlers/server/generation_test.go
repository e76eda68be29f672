package server_test

import (
	"fmt"
	"os"
	"time"
)

// generation measures how fast worlds are made, from the start of the process to its end.
func (r *report) generation() {
	const many = 60_000
	profile := r.write("many.yaml", fmt.Sprintf("name: many\ndays: 120\nchains: 5\ntransactions: %d\n", many))
	r.table("generation\ttransactions\tseconds\tCPU seconds\ttransactions/s\tbudget\tfile bytes/transaction\tbudget", func(row func(string, ...any)) {
		r.generate(row, "tiny", 600)
		r.generate(row, "default", 12_000)
		r.generate(row, profile, many)
	})
}

func (r *report) generate(row func(string, ...any), profile string, transactions int64) {
	var took, busy []time.Duration
	for range generations {
		if err := os.RemoveAll(r.path(profile)); err != nil {
			r.b.Fatal(err)
		}
		t, cpu := r.make(profile)
		took, busy = append(took, t), append(busy, cpu)
	}
	t := median(took).Seconds()
	row("%s\t%d\t%.2f\t%.2f\t%.0f\t8000\t%d\t2048", title(profile), transactions, t, median(busy).Seconds(),
		float64(transactions)/t, r.fileSize(r.path(profile))/transactions)
}
