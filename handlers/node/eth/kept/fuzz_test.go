package kept

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/rpc"

	"snowglobe/sim/cache"
)

// echo answers with what it was given.
type echo struct{}

func (echo) GetBalance(address *string, block *json.RawMessage) []any { return []any{address, block} }

// FuzzAnswers has go-ethereum's server answer any body that Read takes for a call, and keeps the result of the same call by another id: with
// that the answer is the same, byte by byte.
func FuzzAnswers(f *testing.F) {
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":["0x00","latest"]}`, `{"method":"eth_getBalance","id":"a-7","jsonrpc":"2.0"}`,
		` { "id" : 12345678901234567890 , "params" : [ "<é>" , {"blockHash":[1e5,null,"\u2028 &"]} ] , "jsonrpc" : "2.0" , "method" : "eth_getBalance" } `,
		`{"jsonrpc":"2.0","id":"","method":"eth_getBalance","params":[null,null]}`, `{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":[],"ID":2}`,
		`{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":[1,2,3]}`, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"eth_getBalance\",\"params\":[\"\xff\"]}",
	} {
		f.Add(body)
	}
	server := rpc.NewServer()
	if err := server.RegisterName("eth", echo{}); err != nil {
		f.Fatal(err)
	}
	ask := func(body string) string {
		r, w := httptest.NewRequest("POST", "/", strings.NewReader(body)), httptest.NewRecorder()
		r.Header.Set("Content-Type", asJSON)
		server.ServeHTTP(w, r)
		return w.Body.String()
	}
	const method = `"eth_getBalance"`
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequest("POST", "/", nil)
		r.Header.Set("Content-Type", asJSON)
		if !json.Valid([]byte(body)) {
			return
		}
		call, may := Read(r, []byte(body))
		params, same := strings.CutPrefix(call.request, method)
		if !may || !same {
			return
		}
		if params != "" {
			params = `,"params":` + params
		}
		results, at := New(new(cache.Group)), Revision{}
		results.Keep(Call{[]byte("7"), call.request}, at, []byte(ask(`{"jsonrpc":"2.0","id":7,"method":`+method+params+`}`)))
		want := ask(body) + "\n"
		if answer, known := results.Answer(call, at); known && string(answer) != want || !known && strings.Contains(want, `"result":`) {
			t.Errorf("%q: %q, want %q", body, answer, want)
		}
	})
}
