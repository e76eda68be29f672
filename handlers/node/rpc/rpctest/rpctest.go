// Package rpctest calls a node's services in tests.
package rpctest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"sync"
	"testing"

	"snowglobe/handlers/node/rpc"
	"snowglobe/sim/store"
)

// Object is a JSON object: arguments, or an expected result.
type Object = map[string]any

// Client calls services that share a path.
type Client struct {
	testing.TB
	server *rpc.Server
}

// New serves services.
func New(t testing.TB, services ...rpc.Service) *Client {
	t.Helper()
	server, err := rpc.NewServices(rpc.Options{MaxBody: 1 << 20}, services...)
	if err != nil {
		t.Fatal(err)
	}
	return Serve(t, server)
}

// Serve calls a server.
func Serve(t testing.TB, server *rpc.Server) *Client { return &Client{t, server} }

// Error is the error of a method.
type Error struct {
	Code    int
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("%d %s", e.Code, e.Message) }

// Ask calls a method and returns its result, or its error.
func (c *Client) Ask(method string, params any) (json.RawMessage, error) {
	c.Helper()
	body, err := json.Marshal(Object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		c.Fatal(err)
	}
	r, w := httptest.NewRequestWithContext(c.Context(), http.MethodPost, "/", bytes.NewReader(body)), httptest.NewRecorder()
	r.Header.Set("Content-Type", "application/json")
	c.server.ServeHTTP(w, r)
	var answer struct {
		Result json.RawMessage
		Error  *Error
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		c.Fatalf("%s: %v: %s", method, err, w.Body)
	}
	if answer.Error != nil {
		return nil, answer.Error
	}
	return answer.Result, nil
}

// Get calls a method that succeeds.
func Get[T any](c *Client, method string, params any) (result T) {
	c.Helper()
	raw, err := c.Ask(method, params)
	if err == nil {
		err = json.Unmarshal(raw, &result)
	}
	if err != nil {
		c.Fatalf("%s %v: %v", method, params, err)
	}
	return result
}

// Want calls a method whose result, as JSON, is exactly this.
func (c *Client) Want(want any, method string, params any) {
	c.Helper()
	raw, err := c.Ask(method, params)
	if err != nil {
		c.Errorf("%s %v: %v", method, params, err)
		return
	}
	text, err := json.Marshal(want)
	if err != nil {
		c.Fatal(err)
	}
	if !reflect.DeepEqual(c.decode(raw), c.decode(text)) {
		c.Errorf("%s %.500v:\nhave %.2000s\nwant %.2000s", method, params, raw, text)
	}
}

func (c *Client) decode(raw []byte) (v any) {
	c.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		c.Fatalf("%v: %s", err, raw)
	}
	return v
}

// Refuses calls a method that fails with this text and the code of every error of a service.
func (c *Client) Refuses(text, method string, params any) {
	c.Helper()
	if have, err := c.Ask(method, params); err == nil || err.Error() != "-32000 "+text {
		c.Errorf("%s %.500v: %.500s %v, want the error %s", method, params, have, err, text)
	}
}

// Malformed is the error for arguments that the service cannot read.
const Malformed = "couldn't unmarshal an argument. Ensure arguments are valid and properly formatted. See documentation for example calls"

// FailEach repeats a call, each time without another one of the statements that it needs: it never succeeds.
func FailEach(t testing.TB, db *store.DB, call func() error) {
	t.Helper()
	db.Caches().Suspend()
	defer db.Caches().Resume()
	defer db.FailStatements(nil)
	for n := 1; ; n++ {
		var mu sync.Mutex
		count, failed := 0, ""
		db.FailStatements(func(text string) bool {
			mu.Lock()
			defer mu.Unlock()
			if count++; count == n {
				failed = text
			}
			return count == n
		})
		err := call()
		switch {
		case failed == "" && (err != nil || n == 1):
			t.Errorf("the call needs %d statements: %v", n-1, err)
			return
		case failed == "":
			return
		case err == nil || err.Error() != "-32603 internal error: the simulator's log has the cause":
			t.Errorf("without %.200s: %v", failed, err)
		}
	}
}
