package metrics_test

import (
	"net/http/httptest"
	"testing"

	"snowglobe/handlers/metrics"
	"snowglobe/handlers/rest"
)

// BenchmarkRead measures responses on the default world, from the file and from memory: a first page, the largest page, a distinct count over all
// chains, the metrics that need more than their own rows, and the metrics of stakes, fees and messages.
func BenchmarkRead(b *testing.B) {
	w := generate(b, "default", 1)
	forgetful, err := rest.New(rest.Options{Clock: w.Clock, WorldKey: w.Meta.Digest}) // caches no answers
	if err == nil {
		err = metrics.Register(forgetful, w)
	}
	if err != nil {
		b.Fatal(err)
	}
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
		for kind, s := range map[string]*rest.Server{"/anew": forgetful, "/again": serve(b, w)} {
			b.Run(name+kind, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", target, nil))
				}
			})
		}
	}
}
