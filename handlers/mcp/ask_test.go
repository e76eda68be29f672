package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"snowglobe/handlers/docs"
	"snowglobe/handlers/permit"
)

// TestToolsActForTheirClient: an interface sees who the client is, what it may do and how it reaches the world, and nothing else of its request.
func TestToolsActForTheirClient(t *testing.T) {
	api, h := telling(nil)
	r := httptest.NewRequest("POST", "https://world.example"+Path, strings.NewReader(callOf("/a?b=c")))
	r.RemoteAddr, r.Host = "127.0.0.9:7", "world.example:8443"
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-site", "User-Agent": "agent/1",
		"Authorization": "Bearer a", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "proxy.example", "X-Forwarded-Prefix": "/p", "Forwarded": "for=1", "X-Glacier-Api-Key": "key",
		"Cookie": "a=b", "X-Sim-Fault": "503",
	} {
		r.Header.Set(name, value)
	}
	h.ServeHTTP(httptest.NewRecorder(), r)
	got := api.last
	if got == nil {
		t.Fatal("nothing was asked")
	}
	if got.RemoteAddr != "127.0.0.9:7" || got.Host != "world.example:8443" || got.TLS != r.TLS || got.TLS == nil || got.RequestURI != "/a?b=c" {
		t.Errorf("%s %s %v %s", got.RemoteAddr, got.Host, got.TLS, got.RequestURI)
	}
	for name, want := range map[string]string{
		"Accept": "application/json", "Content-Type": "", "Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-site", "User-Agent": "agent/1", "Authorization": "Bearer a",
		"X-Forwarded-Proto": "https", "X-Forwarded-Host": "proxy.example", "X-Forwarded-Prefix": "/p", "Forwarded": "for=1", "X-Service-Api-Key": "key", "X-Glacier-Api-Key": "", "Cookie": "", "X-Sim-Fault": "",
	} {
		if value := got.Header.Get(name); value != want {
			t.Errorf("%s is %q, not %q", name, value, want)
		}
	}
	use(t, h, "call_api", `{"path":"/a"}`)
	for _, name := range []string{"Origin", "User-Agent", "Authorization", "X-Service-Api-Key"} {
		if value, found := api.last.Header[http.CanonicalHeaderKey(name)]; found {
			t.Errorf("a client without %s has %q", name, value)
		}
	}
}

// TestBodiesHaveTheirType: whoever asks, a body is JSON, also the empty one of a POST; what a tool can't use is not asked for.
func TestBodiesHaveTheirType(t *testing.T) {
	api := &told{}
	server := httptest.NewServer(api)
	defer server.Close()
	for agent, a := range map[string]asker{"snowglobe-mcp": &outside{server.URL}, "": &inside{api, httptest.NewRequest("POST", Path, nil)}} {
		for _, c := range []struct{ method, accept, body, kind string }{
			{"GET", "application/json", "", ""}, {"GET", "", "", ""}, {"POST", "", "", "application/json"}, {"POST", "", "{}", "application/json"}, {"PUT", "", "{}", "application/json"}, {"DELETE", "", "", ""},
		} {
			status, text, err := a.ask(t.Context(), c.method, "/a", c.accept, []byte(c.body))
			r := api.last
			if err != nil || status != 200 || string(text) != "{}" || r.Method != c.method || r.Header.Get("Content-Type") != c.kind || r.Header.Get("Accept") != c.accept || r.Header.Get("User-Agent") != agent {
				t.Errorf("%T %+v: %d %s %v; %s %v", a, c, status, text, err, r.Method, r.Header)
			}
		}
		if _, _, err := a.ask(t.Context(), "GET", ":", "", nil); !errors.Is(err, errPath) {
			t.Errorf("%T: %v", a, err)
		}
	}
	if got := (&outside{server.URL}).base(); got != server.URL {
		t.Error(got)
	}
}

// TestResponsesUpToTheBound: 4 MiB is not too large, in one piece or in two, and a byte more is.
func TestResponsesUpToTheBound(t *testing.T) {
	size := 0
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, n := range []int{size / 2, size - size/2} {
			if _, err := w.Write(make([]byte, n)); err != nil {
				return
			}
		}
	})
	server := httptest.NewServer(api)
	defer server.Close()
	for _, a := range []asker{&outside{server.URL}, &inside{api, httptest.NewRequest("POST", Path, nil)}} {
		for _, size = range []int{mostAnswer, mostAnswer + 1} {
			_, text, err := a.ask(t.Context(), "GET", "/a", "", nil)
			if fits := size == mostAnswer; fits != (err == nil) || fits && len(text) != size || !fits && err.Error() != "the response is larger than 4 MiB: ask for less, such as with pageSize" {
				t.Errorf("%T %d bytes: %d bytes, %v", a, size, len(text), err)
			}
		}
	}
	for n, tail := range map[int]string{mostText: "", mostText + 1: "\n… 1 bytes more are left out: ask for less, such as with pageSize, a section or a filter"} {
		if text := shorten(strings.Repeat("a", n)); text != strings.Repeat("a", mostText)+tail {
			t.Errorf("%d bytes: …%s", n, text[mostText:])
		}
	}
}

// TestRequestsThatEndEarly: an agent is told that the time was up, that nobody answers, or that the connection broke, and not more than that.
func TestRequestsThatEndEarly(t *testing.T) {
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/broken":
			panic(http.ErrAbortHandler)
		case "/torn":
			w.Header().Set("Content-Length", "7")
			w.(io.Writer).Write([]byte("{"))
			if f, can := w.(http.Flusher); can {
				f.Flush()
			}
			panic(http.ErrAbortHandler)
		case "/begun":
			w.Write([]byte("{"))
			if f, can := w.(http.Flusher); can {
				f.Flush()
			}
		}
		<-r.Context().Done()
	})
	server := httptest.NewServer(api)
	defer server.Close()
	for _, a := range []asker{&outside{server.URL}, &inside{api, httptest.NewRequest("POST", Path, nil)}} {
		for _, path := range []string{"/silent", "/begun"} {
			late, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			if _, _, err := a.ask(late, "GET", path, "", nil); err == nil || err.Error() != "no complete response came within 1m0s" {
				t.Errorf("%T %s: %v", a, path, err)
			}
			cancel()
			gone, cancel := context.WithCancel(t.Context())
			time.AfterFunc(50*time.Millisecond, cancel)
			if _, _, err := a.ask(gone, "GET", path, "", nil); !errors.Is(err, context.Canceled) {
				t.Errorf("%T %s: %v", a, path, err)
			}
		}
		for _, path := range []string{"/broken", "/torn"} {
			status, _, err := a.ask(t.Context(), "GET", path, "", nil)
			if _, within := a.(*inside); err == nil || status != 0 || within && !errors.Is(err, errClosed) || strings.Contains(err.Error(), "no server answers") {
				t.Errorf("%T %s: %d %v", a, path, status, err)
			}
		}
	}
	from, leave := context.WithCancel(t.Context())
	leave()
	if _, _, err := (&inside{api, httptest.NewRequest("POST", Path, nil).WithContext(from)}).ask(t.Context(), "GET", "/silent", "", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the client has left: %v", err)
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + closed.Addr().String()
	closed.Close()
	if _, _, err := (&outside{url}).ask(t.Context(), "GET", "/a", "", nil); err == nil || err.Error() != "no server answers at "+url {
		t.Error(err)
	}
}

// TestPagesAndTheProtocol: browsers let pages of this machine send messages and read responses, and nobody else's.
func TestPagesAndTheProtocol(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	_, h := telling(nil)
	h.options.Permit = &permit.Rule{Origins: []string{"https://app.example"}}
	for _, origin := range []string{"http://localhost:6274", "https://app.example"} {
		w := send(h, "POST", strings.NewReader(ping), "Origin", origin)
		if w.Code != 200 || w.Header().Get("Access-Control-Allow-Origin") != origin || w.Header().Get("Vary") != "Origin" || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %v", origin, w.Code, w.Header())
		}
		w = send(h, "OPTIONS", nil, "Origin", origin, "Access-Control-Request-Headers", "mcp-protocol-version")
		if w.Code != 204 || w.Header().Get("Access-Control-Allow-Origin") != origin || w.Header().Get("Access-Control-Allow-Methods") != "POST" || w.Header().Get("Access-Control-Allow-Headers") != "mcp-protocol-version" || w.Body.Len() > 0 {
			t.Errorf("%s: %d %v %s", origin, w.Code, w.Header(), w.Body)
		}
	}
	for _, method := range []string{"POST", "OPTIONS"} {
		if w := send(h, method, strings.NewReader(ping), "Origin", "https://evil.example"); w.Code != 403 || !strings.Contains(w.Body.String(), "--allow-origin") {
			t.Errorf("%s: %d %s", method, w.Code, w.Body)
		}
	}
	if w := send(h, "POST", strings.NewReader(ping)); w.Code != 200 || w.Header()["Access-Control-Allow-Origin"] != nil || w.Header()["Vary"] != nil {
		t.Errorf("a program: %d %v", w.Code, w.Header())
	}
	if w := send(h, "GET", nil); w.Header().Get("Allow") != "POST, OPTIONS" || !strings.Contains(w.Body.String(), "the protocol's messages come by POST") {
		t.Errorf("GET: %v %s", w.Header(), w.Body)
	}
}

// TestMessagesUpToTheBounds: a hundred levels and twenty thousand commas are not too many, however many values lie beside each other, and one more is.
func TestMessagesUpToTheBounds(t *testing.T) {
	_, h := telling(nil)
	of := func(meta string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"a":` + meta + `}}}`
	}
	for meta, status := range map[string]int{
		strings.Repeat("[", 97) + strings.Repeat("]", 97):                200,
		strings.Repeat("[", 98) + strings.Repeat("]", 98):                400,
		strings.Repeat(`{"a":`, 97) + "1" + strings.Repeat("}", 97):      200,
		strings.Repeat(`{"a":`, 98) + "1" + strings.Repeat("}", 98):      400,
		"[{}" + strings.Repeat(",{}", 200) + "]":                         200,
		"[[]" + strings.Repeat(",[]", 200) + "]":                         200,
		`"` + strings.Repeat(`\"[{`, 200) + `"`:                          200,
		`"` + strings.Repeat(`\\`, 200) + `"`:                            200,
		"[1" + strings.Repeat(",1", mostValues-3) + "]":                  200,
		"[1" + strings.Repeat(",1", mostValues-2) + "]":                  400,
		`"` + strings.Repeat("a", mostBody-len(of(`""`))) + `"`:          200,
		`"` + strings.Repeat("a", mostBody-len(of(`""`))+1) + `"`:        413,
		`"` + strings.Repeat("a", mostBody-len(of(`""`))-1) + "\"\n":     200,
		`"` + strings.Repeat("a", mostBody-len(of(`""`))-1) + "\"  \n\n": 413,
	} {
		if meta == "" {
			continue
		}
		if w := send(h, "POST", strings.NewReader(of(meta))); w.Code != status {
			t.Errorf("%.20s… of %d bytes: %d %.200s", meta, len(meta), w.Code, w.Body)
		}
	}
}

// TestFailuresAreLogged: an agent reads where the cause is, and it is there.
func TestFailuresAreLogged(t *testing.T) {
	var log bytes.Buffer
	api, _ := serveAPI(t)
	h := NewHandler(Options{API: api, Manual: docs.New(nil), Version: "test", Log: slog.New(slog.NewTextHandler(&log, nil))})
	if got := use(t, h, "call_api", `{"path":"/panic"}`); got != "refused: -32603 the simulator failed; its log has the cause" {
		t.Error(got)
	}
	if text := log.String(); !strings.Contains(text, `method=tools/call panic=oops`) || !strings.Contains(text, "slowAPI") || !strings.Contains(text, "level=ERROR") {
		t.Error(text)
	}
}

// oneWay is a connection with some messages to read and an output that may be broken.
type oneWay struct {
	sdk.Connection
	in     []jsonrpc.Message
	broken error
}

func (c *oneWay) Read(context.Context) (jsonrpc.Message, error) {
	if len(c.in) == 0 {
		return nil, io.EOF
	}
	m := c.in[0]
	c.in = c.in[1:]
	return m, nil
}

func (c *oneWay) Write(context.Context, jsonrpc.Message) error { return c.broken }
func (c *oneWay) Close() error                                 { return nil }

// TestTheInputEndsWithTheLastResponse: once every call has its response, or nobody can get one; notifications wait for none.
func TestTheInputEndsWithTheLastResponse(t *testing.T) {
	idOf := func(id any) jsonrpc.ID {
		made, err := jsonrpc.MakeID(id)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	call := func(id any) jsonrpc.Message { return &jsonrpc.Request{ID: idOf(id), Method: "ping"} }
	answer := func(id any) jsonrpc.Message { return &jsonrpc.Response{ID: idOf(id)} }
	broken := io.ErrClosedPipe
	for _, c := range []struct {
		name   string
		in     []jsonrpc.Message
		broken error
		do     func(c sdk.Connection) error // what lets the input end
	}{
		{"nothing", nil, nil, nil},
		{"a notification", []jsonrpc.Message{&jsonrpc.Request{Method: "notifications/initialized"}}, nil, nil},
		{"a response", []jsonrpc.Message{answer("a")}, nil, nil},
		{"two calls", []jsonrpc.Message{call("a"), call(7.0)}, nil, func(c sdk.Connection) error {
			return errors.Join(c.Write(t.Context(), answer(7.0)), c.Write(t.Context(), answer("a")))
		}},
		{"a call whose response nobody takes", []jsonrpc.Message{call("a"), call("b")}, broken, func(c sdk.Connection) error {
			if err := c.Write(t.Context(), answer("a")); !errors.Is(err, broken) {
				return fmt.Errorf("the output is broken: %w", err)
			}
			return nil
		}},
		{"a call, and a notification that nobody takes", []jsonrpc.Message{call("a")}, broken, func(c sdk.Connection) error {
			if err := c.Write(t.Context(), &jsonrpc.Request{Method: "notifications/message"}); !errors.Is(err, broken) {
				return fmt.Errorf("the output is broken: %w", err)
			}
			return nil
		}},
		{"a call before the end of the session", []jsonrpc.Message{call("a")}, nil, sdk.Connection.Close},
	} {
		inner := &oneWay{in: c.in, broken: c.broken}
		conn, err := drained{connecting{inner}}.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for range c.in {
			if _, err := conn.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		ended := make(chan error, 1)
		go func() {
			_, err := conn.Read(t.Context())
			ended <- err
		}()
		if c.do != nil {
			if c.broken == nil {
				if err := conn.Write(t.Context(), &jsonrpc.Request{Method: "notifications/progress"}); err != nil {
					t.Errorf("%s: %v", c.name, err)
				}
				select {
				case <-ended:
					t.Errorf("%s: the input ended before its responses", c.name)
					continue
				case <-time.After(20 * time.Millisecond):
				}
			}
			if err := c.do(conn); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		select {
		case err := <-ended:
			if !errors.Is(err, io.EOF) {
				t.Errorf("%s: %v", c.name, err)
			}
		case <-time.After(5 * time.Second):
			t.Errorf("%s: the input never ended", c.name)
		}
	}
}

// connecting is a transport of one connection.
type connecting struct{ sdk.Connection }

func (c connecting) Connect(context.Context) (sdk.Connection, error) { return c.Connection, nil }
