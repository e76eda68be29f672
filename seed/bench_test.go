package seed_test

import (
	"testing"

	"snowglobe/seed"
	"snowglobe/sim/store"
)

// BenchmarkGenerate makes the default world in memory.
func BenchmarkGenerate(b *testing.B) {
	p, err := seed.LoadProfile("default")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		w, err := seed.Generate(b.Context(), seed.Options{Path: store.Memory, Seed: 1, Profile: p, Until: seed.DefaultUntil})
		if err != nil {
			b.Fatal(err)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(p.Transactions)*float64(b.N)/b.Elapsed().Seconds(), "tx/s")
	}
}
