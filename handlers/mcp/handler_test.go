package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"snowglobe/handlers/docs"
)

// slowAPI answers when told to, with as many bytes as the path asks for.
type slowAPI struct {
	waiting chan struct{}
	release chan struct{}
}

func (a *slowAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasPrefix(r.URL.Path, "/wait"):
		a.waiting <- struct{}{}
		select {
		case <-a.release:
		case <-r.Context().Done():
		}
	case strings.HasPrefix(r.URL.Path, "/panic"):
		panic("oops")
	case strings.HasPrefix(r.URL.Path, "/large"):
		for range 100 {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				panic(http.ErrAbortHandler)
			}
		}
	}
	fmt.Fprint(w, `{"path":"`, r.URL.Path, `"}`)
}

func serveAPI(t testing.TB) (*slowAPI, *Handler) {
	api := &slowAPI{make(chan struct{}, 100), make(chan struct{})}
	return api, NewHandler(Options{API: api, Manual: docs.New(nil), Version: "test", Log: slog.New(slog.DiscardHandler)})
}

func send(h http.Handler, method string, body io.Reader, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, Path, body)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func callOf(path string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"call_api","arguments":{"path":"` + path + `"}}}`
}

// endless is a body that never ends.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	e.read += len(b)
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

// TestMessagesAreBounded: a message that is too large, too deep or malformed gets a client error.
func TestMessagesAreBounded(t *testing.T) {
	_, h := serveAPI(t)
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	nested := func(n int) string {
		return `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":` + strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) + `}}`
	}
	for _, c := range []struct {
		method, body string
		status       int
		headers      []string
	}{
		{"POST", ping, 200, nil},
		{"POST", nested(90), 200, nil},
		{"POST", nested(200), 400, nil},
		{"POST", nested(100_000), 400, nil},
		{"POST", strings.Repeat("[", 1<<20), 400, nil},
		{"POST", strings.Repeat(`{"a":`, 1<<17), 400, nil},
		{"POST", `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, 413, nil},
		{"POST", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"a":[1` + strings.Repeat(",1", 30_000) + `]}}}`, 400, nil},
		{"POST", "[" + ping + "," + ping + "]", 400, nil},
		{"POST", "", 400, nil}, {"POST", "null", 400, nil}, {"POST", "7", 400, nil}, {"POST", "{}", 400, nil}, {"POST", ping + ping, 400, nil}, {"POST", "\xff", 400, nil},
		{"POST", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, 400, nil},
		{"POST", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, 400, nil},
		{"POST", `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, 400, nil},
		{"POST", `{"jsonrpc":"2.0","id":1,"result":{}}`, 202, nil}, // a response that nobody waits for
		{"POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, nil},
		{"POST", ping, 415, []string{"Content-Type", "text/plain"}},
		{"POST", ping, 400, []string{"Accept", "text/html"}},
		{"POST", ping, 400, []string{"Mcp-Protocol-Version", "1999-01-01"}},
		{"POST", ping, 400, []string{"Last-Event-ID", "1"}},
		{"POST", ping, 200, []string{"Mcp-Session-Id", "made up"}},
		{"GET", "", 405, nil}, {"DELETE", "", 405, []string{"Mcp-Session-Id", "x"}}, {"PUT", ping, 405, nil},
	} {
		if w := send(h, c.method, strings.NewReader(c.body), c.headers...); w.Code != c.status || w.Body.Len() > 1000 {
			t.Errorf("%s %.100s %v: %d %.300s, want %d", c.method, c.body, c.headers, w.Code, w.Body, c.status)
		}
	}
	body := &endless{}
	if w := send(h, "POST", body); w.Code != http.StatusRequestEntityTooLarge || body.read > 4<<20 {
		t.Errorf("an endless body: %d after %d bytes", w.Code, body.read)
	}
	listen := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},"notifications":{"toolsListChanged":true}}}`
	if w := send(h, "POST", strings.NewReader(listen), "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen"); w.Code != 404 || !strings.Contains(w.Body.String(), "-32601") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestAnswersAreBounded: a tool reads at most 4 MiB of a response and returns at most 64 KiB.
func TestAnswersAreBounded(t *testing.T) {
	_, h := serveAPI(t)
	if w := send(h, "POST", strings.NewReader(callOf("/large"))); !strings.Contains(w.Body.String(), "larger than 4 MiB") {
		t.Errorf("%.300s", w.Body)
	}
	if w := send(h, "POST", strings.NewReader(callOf("/panic"))); !strings.Contains(w.Body.String(), "its log has the cause") {
		t.Errorf("%.300s", w.Body)
	}
	text := shorten(strings.Repeat("❄", 40_000))
	if len(text) > mostText+200 || !strings.Contains(text, "54464 bytes more") || strings.ToValidUTF8(text, "") != text {
		t.Errorf("%d bytes: …%s", len(text), text[len(text)-200:])
	}
}

// TestMessagesUnderWayAreBounded: a fixed number run at once, further ones are told to retry, and clients that leave make room.
func TestMessagesUnderWayAreBounded(t *testing.T) {
	api, h := serveAPI(t)
	server := httptest.NewServer(h)
	defer server.Close()
	ctx, leave := context.WithCancel(t.Context())
	var all sync.WaitGroup
	post := func(ctx context.Context) (int, string) {
		r, err := http.NewRequestWithContext(ctx, "POST", server.URL, strings.NewReader(callOf("/wait")))
		if err != nil {
			t.Error(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, ""
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		return answer.StatusCode, string(text)
	}
	for range mostAtOnce {
		all.Go(func() {
			if status, _ := post(ctx); status != 0 {
				t.Errorf("a client that left was answered: %d", status)
			}
		})
	}
	for range mostAtOnce {
		<-api.waiting
	}
	if status, text := post(t.Context()); status != http.StatusServiceUnavailable || !strings.Contains(text, "try again") {
		t.Errorf("one more: %d %s", status, text)
	}
	leave()
	all.Wait()
	close(api.release)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		status, text := post(t.Context())
		if status == 200 && strings.Contains(text, "/wait") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no room: %d %s", status, text)
		}
	}
}

// TestCallsOutliveTheInput: calls that came before the input ended get their responses, in any order, and Serve returns; if nobody takes
// responses, or the context ends, it returns all the same.
func TestCallsOutliveTheInput(t *testing.T) {
	api, _ := serveAPI(t)
	server := httptest.NewServer(api)
	defer server.Close()
	lines := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	const calls = 5
	for i := 1; i <= calls; i++ {
		lines += strings.Replace(callOf("/wait"), `"id":1`, fmt.Sprint(`"id":`, i), 1) + "\n"
	}
	serve := func(ctx context.Context, tail string, out io.Writer) <-chan error {
		ended := make(chan error, 1)
		go func() {
			ended <- Serve(ctx, server.URL, docs.New(nil), "test", slog.New(slog.DiscardHandler), io.NopCloser(strings.NewReader(lines+tail)), out)
		}()
		for range calls {
			select {
			case <-api.waiting:
			case <-time.After(5 * time.Second):
				t.Fatal("a call has ended before it began")
			}
		}
		return ended
	}
	release := func(calls int) {
		for range calls {
			select {
			case api.release <- struct{}{}:
			case <-time.After(5 * time.Second):
				t.Fatal("a call has ended before its response")
			}
		}
	}
	for _, tail := range []string{"", `{"jsonrpc":`, "nonsense\n"} {
		var out bytes.Buffer
		ended := serve(t.Context(), tail, &out)
		release(calls)
		err := <-ended
		if text := out.String(); strings.Count(text, `\"path\":\"/wait\"`) != calls || strings.Contains(text, "isError\":true") || (err != nil) != (tail != "") {
			t.Errorf("%q: %v: %s", tail, err, text)
		}
	}
	ended := serve(t.Context(), "", &failing{after: 1}) // the response to initialize
	release(1)
	if err := <-ended; err == nil {
		t.Error("a closed output is no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended = serve(ctx, "", io.Discard)
	cancel()
	release(calls)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// failing is an output that nobody reads after some messages.
type failing struct{ after int }

func (f *failing) Write(b []byte) (int, error) {
	if f.after--; f.after < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(b), nil
}

// TestMessagesLeaveNothingBehind: no goroutines and no memory, however many clients start a session.
func TestMessagesLeaveNothingBehind(t *testing.T) {
	_, h := serveAPI(t)
	initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	used := func(n int) (heap uint64, goroutines int) {
		for range n {
			if w := send(h, "POST", strings.NewReader(initialize)); w.Code != 200 || w.Header().Get("Mcp-Session-Id") != "" {
				t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
			}
			send(h, "POST", strings.NewReader(callOf("/a")))
		}
		for range 100 { // the library's goroutines end a little later
			if goroutines = runtime.NumGoroutine(); goroutines < 20 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, goroutines
	}
	before, _ := used(50)
	after, goroutines := used(1000)
	if goroutines >= 20 || after > before+2<<20 {
		t.Errorf("%d goroutines; %d KiB became %d KiB", goroutines, before>>10, after>>10)
	}
}

// FuzzMessages: any body gets a client error or a response of the protocol, and depth agrees with a parser.
func FuzzMessages(f *testing.F) {
	for _, body := range []string{callOf("/a"), `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"a":"\\\"[{","b":[[]]}`, "[]", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"snowglobe://manual/faucet"}}`} {
		f.Add(body)
	}
	_, h := serveAPI(f)
	f.Fuzz(func(t *testing.T, body string) {
		if w := send(h, "POST", strings.NewReader(body)); w.Code >= 500 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if !json.Valid([]byte(body)) {
			return
		}
		most, now := 0, 0
		for d := json.NewDecoder(strings.NewReader(body)); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return
			}
			switch token {
			case json.Delim('{'), json.Delim('['):
				now++
				most = max(most, now)
			case json.Delim('}'), json.Delim(']'):
				now--
			}
		}
		if got := depth([]byte(body)); got != most {
			t.Errorf("%q is %d deep, not %d", body, most, got)
		}
	})
}
