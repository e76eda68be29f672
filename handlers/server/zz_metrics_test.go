package server_test

import (
	"os"
	"testing"
	"strings"
)

func BenchmarkZZ(b *testing.B) {
	r := &report{b: b, program: os.Getenv("ZZ_BIN"), folder: b.TempDir()}
	p := r.serve("--db", os.Getenv("ZZ_DB"))
	defer p.stop()
	var some []target
	for _, t := range r.lists(p) {
		if strings.Contains(t.name, "metric") || strings.Contains(t.name, "rolling") || strings.Contains(t.name, "fees") || strings.Contains(t.name, "weekly") || t.name == "a chain" {
			some = append(some, t)
		}
	}
	some = append(some, target{"icm", get("/v2/icm/timeseries?groupBy=srcBlockchainId")}, target{"icm summary", get("/v2/icm/summary")}, target{"metrics chains", get("/v2/chains")})
	r.requests(p, some)
}
