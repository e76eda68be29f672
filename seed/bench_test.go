package seed

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkGenerate makes worlds in files, and reports how large those become.
func BenchmarkGenerate(b *testing.B) {
	for _, name := range []string{"tiny", "default"} {
		b.Run(name, func(b *testing.B) {
			p, err := LoadProfile(name)
			if err != nil {
				b.Fatal(err)
			}
			path := filepath.Join(b.TempDir(), "world.db")
			for b.Loop() {
				w, err := Generate(b.Context(), Options{Path: path, Seed: 1, Profile: p, Until: DefaultUntil})
				if err != nil {
					b.Fatal(err)
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			}
			info, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(info.Size())/float64(p.Transactions), "bytes/tx")
		})
	}
}
