package metrics_test

import (
	"net/http/httptest"
	"testing"
	"time"
)

// BenchmarkRead measures what answers cost on the default world: a first page, the largest page, a distinct count over
// all chains, the metrics that need more than their own rows, and those of stakes, fees and messages; each when
// the world has moved since it was asked for, and when it has not.
func BenchmarkRead(b *testing.B) {
	w := generate(b, "default", 1)
	s, now := serve(b, w), w.Clock.Now()
	for name, target := range map[string]string{
		"first page":           "/v2/chains/43114/metrics/txCount",
		"2160 hours":           "/v2/chains/43114/metrics/txCount?timeInterval=hour&pageSize=2160",
		"weekly over total":    "/v2/chains/total/metrics/activeAddresses?timeInterval=week",
		"cumulative addresses": "/v2/chains/total/metrics/cumulativeAddresses",
		"average price":        "/v2/chains/total/metrics/avgGasPrice",
		"rolling":              "/v2/chains/total/rollingWindowMetrics/activeAddresses",
		"rolling rates":        "/v2/chains/total/rollingWindowMetrics/avgGps",
		"staking":              "/v2/networks/mainnet/metrics/validatorCount",
		"fees of all":          "/v2/validators/metrics/totalCumulativeFeesDaily",
		"messages":             "/v2/icm/timeseries?groupBy=srcBlockchainId",
		"summary of messages":  "/v2/icm/summary",
		"chains":               "/v2/chains",
	} {
		b.Run(name+"/anew", func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				w.Clock.Set(now.Add(time.Duration(i%2) * time.Second))
				s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", target, nil))
			}
		})
		b.Run(name+"/again", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", target, nil))
			}
		})
	}
}
