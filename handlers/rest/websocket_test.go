package rest_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

func TestMountedHandlersMayTakeTheConnection(t *testing.T) {
	s := newServer(t, nil)
	s.Mount("node", "/ext", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\n\r\nsnow")
		_ = rw.Flush()
		_ = conn.Close()
	}))
	server := httptest.NewServer(s)
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = fmt.Fprintf(conn, "GET /ext/bc/C/ws HTTP/1.1\r\nHost: localhost\r\n\r\n")
	text, err := io.ReadAll(bufio.NewReader(conn))
	if err != nil || !strings.HasSuffix(string(text), "snow") {
		t.Errorf("connection says %q, %v", text, err)
	}
}

func TestManyClientsAtOnce(t *testing.T) {
	s := newServer(t, nil)
	server := httptest.NewServer(s)
	defer server.Close()
	paths := []string{"/v1/numbers", "/upstream/openapi.json", "/v1/panics", tokenPath, "/v1/number"}
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			for j := range 20 {
				path := paths[(i+j)%len(paths)]
				r, err := http.Get(server.URL + path)
				if err != nil {
					t.Errorf("%s: %v", path, err)
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				_ = r.Body.Close()
			}
		})
	}
	group.Wait()
}
