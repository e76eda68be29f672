package rest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
)

// discard is a client that ignores the response.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

// BenchmarkRequest measures the cost of the framework on top of net/http, with as many routes as the simulator has.
func BenchmarkRequest(b *testing.B) {
	s := newServer(b, nil)
	for i := range 90 {
		op := rest.Operation{ID: fmt.Sprint("filler", i), Path: fmt.Sprintf("/v1/chains/{chainId}/filler%d/{address}", i),
			Answer: reflect.TypeFor[token](), Params: []rest.Param{chainID, {Name: "address", Kind: schema.KindAddress}}, Handle: sampleToken}
		if err := s.Register(rest.Data, op); err != nil {
			b.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"object": tokenPath,
		"page":   "/v1/numbers?pageSize=10",
		"miss":   "/v1/chains/43114/tokens",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.ServeHTTP(&discard{http.Header{}}, httptest.NewRequest("GET", target, nil))
			}
		})
	}
}
