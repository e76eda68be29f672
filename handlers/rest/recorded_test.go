package rest_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"snowglobe/handlers/fault"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/cache"
)

// recording is a server with a journal and an access log.
type recording struct {
	*rest.Server
	journal *journal.Journal
	log     bytes.Buffer
	used    []*rest.Use
}

func newRecording(t *testing.T, change func(*rest.Options)) *recording {
	t.Helper()
	r := &recording{journal: journal.New(50, nil, nil)}
	now := noon
	r.Server = newServer(t, func(o *rest.Options) {
		o.Journal, o.World = r.journal, "side"
		o.Log, _ = rest.NewLogger(&r.log, "json", false)
		o.Now = func() time.Time { now = now.Add(1500 * time.Microsecond); return now }
		o.Usage = func(u *rest.Use) { r.used = append(r.used, u) }
		if change != nil {
			change(o)
		}
	})
	return r
}

// last returns the newest exchange, and the log's newest line about a request.
func (r *recording) last(t *testing.T) (journal.Exchange, map[string]any) {
	t.Helper()
	all := r.journal.Latest(0)
	if len(all) == 0 {
		t.Fatal("nothing is recorded")
	}
	var line map[string]any
	lines := strings.Split(strings.TrimSpace(r.log.String()), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &line); err != nil {
		t.Fatal(err)
	}
	return all[0], line
}

// TestMessagesAreRecorded one by one, in addition to the request that opened their connection.
func TestMessagesAreRecorded(t *testing.T) {
	var opened context.Context
	open := func(t *testing.T, change func(*rest.Options)) *recording {
		r := newRecording(t, change)
		r.Mount("node", "/ext", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { opened = r.Context() }))
		get(t, r.Server, "/ext/bc/C/ws")
		r.journal.Clear()
		r.log.Reset()
		r.used = nil
		return r
	}
	since := time.Now().Add(-time.Second)
	record := func(ctx context.Context, p *fault.Plan) {
		rest.RecordMessage(ctx, "eth_call", []byte("asked"), []journal.CallRecord{{Method: "eth_call"}}, journal.Keep([]byte("told")), since, p)
	}
	r := open(t, nil)
	record(opened, nil)
	e, line := r.last(t)
	if e.Time != since || e.Took < time.Second || e.Operation != "eth_call" || !e.WebSocket || e.Status != 200 || string(e.Request.Kept) != "asked" || string(e.Answer.Kept) != "told" ||
		len(e.Calls) != 1 || e.Fault != "" || e.Interface != "node" || line["method"] != "WS" || line["operation"] != "eth_call" || line["fault"] != nil {
		t.Errorf("recorded is %+v, logged %v", e, line)
	}
	if len(r.used) != 1 || r.used[0].Operation != "eth_call" || r.used[0].Took < time.Second {
		t.Errorf("used are %v", r.used)
	}
	record(opened, &fault.Plan{Text: "rule 1: delay"})
	if e, line := r.last(t); e.Fault != "rule 1: delay" || line["fault"] != "rule 1: delay" {
		t.Errorf("recorded is %+v, logged %v", e, line)
	}
	r = open(t, func(o *rest.Options) { o.Log = nil })
	if record(opened, nil); len(r.journal.Latest(0)) != 1 || r.log.Len() > 0 {
		t.Errorf("without a log: %v %s", r.journal.Latest(0), &r.log)
	}
	r = open(t, func(o *rest.Options) { o.Journal = nil })
	if record(opened, nil); r.log.Len() == 0 {
		t.Error("without a journal, nothing is logged")
	}
	r = open(t, func(o *rest.Options) { o.Journal, o.Log = nil, nil })
	if record(opened, nil); len(r.used) != 1 {
		t.Errorf("without both, used are %v", r.used)
	}
	record(t.Context(), nil) // without a request
}

// TestRequestsAreRecordedAsSent: the journal and the log have the body and the response as the client sees them, before compression.
func TestRequestsAreRecordedAsSent(t *testing.T) {
	r := newRecording(t, nil)
	r.Mount("node", "/ext", http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		body, _ := io.ReadAll(hr.Body)
		m := rest.Mounted(hr.Context())
		switch m.KeepBody(body); hr.URL.Path {
		case "/ext/whole":
			_, _ = rest.WriteWhole(w, []byte("whole\n"))
			_, _ = rest.WriteWhole(w, []byte("more"))
		case "/ext/batch":
			m.Operation = "batch"
			m.Calls = []journal.CallRecord{{Method: "eth_call", Error: &journal.CallError{Code: 3, Message: "oops"}}}
		case "/ext/one":
			m.Calls = []journal.CallRecord{{Method: "eth_call", Error: &journal.CallError{Code: 3, Message: "oops"}}}
		}
		fmt.Fprint(w, "parts ")
		fmt.Fprint(w, "come")
	}))
	sizes := 0
	err := r.Register(rest.Data, rest.Operation{ID: "unequal", Path: "/v1/unequal", Live: true, Produces: "text/plain", Handle: func(*rest.Request) (any, error) {
		return rest.Raw{Type: "text/plain", Body: bytes.Repeat([]byte("a"), sizes)}, nil
	}}, rest.Operation{ID: "huge", Path: "/v1/huge", Answer: reflect.TypeFor[echo](), Handle: func(*rest.Request) (any, error) {
		return echo{[]string{strings.Repeat("x", 1<<20)}}, nil
	}}, rest.Operation{ID: "stream", Path: "/v1/stream", Produces: "text/plain", Handle: func(*rest.Request) (any, error) {
		return rest.Stream{Type: "text/plain", Send: func(_ context.Context, write func([]byte) error) error {
			return errors.Join(write([]byte("piece")), write([]byte("piece")))
		}}, nil
	}}, rest.Operation{ID: "cut", Path: "/v1/cut", Produces: "text/plain", Handle: func(*rest.Request) (any, error) {
		return rest.Stream{Type: "text/plain", Send: func(context.Context, func([]byte) error) error { return errors.New("gone") }}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	tag := get(t, r.Server, "/v1/large").Header().Get("Etag")
	large := strings.TrimSpace(get(t, r.Server, "/v1/large").Body.String())
	export := `{"type":"TRANSACTION_EXPORT_EVM","options":{"addresses":[]}}`
	for _, c := range []struct {
		method, target, body string
		headers              []string
		status               int
		request, answer      string
		log                  string // members as JSON
	}{
		{"GET", "/v1/numbers?pageSize=1&rltoken=geheim", "", nil, 200, "", `{"nextPageToken":`, `{"query":"pageSize=1&rltoken=[redacted]","world":"side","interface":"data","operation":"listNumbers","took_ms":1.5}`},
		{"GET", "/v1/numbers", "", nil, 200, "", `{"nextPageToken":`, `{"query":null,"cause":null,"calls":null,"fault":null}`},
		{"GET", "/v1/missing", "", nil, 404, "", `{"message":"block 7 does not exist"`, `{"cause":"block 7 does not exist"}`},
		{"POST", "/v1/operations/transactions:export", export, nil, 200, export, `{"values":[]}`, ``},
		{"GET", "/v1/large", "", []string{"Accept-Encoding", "gzip"}, 200, "", large, ``},
		{"HEAD", "/v1/large", "", nil, 200, "", "", `{"bytes":0}`},
		{"GET", "/v1/large", "", []string{"If-None-Match", tag}, 304, "", "", `{"bytes":0}`},
		{"GET", "/v1/unequal", "", []string{"Accept-Encoding", "gzip"}, 200, "", strings.Repeat("a", 5000), `{"bytes":5000}`},
		{"GET", "/v1/huge", "", nil, 200, "", `{"values":["xxx`, `{"bytes":1048591}`},
		{"GET", "/v1/stream", "", nil, 200, "", "", `{"status":200,"bytes":0}`},
		{"HEAD", "/v1/stream", "", nil, 200, "", "", `{"status":200,"bytes":0}`},
		{"POST", "/ext/parts", "asked", nil, 200, "asked", "parts come", `{"bytes":10,"operation":"node"}`},
		{"POST", "/ext/whole", "asked", nil, 200, "asked", "whole\n", `{"bytes":6}`},
		{"POST", "/ext/batch", "asked", nil, 200, "asked", "parts come", `{"calls":["eth_call: 3 oops"]}`},
		{"POST", "/ext/one", "asked", nil, 200, "asked", "parts come", `{"cause":"3 oops","calls":null}`},
		{"GET", "/openapi.json?operation=nothing", "", nil, 404, "", `{"message":"there is no operation`, `{"interface":"sim","operation":"documentation"}`},
	} {
		r.journal.Clear()
		sizes = 5000
		ask(t, r.Server, c.method, c.target, c.body, c.headers...)
		e, line := r.last(t)
		if e.Status != c.status || string(e.Request.Kept) != c.request || !strings.HasPrefix(string(e.Answer.Kept), c.answer) || c.answer == "" && e.Answer.Size != 0 {
			t.Errorf("%s %s: recorded are %d, %.100q, %.100q of %d bytes", c.method, c.target, e.Status, e.Request.Kept, e.Answer.Kept, e.Answer.Size)
		}
		var want map[string]any
		if c.log != "" {
			if err := json.Unmarshal([]byte(c.log), &want); err != nil {
				t.Fatal(err)
			}
		}
		for name, value := range want {
			if got := line[name]; !reflect.DeepEqual(got, value) {
				t.Errorf("%s %s: %s is logged as %v: want %v", c.method, c.target, name, got, value)
			}
		}
	}
	func() {
		defer func() {
			if p := recover(); p != http.ErrAbortHandler {
				t.Errorf("a stream that fails ends with %v", p)
			}
		}()
		r.journal.Clear()
		get(t, r.Server, "/v1/cut")
	}()
	if e, _ := r.last(t); e.Operation != "cut" {
		t.Errorf("a stream that fails is recorded as %+v", e)
	}
}

// TestWhatIsRecorded depends on the journal and on the log: if either wants bodies, they are recorded.
func TestWhatIsRecorded(t *testing.T) {
	for _, c := range []struct {
		journal, log, want bool
	}{{true, true, true}, {true, false, true}, {false, true, true}, {false, false, false}} {
		r := newRecording(t, func(o *rest.Options) {
			if !c.journal {
				o.Journal = nil
			}
			if !c.log {
				o.Log = nil
			}
		})
		r.Mount("node", "/ext", http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) { fmt.Fprint(w, rest.Mounted(hr.Context()).Recorded) }))
		expect(t, get(t, r.Server, "/ext/info"), 200, fmt.Sprint(c.want))
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequestWithContext(rest.Inside(t.Context()), "GET", "/ext/info", nil))
		expect(t, w, 200, "false")
	}
	if rest.Mounted(t.Context()).Recorded {
		t.Error("no request is recorded")
	}
	var log bytes.Buffer
	quiet, err := rest.NewLogger(&log, "json", true)
	if err != nil {
		t.Fatal(err)
	}
	if quiet.Info("unheard"); log.Len() > 0 {
		t.Errorf("a quiet log has %s", &log)
	}
	if quiet.Error("heard"); log.Len() == 0 {
		t.Error("a quiet log has no failures")
	}
}

// TestAMountChoosesItsLog: the line about a request goes to the log of the world that answers it. The status is the one that the client gets, even if
// the handler writes nothing.
func TestAMountChoosesItsLog(t *testing.T) {
	r := newRecording(t, nil)
	var other bytes.Buffer
	log := slog.New(slog.NewTextHandler(&other, nil))
	r.Mount("node", "/ext", http.HandlerFunc(func(_ http.ResponseWriter, hr *http.Request) {
		rest.Mounted(hr.Context()).Log = log
	}))
	get(t, r.Server, "/ext/info")
	if r.log.Len() > 0 || !strings.Contains(other.String(), "/ext/info") || !strings.Contains(other.String(), "status=200") {
		t.Errorf("the server's log has %s, the other %s", &r.log, &other)
	}
	rest.Mounted(t.Context()).Log.Info("to nobody")
}

// sink is a client that takes some bytes and then fails.
type sink struct {
	*httptest.ResponseRecorder
	takes int
}

func (s *sink) Write(b []byte) (int, error) {
	if len(b) > s.takes {
		n, _ := s.ResponseRecorder.Write(b[:s.takes])
		s.takes = 0
		return n, errors.New("gone")
	}
	s.takes -= len(b)
	return s.ResponseRecorder.Write(b)
}

// TestTheEndWaitsForTheJournal: when a request is recorded, its client still lacks the end of the response, even a client that reads line by line.
func TestTheEndWaitsForTheJournal(t *testing.T) {
	for body, before := range map[string]string{"line\n": "lin", "text": "tex", "a\n": "", "a": "", "\n": "", "\n\n": ""} {
		w := httptest.NewRecorder()
		var seen string
		s := newServer(t, func(o *rest.Options) {
			o.Observe = func(string, int, time.Duration) { seen = w.Body.String() }
		})
		s.Mount("node", "/ext", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }))
		s.ServeHTTP(w, httptest.NewRequest("GET", "/ext/info", nil))
		if seen != before || w.Body.String() != body {
			t.Errorf("%q: before the record %q, then %q", body, seen, w.Body)
		}
	}
	r := newRecording(t, nil)
	var failed error
	r.Mount("node", "/ext", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, failed = fmt.Fprint(w, "0123456789") }))
	r.ServeHTTP(&sink{httptest.NewRecorder(), 4}, httptest.NewRequest("GET", "/ext/info", nil))
	if e, _ := r.last(t); failed == nil || string(e.Answer.Kept) != "0123" {
		t.Errorf("of a response that breaks off, %q is recorded, and the handler learns %v", e.Answer.Kept, failed)
	}
}

// hijackable is a response whose connection a handler may take.
type hijackable struct{ *httptest.ResponseRecorder }

func (hijackable) Hijack() (net.Conn, *bufio.ReadWriter, error) { return nil, nil, nil }

// TestTakenConnections have the status of a WebSocket.
func TestTakenConnections(t *testing.T) {
	r := newRecording(t, nil)
	r.Mount("node", "/ext", http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		if hr.URL.Path == "/ext/late" {
			w.WriteHeader(http.StatusAccepted)
		}
		if _, _, err := w.(http.Hijacker).Hijack(); err != nil {
			t.Error(err)
		}
	}))
	for path, want := range map[string]int{"/ext/ws": 101, "/ext/late": 202} {
		r.ServeHTTP(hijackable{httptest.NewRecorder()}, httptest.NewRequest("GET", path, nil))
		if e, _ := r.last(t); e.Status != want {
			t.Errorf("%s has status %d", path, e.Status)
		}
	}
}

// TestChangesAreRecorded for a session: everything that may change the world, with body and answer, in the context that the session returns.
func TestChangesAreRecorded(t *testing.T) {
	type key struct{}
	var told []string
	s := newServer(t, func(o *rest.Options) {
		o.Record = func(ctx context.Context, id, method, path string, body []byte) (context.Context, func(any, bool)) {
			told = append(told, fmt.Sprint(id, " ", method, " ", path, " ", string(body)))
			return context.WithValue(ctx, key{}, id), func(answer any, failed bool) { told = append(told, fmt.Sprint(answer, " ", failed)) }
		}
	})
	handle := func(r *rest.Request) (any, error) {
		if rest.Body[export](r).Quorum > 0 {
			return nil, rest.Conflict("no")
		}
		return echo{[]string{fmt.Sprint(r.Context().Value(key{}))}}, nil
	}
	if err := s.Register(rest.Sim, rest.Operation{ID: "change", Method: "POST", Path: "/sim/change", Class: permit.Control, Body: reflect.TypeFor[export](), Answer: reflect.TypeFor[echo](), Handle: handle},
		rest.Operation{ID: "read", Path: "/sim/read", Answer: reflect.TypeFor[echo](), Handle: handle}); err != nil {
		t.Fatal(err)
	}
	const good, bad = `{"type":"TRANSACTION_EXPORT_EVM","options":{"addresses":[]}}`, `{"type":"TRANSACTION_EXPORT_EVM","quorum":1,"options":{"addresses":[]}}`
	expect(t, ask(t, s, "POST", "/sim/change", good), 200, `["change"]`)
	expect(t, ask(t, s, "POST", "/sim/change", bad), 409, "no")
	expect(t, get(t, s, "/sim/read"), 200, `["<nil>"]`)
	want := []string{"change POST /sim/change " + good, "{[change]} false", "change POST /sim/change " + bad, "<nil> true"}
	if !reflect.DeepEqual(told, want) {
		t.Errorf("recorded are %q", told)
	}
	w := ask(t, s, "POST", "/sim/change", good, "Origin", "http://localhost:3000")
	expect(t, w, 415, `content-type \"\" is not supported`)
	expect(t, ask(t, s, "POST", "/sim/change", good, "Origin", "http://localhost:3000", "Content-Type", "application/json"), 200, "")
}

// TestReadableAnswers are indented for people: on request, and for curl unless it asks for JSON.
func TestReadableAnswers(t *testing.T) {
	s := newServer(t, nil)
	handle := func(*rest.Request) (any, error) { return echo{[]string{"<a>"}}, nil }
	if err := s.Register(rest.Sim, rest.Operation{ID: "readable", Path: "/sim/readable", Readable: true, Answer: reflect.TypeFor[echo](), Handle: handle},
		rest.Operation{ID: "plain", Path: "/sim/plain", Answer: reflect.TypeFor[echo](), Handle: handle}); err != nil {
		t.Fatal(err)
	}
	const compact, indented = `{"values":["<a>"]}`, "{\n  \"values\": [\n    \"<a>\"\n  ]\n}\n"
	tags := map[string]string{}
	for range 2 { // then from memory
		for _, c := range []struct{ target, agent, accept, want string }{
			{"/sim/readable", "", "", compact},
			{"/sim/readable", "curl/8.5", "", indented},
			{"/sim/readable", "curl/8.5", "*/*", indented},
			{"/sim/readable", "curl/8.5", "application/json", compact},
			{"/sim/readable", "Mozilla", "*/*", compact},
			{"/sim/readable?pretty", "", "", indented},
			{"/sim/readable?pretty=true", "Mozilla", "text/html", indented},
			{"/sim/readable?pretty=false", "curl/8.5", "*/*", compact},
			{"/sim/plain?pretty", "curl/8.5", "*/*", compact},
		} {
			w := get(t, s, c.target, "User-Agent", c.agent, "Accept", c.accept)
			if w.Body.String() != c.want || w.Header().Get("Cache-Control") != "no-cache" {
				t.Errorf("%v: %q %v", c, w.Body, w.Header())
			}
			tag := w.Header().Get("Etag")
			if before, known := tags[c.want]; known && before != tag {
				t.Errorf("%v: the tag is %s, before %s", c, tag, before)
			}
			tags[c.want] = tag
		}
	}
	if tags[compact] == tags[indented] {
		t.Error("both forms have one tag")
	}
	w := get(t, s, "/sim/plain", "If-None-Match", tags[compact])
	if w.Code != 304 || w.Header().Get("Content-Type") != "" || w.Header().Get("Cache-Control") != "no-cache" {
		t.Errorf("an unchanged answer has %d %v", w.Code, w.Header())
	}
}

// TestUnsendableAnswers are the server's failures.
func TestUnsendableAnswers(t *testing.T) {
	s := newServer(t, nil)
	whole := bytes.Repeat([]byte("0123456789"), 500)
	if err := s.Register(rest.Sim, rest.Operation{ID: "unencodable", Path: "/sim/unencodable", Handle: func(*rest.Request) (any, error) { return func() {}, nil }},
		rest.Operation{ID: "failing", Path: "/sim/failing", Produces: "text/plain", Handle: func(r *rest.Request) (any, error) {
			r.Fail(rest.Conflict("first"))
			r.Fail(rest.Conflict("second"))
			return rest.Raw{Type: "text/plain", Body: []byte("x")}, nil
		}},
		rest.Operation{ID: "empty", Path: "/sim/empty", Status: 202, Produces: "text/plain", Handle: func(*rest.Request) (any, error) { return rest.Empty{}, nil }},
		rest.Operation{ID: "saved", Path: "/sim/saved", Produces: "text/plain", Handle: func(*rest.Request) (any, error) {
			return rest.Raw{Type: "text/plain", Name: "a.txt", Body: []byte("x")}, nil
		}},
		rest.Operation{ID: "damaged", Path: "/sim/damaged", Produces: "text/plain", Handle: func(*rest.Request) (any, error) {
			return rest.File{Type: "text/plain", Name: "a.txt", Tag: "t", Content: &damaged{bytes.NewReader(whole), 2000}}, nil
		}}); err != nil {
		t.Fatal(err)
	}
	expect(t, get(t, s, "/sim/unencodable"), 500, "the simulator failed")
	expect(t, get(t, s, "/sim/failing"), 409, `"message":"first"`)
	if w := get(t, s, "/sim/empty"); w.Code != 202 || w.Body.Len() > 0 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if h := get(t, s, "/sim/saved").Header(); h.Get("Content-Disposition") != `attachment; filename="a.txt"` {
		t.Errorf("headers are %v", h)
	}
	if h := get(t, s, "/v1/logo").Header(); h["Content-Disposition"] != nil {
		t.Errorf("headers are %v", h)
	}
	defer func() {
		if p := recover(); p != http.ErrAbortHandler {
			t.Errorf("a file that cannot be read ends with %v", p)
		}
	}()
	get(t, s, "/sim/damaged")
}

// damaged is a file that cannot be read to its end.
type damaged struct {
	*bytes.Reader
	good int64
}

func (d *damaged) Read(b []byte) (int, error) {
	if at := d.Size() - int64(d.Len()); at >= d.good {
		return 0, iotest.ErrTimeout
	}
	return d.Reader.Read(b[:min(len(b), 1000)])
}

// TestFilesKeepTheirTypes, and their requests what the client sent; a range must be one of bytes.
func TestFilesKeepTheirTypes(t *testing.T) {
	s := newServer(t, nil)
	text := strings.Repeat("0123456789", 500)
	if err := s.Register(rest.Data, rest.Operation{ID: "file", Path: "/v1/file", Produces: "text/csv", Handle: func(*rest.Request) (any, error) {
		return rest.File{Type: "text/csv", Name: "a.csv", Tag: "one", Content: strings.NewReader(text)}, nil
	}}); err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]int{"bytes=5-9": 206, "lines=5-9": 200, "bytes": 200, "bytes=9000-": 416} {
		r := httptest.NewRequest("GET", "/v1/file", nil)
		r.Header.Set("Range", given)
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != want || r.Header.Get("Range") != given {
			t.Errorf("%s: %d %.100s, and the request has %v", given, w.Code, w.Body, r.Header)
		}
		if want < 400 && w.Header().Get("Content-Type") != "text/csv" {
			t.Errorf("%s: headers are %v", given, w.Header())
		}
		if want > 400 && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: refused with %s", given, w.Body)
		}
	}
	w := get(t, s, "/v1/file", "Accept-Encoding", "gzip")
	z, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := io.ReadAll(z); err != nil || string(plain) != text || w.Header().Get("Content-Type") != "text/csv" {
		t.Errorf("%d bytes, %v, %v", len(plain), err, w.Header())
	}
}

// TestStreamsLeaveTheGate, so that closing a world does not wait for them.
func TestStreamsLeaveTheGate(t *testing.T) {
	s := newServer(t, nil)
	gate := sim.NewGate(&cache.Group{}, time.Second)
	within := -1
	if err := s.Register(rest.Sim, rest.Operation{ID: "stream", Path: "/sim/stream", Produces: "text/plain", Handle: func(*rest.Request) (any, error) {
		return rest.Stream{Type: "text/plain", Send: func(context.Context, func([]byte) error) error {
			within, _ = gate.Visits()
			return nil
		}}, nil
	}}); err != nil {
		t.Fatal(err)
	}
	ctx, leave, err := gate.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/sim/stream", nil))
	if within != 0 {
		t.Errorf("%d requests are within", within)
	}
}
