package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	oracle "github.com/ethereum/go-ethereum/rpc"

	"snowglobe/handlers/fault"
)

// bulky has results of which two fit into a batch; Part's are written in parts.
type bulky struct{ calls int }

func (b *bulky) Whole() json.RawMessage {
	b.calls++
	return json.RawMessage(`"` + strings.Repeat("x", batchBytes/2) + `"`)
}

func (b *bulky) Part() Result {
	b.calls++
	text := strings.Repeat("x", batchBytes/2)
	return Written(len(text)+2, len(text), func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, `"`+text+`"`)
		return err
	})
}

func (b *bulky) Late() (string, error) { return "", errors.New("late") }

// TestBatchesAreBoundedInSize fills a batch: the call that exceeds the size is answered, and later ones are refused, as by go-ethereum's
// server.
func TestBatchesAreBoundedInSize(t *testing.T) {
	ours, theirs := &bulky{}, oracle.NewServer()
	s := New(Options{MaxBody: 1 << 20}, Namespace{Name: "t", Methods: ours})
	theirs.SetBatchLimits(batchItems, batchBytes)
	if err := theirs.RegisterName("t", &bulky{}); err != nil {
		t.Fatal(err)
	}
	calls := `{"jsonrpc":"2.0","id":1,"method":"t_whole"},{"jsonrpc":"2.0","method":"t_late"},{"jsonrpc":"2.0","id":2,"method":"t_whole"},{"jsonrpc":"2.0","id":3,"method":"t_whole"},{"jsonrpc":"2.0","method":"t_whole"},{}`
	want := answered(theirs, http.MethodPost, "/", contentType, "["+calls+"]").Body.String()
	for _, method := range []string{"t_whole", "t_part"} {
		ours.calls = 0
		got := answered(s, http.MethodPost, "/", contentType, "["+strings.ReplaceAll(calls, "t_whole", method)+"]")
		// A null call has no id, which go-ethereum's server omits here.
		if text := strings.Replace(got.Body.String(), `{"jsonrpc":"2.0","id":null,"error":{"code":-32003`, `{"jsonrpc":"2.0","error":{"code":-32003`, 1); text != want || got.Header().Get("Content-Length") != fmt.Sprint(got.Body.Len()) {
			t.Errorf("%s: %d bytes, want %d: …%s, want …%s", method, len(text), len(want), text[max(0, len(text)-300):], want[max(0, len(want)-300):])
		}
		if ours.calls != 2 {
			t.Errorf("%s: %d calls were carried out", method, ours.calls)
		}
	}
}

// leaving counts calls; the client leaves after the first one.
type leaving struct {
	calls int
	leave func()
}

func (l *leaving) Call() {
	l.calls++
	l.leave()
}

// TestWhoLeavesABatchIsNotServed: calls of a client that has left change nothing.
func TestWhoLeavesABatchIsNotServed(t *testing.T) {
	l := &leaving{}
	s := New(Options{MaxBody: 1 << 20}, Namespace{Name: "t", Methods: l})
	answered(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, leave := context.WithCancel(r.Context())
		l.leave = leave
		s.ServeHTTP(w, r.WithContext(ctx))
	}), http.MethodPost, "/", contentType, "["+strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"t_call"},`, 3)+"{}]")
	if l.calls != 1 {
		t.Errorf("%d calls were carried out", l.calls)
	}
}

// TestFaultsAnswerCalls: a fault replaces the response of exactly the matching calls, in the form of either protocol. Calls without permission are
// refused before that.
func TestFaultsAnswerCalls(t *testing.T) {
	chain := New(Options{MaxBody: 1 << 20}, Namespace{Name: "t", Methods: &bulky{}})
	services, err := NewServices(Options{MaxBody: 1 << 20}, Service{"s", fuzzedService{}})
	if err != nil {
		t.Fatal(err)
	}
	refused := &fault.Action{RPCError: &fault.RPCError{Code: -32005, Message: "<busy>", Data: "d"}}
	instead := &fault.Action{RPCResult: fault.Result{JSON: json.RawMessage("null")}}
	for _, c := range []struct {
		server     *Server
		body, want string
		calls      map[int]*fault.Action
	}{
		{chain, `[{"jsonrpc":"2.0","id":1,"method":"t_late"},{"jsonrpc":"2.0","id":2,"method":"t_late"},{"jsonrpc":"2.0","id":3,"method":"t_nope"},{}]`,
			`[{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"late"}},{"jsonrpc":"2.0","id":2,"error":{"code":-32005,"message":"\u003cbusy\u003e","data":"d"}},{"jsonrpc":"2.0","id":3,"result":null},` +
				`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request"}}]`, map[int]*fault.Action{1: refused, 2: instead, 3: refused}},
		{services, `{"jsonrpc":"2.0","id":1,"method":"s.fail"}`, `{"jsonrpc":"2.0","error":{"code":-32005,"message":"\u003cbusy\u003e","data":"d"},"id":1}`, map[int]*fault.Action{0: refused}},
		{services, `{"jsonrpc":"2.0","id":1,"method":"s.fail"}`, `{"jsonrpc":"2.0","result":null,"id":1}`, map[int]*fault.Action{0: instead}},
	} {
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c.server.ServeHTTP(w, r.WithContext(fault.WithPlan(r.Context(), &fault.Plan{Calls: c.calls})))
		})
		if got := answered(h, http.MethodPost, "/", contentType, c.body).Body.String(); got != c.want+"\n" {
			t.Errorf("%s: %s, want %s", c.body, got, c.want)
		}
	}
}

// TestLongBodies: a body beyond the limit gets go-ethereum's words, and one at the limit an answer.
func TestLongBodies(t *testing.T) {
	const limit = 100
	s, theirs := New(Options{MaxBody: limit}, Namespace{Name: "t", Methods: &bulky{}}), oracle.NewServer()
	theirs.SetHTTPBodyLimit(limit)
	if err := theirs.RegisterName("t", &bulky{}); err != nil {
		t.Fatal(err)
	}
	call := `{"jsonrpc":"2.0","id":1,"method":"t_late"`
	for _, size := range []int{limit, limit + 1, 3 * limit} {
		body := call + strings.Repeat(" ", size-len(call)-1) + "}"
		got, want := answered(s, http.MethodPost, "/", contentType, body), answered(theirs, http.MethodPost, "/", contentType, body)
		if got.Code != want.Code || strings.TrimSpace(got.Body.String()) != strings.TrimSpace(want.Body.String()) || (got.Code == http.StatusOK) != (size == limit) {
			t.Errorf("%d bytes: %d %s, want %d %s", size, got.Code, got.Body, want.Code, want.Body)
		}
	}
}
