package handlers

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// served answers on a port of its own until the test ends.
func served(t *testing.T, h http.Handler, waits time.Duration) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h, ReadTimeout: readTimeout, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)}
	go func() { _ = server.Serve(halfCloseListener{l, waits}) }() // ends with the test
	t.Cleanup(func() { server.Close() })
	return l.Addr().String()
}

// send opens a connection and sends a request on it.
func send(t *testing.T, address, request string) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	return c.(*net.TCPConn)
}

// TestHalfClosedClientsAreAnswered ends the client's side after the request, while the answer is worked on.
func TestHalfClosedClientsAreAnswered(t *testing.T) {
	address := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		select {
		case <-r.Context().Done():
		case <-time.After(100 * time.Millisecond):
		}
		fmt.Fprint(w, string(body), err, r.Context().Err())
	}), time.Minute)
	for _, request := range []string{
		"GET / HTTP/1.0\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi",
		"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		c := send(t, address, request)
		if err := c.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		started := time.Now()
		answer, err := io.ReadAll(c)
		if want := strings.Count(request, " / "); err != nil || strings.Count(string(answer), "<nil> <nil>") != want {
			t.Errorf("%q: %q, %v: want %d answers", request, answer, err, want)
		}
		if took := time.Since(started); took > 30*time.Second {
			t.Errorf("%q: the connection ended after %s", request, took)
		}
	}
}

// TestWorkEndsWithTheClient: a request is given up at once when its connection was reset, and some time after its client ended
// its side.
func TestWorkEndsWithTheClient(t *testing.T) {
	gone := make(chan context.Context)
	address := served(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		gone <- r.Context()
		<-r.Context().Done()
		gone <- r.Context()
	}), 200*time.Millisecond)
	for name, leave := range map[string]func(*net.TCPConn) error{
		"reset":       func(c *net.TCPConn) error { c.SetLinger(0); return c.Close() },
		"closed":      (*net.TCPConn).Close,
		"half closed": (*net.TCPConn).CloseWrite,
	} {
		c := send(t, address, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		<-gone
		if err := leave(c); err != nil {
			t.Fatal(err)
		}
		select {
		case <-gone:
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: the work goes on", name)
		}
	}
}
