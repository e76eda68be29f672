package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// trial has methods that show how a connection treats them.
type trial struct {
	large     atomic.Int64  // answers that were made
	under     atomic.Int64  // calls of Wait that are under way
	enough    chan struct{} // ends every call of Wait
	abandoned chan struct{} // a client left before that
}

// Large returns a megabyte.
func (s *trial) Large() json.RawMessage {
	s.large.Add(1)
	return json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)
}

// Wait waits until the test ends it or the client has left.
func (s *trial) Wait(ctx context.Context) {
	s.under.Add(1)
	defer s.under.Add(-1)
	select {
	case <-s.enough:
	case <-ctx.Done():
		s.abandoned <- struct{}{}
	}
}

// Ticks sends three events, and then falls behind on request.
func (s *trial) Ticks(_ context.Context, behind *bool) (*Subscription, error) {
	return Subscribe(func(ctx context.Context, notify func(any) error) error {
		for i := range 3 {
			_ = notify(i)
		}
		if behind != nil && *behind {
			return errors.New("too far behind")
		}
		<-ctx.Done()
		s.abandoned <- struct{}{}
		return nil
	}), nil
}

// newTrial serves connections and signals the end of each.
func newTrial(t *testing.T) (*trial, *websocket.Conn, <-chan struct{}) {
	t.Helper()
	s := &trial{enough: make(chan struct{}), abandoned: make(chan struct{}, 1)}
	e := New(Options{MaxBody: 1 << 20}, Namespace{Name: "trial", Methods: s})
	e.patience = 200 * time.Millisecond
	t.Cleanup(e.Close)
	h, ended := e.WebSocket(), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		close(ended)
	}))
	t.Cleanup(server.Close)
	client, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return s, client, ended
}

func send(t *testing.T, c *websocket.Conn, message string) {
	t.Helper()
	if err := c.WriteMessage(websocket.TextMessage, []byte(message)); err != nil {
		t.Fatal(err)
	}
}

func receive(t *testing.T, c *websocket.Conn) string {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	_, message, err := c.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	return string(message)
}

func within(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal(what)
	}
}

// TestWhoDoesNotReadIsClosed requests a lot and reads nothing: the server makes few answers, and soon closes the connection.
func TestWhoDoesNotReadIsClosed(t *testing.T) {
	s, client, ended := newTrial(t)
	_ = client.NetConn().(*net.TCPConn).SetReadBuffer(4096)
	for i := range 500 {
		message := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"trial_large"}`, i)
		if client.WriteMessage(websocket.TextMessage, []byte(message)) != nil {
			break
		}
	}
	within(t, "the connection is still open", ended)
	if made := s.large.Load(); made < connectionRequests || made > 3*connectionRequests {
		t.Errorf("%d answers of a megabyte were made, want %d and what the system keeps for the client", made, connectionRequests)
	}
}

// TestRequestsUnderWayAreBounded sends more calls, notifications among them, than are served at once.
func TestRequestsUnderWayAreBounded(t *testing.T) {
	s, client, _ := newTrial(t)
	for i := range 4 * connectionRequests {
		id := ""
		if i%2 == 0 {
			id = fmt.Sprintf(`"id":%d,`, i)
		}
		send(t, client, `{"jsonrpc":"2.0",`+id+`"method":"trial_wait"}`)
	}
	for begin := time.Now(); s.under.Load() < connectionRequests && time.Since(begin) < 10*time.Second; {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond)
	if most := s.under.Load(); most != connectionRequests {
		t.Errorf("%d calls are under way at once, want %d", most, connectionRequests)
	}
	close(s.enough)
	for range 2 * connectionRequests {
		receive(t, client)
	}
}

// TestWhoLeavesIsNotServed leaves while a call is under way.
func TestWhoLeavesIsNotServed(t *testing.T) {
	s, client, ended := newTrial(t)
	send(t, client, `{"jsonrpc":"2.0","id":1,"method":"trial_wait"}`)
	for begin := time.Now(); s.under.Load() < 1 && time.Since(begin) < 10*time.Second; {
		time.Sleep(time.Millisecond)
	}
	_ = client.Close()
	within(t, "a call goes on though its client has left", s.abandoned)
	within(t, "the connection is still open", ended)
}

// TestMessages sends messages that go-ethereum's server treats specially, and compares the responses with a node's.
func TestMessages(t *testing.T) {
	s, client, ended := newTrial(t)
	for _, c := range [][2]string{
		{`{"jsonrpc":"2.0","id":1,"method":"trial_nope"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"the method trial_nope does not exist/is not available"}}`},
		{`[]`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"empty batch"}}`},
		{`[` + strings.Repeat(`{},`, batchItems) + `{"jsonrpc":"2.0","id":7,"method":"trial_nope"}]`, `[{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"batch too large"}}]`},
		{`[{"jsonrpc":"2.0","method":"trial_nope"},{"jsonrpc":"2.0","id":2,"method":"trial_subscribe","params":["ticks",7]}]`,
			`[{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"invalid argument 1: json: cannot unmarshal number into Go value of type bool"}}]`},
		{`[{"jsonrpc":"2.0","id":2,"method":"trial_unsubscribe","params":["0x1"]}]`, `[{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"subscription not found"}}]`},
		{`{"jsonrpc":"2.0","id":3,"method":"trial_subscribe","params":["nope"]}`, `{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no \"nope\" subscription in trial namespace"}}`},
	} {
		send(t, client, c[0])
		if got := receive(t, client); got != c[1]+"\n" {
			t.Errorf("%.80s: %s, want %s", c[0], got, c[1])
		}
	}
	send(t, client, `{"jsonrpc":"2.0","id":4,"method":"trial_subscribe","params":["ticks"]}`)
	id, told := strings.CutPrefix(receive(t, client), `{"jsonrpc":"2.0","id":4,"result":"`)
	if id = strings.TrimSuffix(id, "\"}\n"); !told || !strings.HasPrefix(id, "0x") {
		t.Error(id)
	}
	for i := range 3 {
		if got := receive(t, client); !strings.HasPrefix(got, `{"jsonrpc":"2.0","method":"trial_subscription"`) || !strings.HasSuffix(got, fmt.Sprintf(`"result":%d}}`+"\n", i)) {
			t.Error(got)
		}
	}
	send(t, client, `[{"jsonrpc":"2.0","id":5,"method":"trial_unsubscribe","params":["`+id+`"]},{"jsonrpc":"2.0","id":6,"method":"trial_unsubscribe","params":["`+id+`"]}]`)
	if got, want := receive(t, client), `[{"jsonrpc":"2.0","id":5,"result":true},{"jsonrpc":"2.0","id":6,"error":{"code":-32000,"message":"subscription not found"}}]`+"\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	within(t, "a subscription goes on though it was ended", s.abandoned)
	send(t, client, `hello`)
	if got, want := receive(t, client), `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"invalid character 'h' looking for beginning of value"}}`; got != want+"\n" {
		t.Errorf("%s, want %s", got, want)
	}
	within(t, "the connection is still open", ended)
}

// TestWhoFallsBehindLosesTheConnection, and so learns that it missed something.
func TestWhoFallsBehindLosesTheConnection(t *testing.T) {
	_, client, ended := newTrial(t)
	send(t, client, `{"jsonrpc":"2.0","id":4,"method":"trial_subscribe","params":["ticks",true]}`)
	for range 4 {
		receive(t, client)
	}
	within(t, "the connection is still open", ended)
}
