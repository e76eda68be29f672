package rpc

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"snowglobe/handlers/permit"
)

// counter is a service with a method that controls something.
type counter struct{ n int }

func (c *counter) Mine() int     { c.n++; return c.n }
func (c *counter) Coinbase() int { return c.n }

// TestCallsThatAreNotAllowed sends calls from a page of another origin: those that read are answered, the others refused, alone and in batches, in
// any spelling.
func TestCallsThatAreNotAllowed(t *testing.T) {
	mined := &counter{}
	e := New(Options{MaxBody: 1 << 20, Permit: &permit.Rule{}}, Namespace{Name: "evm", Methods: mined}, Namespace{Name: "eth", Methods: mined})
	ask := func(body string, headers ...string) string {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		e.ServeHTTP(w, r)
		answer, err := io.ReadAll(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(answer))
	}
	const refused = `"error":{"code":4100,"message":"a page of http://evil.example may not do this; start the server with --allow-origin and the page's origin to allow it"}}`
	for body, want := range map[string]string{
		`{"jsonrpc":"2.0","id":"<1>","method":"evm_mine"}`:                     `{"jsonrpc":"2.0","id":"<1>",` + refused,
		`{"jsonrpc":"2.0","id":1,"method":"eth_coinbase","params":[]}`:         `{"jsonrpc":"2.0","id":1,"result":0}`,
		`{"jsonrpc":"2.0","id":1,"\u006dethod":"evm\u005fmine"}`:               `{"jsonrpc":"2.0","id":1,` + refused,
		`{"jsonrpc":"2.0","id":1,"method":"evm_mine","method":"eth_coinbase"}`: `{"jsonrpc":"2.0","id":1,"result":0}`,
		`{"jsonrpc":"2.0","id":1,"method":"eth_coinbase","method":"evm_mine"}`: `{"jsonrpc":"2.0","id":1,` + refused,
		`{"jsonrpc":"2.0","id":1,"method":"evm_mine","METHOD":"eth_coinbase"}`: `{"jsonrpc":"2.0","id":1,` + refused,
		`{"jsonrpc":"2.0","id":1,"method":"evm_mine","method":7}`:              `{"jsonrpc":"2.0","id":1,` + refused,
		`{"jsonrpc":"2.0","method":"evm_mine"}`:                                ``,
		` [{"jsonrpc":"2.0","id":1,"method":"eth_coinbase"},{"jsonrpc":"2.0","id":2,"method":"evm_mine"},` +
			`{"jsonrpc":"2.0","method":"evm_mine"},{"jsonrpc":"2.0","id":3,"method":"eth_coinbase"}]`: `[{"jsonrpc":"2.0","id":1,"result":0},` +
			`{"jsonrpc":"2.0","id":2,` + refused + `,{"jsonrpc":"2.0","id":3,"result":0}]`,
	} {
		if got := ask(body, "Origin", "http://evil.example"); got != want {
			t.Errorf("%s: answer is %s: want %s", body, got, want)
		}
	}
	if mined.n != 0 {
		t.Errorf("%d calls were carried out", mined.n)
	}
	if got := ask(`{"jsonrpc":"2.0","id":1,"method":"evm_mine"}`, "Origin", "http://localhost:3000"); got != `{"jsonrpc":"2.0","id":1,"result":1}` {
		t.Errorf("a page of localhost gets %s", got)
	}
	e.Permit.Exposed = true
	if got := ask(`{"jsonrpc":"2.0","id":1,"method":"evm_mine"}`); !strings.Contains(got, "--allow-control") || mined.n != 1 {
		t.Errorf("listening beyond loopback the answer is %s", got)
	}
}

// TestPagesOverWebSocket: the page that opened a connection decides what each call may do, in batches too.
func TestPagesOverWebSocket(t *testing.T) {
	service := &counter{}
	e := New(Options{MaxBody: 1 << 20, Permit: &permit.Rule{}}, Namespace{Name: "evm", Methods: service}, Namespace{Name: "eth", Methods: service})
	t.Cleanup(e.Close)
	server := httptest.NewServer(e.WebSocket())
	t.Cleanup(server.Close)
	const mine, read = `{"jsonrpc":"2.0","id":1,"method":"evm_mine"}`, `{"jsonrpc":"2.0","id":2,"method":"eth_coinbase"}`
	for _, origin := range []string{"http://evil.example", "http://localhost:3000", ""} {
		headers := http.Header{}
		if origin != "" {
			headers.Set("Origin", origin)
		}
		client, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http"), headers)
		if err != nil {
			t.Fatal(err)
		}
		before, refused := service.n, origin == "http://evil.example"
		for message, want := range map[string]int{mine: 1, read: 0, "[" + read + "," + mine + "," + read + "]": 1} {
			send(t, client, message)
			answer := receive(t, client)
			if n := strings.Count(answer, `"error":{"code":4100,`); refused && n != want || !refused && n > 0 || strings.Count(answer, "--allow-origin") != n {
				t.Errorf("origin %q: %s is answered with %s", origin, message, answer)
			}
		}
		if ran := service.n - before; refused != (ran == 0) || ran > 2 {
			t.Errorf("origin %q: %d calls were carried out", origin, ran)
		}
		_ = client.Close()
	}
}

// TestLongBatchesAreNotRead cuts batches after the item that makes them too large, so that even two million items cost no more.
func TestLongBatchesAreNotRead(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, batchItems: batchItems, batchItems + 1: batchItems + 1, 100 * batchItems: batchItems + 1} {
		body := []byte("[" + strings.TrimSuffix(strings.Repeat(`{"id": 1}, `, n), ", ") + "]")
		if r := readPositional(body); len(r.Calls) != want || (r.problem != nil) != (n == 0 || n > batchItems) {
			t.Errorf("%d calls are read of %d: %v", len(r.Calls), n, r.problem)
		}
	}
}
