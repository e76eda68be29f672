// The cost of a cached response, through the whole server.

package handlers_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"snowglobe/handlers"
	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/export"
	"snowglobe/sim/store"
)

// discard is a client that ignores the response.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

// BenchmarkResponseCache requests the same list and the same object, with and without the response cache.
func BenchmarkResponseCache(b *testing.B) {
	w := seedtest.Generate(b, store.Memory, "tiny", 1)
	defer w.Close()
	for name, revision := range map[string]func() int64{"with": w.Revision, "without": nil} {
		s, err := rest.New(rest.Options{Alias: w.Alias, Clock: w.Clock, Revision: revision, WorldKey: w.Identity()})
		if err != nil {
			b.Fatal(err)
		}
		if err := handlers.RegisterData(s, w, export.NewJobs(w, export.Options{}), data.Options{}); err != nil {
			b.Fatal(err)
		}
		for kind, path := range map[string]string{"list": "/v1/chains/43114/transactions", "object": "/v1/chains/43114/blocks/5"} {
			b.Run(kind+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s.ServeHTTP(&discard{http.Header{}}, httptest.NewRequest(http.MethodGet, path, nil))
				}
			})
		}
	}
}
