package rest_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"snowglobe/handlers/rest"
)

// TestUnreadBodiesEnd lets clients request a file and a stream without reading them: the server closes each when the time for a piece is over.
func TestUnreadBodiesEnd(t *testing.T) {
	const perPiece, left = 2 * time.Minute, 300 * time.Millisecond
	s := newServer(t, func(o *rest.Options) {
		o.Now = func() time.Time { return time.Now().Add(left - perPiece) } // so that the time is nearly over
	})
	file := rest.File{Type: "text/csv", Name: "all.csv", Tag: "a", Content: bytes.NewReader(make([]byte, 64<<20))}
	stream := rest.Stream{Type: "text/event-stream", Send: func(ctx context.Context, write func([]byte) error) error {
		for {
			if err := write(make([]byte, 64<<10)); err != nil {
				return err
			}
		}
	}}
	for id, answer := range map[string]any{"file": file, "stream": stream} {
		if err := s.Register(rest.Sim, rest.Operation{ID: id, Method: http.MethodGet, Path: "/sim/" + id, Live: true, Handle: func(*rest.Request) (any, error) { return answer, nil }}); err != nil {
			t.Fatal(err)
		}
	}
	ended := make(chan string, 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { ended <- r.URL.Path }()
		s.ServeHTTP(w, r)
	}))
	defer server.Close()
	for _, path := range []string{"/sim/file", "/sim/stream"} {
		c, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-ended:
			if got != path {
				t.Errorf("%s ended, not %s", got, path)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s goes on", path)
		}
	}
}
