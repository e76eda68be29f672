package fault_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"snowglobe/handlers/fault"
)

const page = `{"blocks":[{"n":[1]}],"nextPageToken":"second","total":2}`

// altered serves a page with a header's fault and returns what Go's client and the log see.
func altered(t *testing.T, header string) (status int, h http.Header, body, kept string, err error) {
	t.Helper()
	a, err := fault.ParseHeader(header)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"1"`)
		w.Header().Set("Content-Type", "application/json")
		buffer := &fault.Writer{ResponseWriter: w}
		buffer.WriteHeader(http.StatusAccepted)
		buffer.WriteHeader(http.StatusTeapot) // too late
		_, _ = io.WriteString(buffer, page[:10])
		_, _ = io.WriteString(buffer, page[10:])
		if end := buffer.Send(r.Context(), w, a, "first", func(b []byte) { kept = string(b) }); end != nil {
			end()
		}
	}))
	defer s.Close()
	answer, err := http.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	return answer.StatusCode, answer.Header, string(raw), kept, err
}

func TestAlterAResponse(t *testing.T) {
	const html, etag = "text/html", `"1"`
	for _, c := range []struct{ header, body, contentType, etag string }{
		{"slow=1ns", page, "", etag},
		{"content-type=text/html", page, html, etag},
		{"empty-page", `{"blocks":[],"nextPageToken":"second","total":2}`, "", ""},
		{"page-token=missing", `{"blocks":[{"n":[1]}],"total":2}`, "", ""},
		{"page-token=duplicate", `{"blocks":[{"n":[1]}],"nextPageToken":"first","total":2}`, "", ""},
		{"invalid-json", page[:len(page)/2], "", ""},
		{"truncate=1000", page, "", etag},
	} {
		status, h, body, kept, err := altered(t, c.header)
		if c.contentType == "" {
			c.contentType = "application/json"
		}
		if err != nil || status != http.StatusAccepted || body != c.body || kept != body || h.Get("Content-Type") != c.contentType || h.Get("Etag") != c.etag {
			t.Errorf("%s: %d %v %s, kept %s, %v", c.header, status, h, body, kept, err)
		}
	}
}

// TestBreakAResponse sends less than it announces, and the client notices.
func TestBreakAResponse(t *testing.T) {
	for header, c := range map[string]struct {
		body string
		err  error
	}{
		"truncate=0": {"", io.ErrUnexpectedEOF}, "truncate=5": {page[:5], io.ErrUnexpectedEOF}, "drop=during": {page[:len(page)/2], syscall.ECONNRESET},
	} {
		_, h, body, kept, err := altered(t, header)
		if !strings.HasPrefix(c.body, body) || kept != c.body || !errors.Is(err, c.err) || h.Get("Content-Length") != "57" || h.Get("Etag") == "" {
			t.Errorf("%s: %v %s, kept %s, %v", header, h, body, kept, err)
		}
	}
}

// paced notes when each piece of a response came, and its write deadlines.
type paced struct {
	*httptest.ResponseRecorder
	pieces  []string
	flushed int
	latest  time.Time
}

func (p *paced) Write(b []byte) (int, error) {
	p.pieces = append(p.pieces, string(b))
	return len(b), nil
}
func (p *paced) Flush()                                  { p.flushed++ }
func (p *paced) SetWriteDeadline(latest time.Time) error { p.latest = latest; return nil }

func TestSendSlowly(t *testing.T) {
	a, err := fault.ParseHeader("slow=45ms")
	if err != nil {
		t.Fatal(err)
	}
	send := func(ctx context.Context) (*paced, time.Duration) {
		p := &paced{ResponseRecorder: httptest.NewRecorder()}
		w := &fault.Writer{ResponseWriter: p}
		_, _ = io.WriteString(w, page)
		begun := time.Now()
		w.Send(ctx, p, a, "", func([]byte) {})
		return p, time.Since(begun)
	}
	if p, took := send(t.Context()); len(p.pieces) != 10 || strings.Join(p.pieces, "") != page || p.flushed != 9 || took < 45*time.Millisecond || took > 2*time.Second || time.Until(p.latest) < 115*time.Second || p.Code != 200 {
		t.Errorf("%q in %s, flushed %d times, until %s", p.pieces, took, p.flushed, p.latest)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if p, _ := send(gone); len(p.pieces) > 2 {
		t.Errorf("a client that is gone gets %q", p.pieces)
	}
}

func TestWait(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	p := &paced{}
	begun := time.Now()
	if !fault.Wait(gone, p, 0) || !p.latest.IsZero() {
		t.Error("waits for no time")
	}
	if fault.Wait(gone, p, time.Hour) || time.Until(p.latest) < 61*time.Minute {
		t.Errorf("waits for a client that is gone, until %s", p.latest)
	}
	if !fault.Wait(t.Context(), p, 5*time.Millisecond) || time.Since(begun) < 5*time.Millisecond {
		t.Error("does not wait")
	}
}

// TestReset: the client sees a reset, and over HTTP/2, which has no connection to take over, the end of the stream.
func TestReset(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fault.Reset(w) }))
	defer s.Close()
	if _, err := http.Post(s.URL, "", nil); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the client sees %v", err)
	}
	defer func() {
		if got := recover(); got != http.ErrAbortHandler { //nolint:errorlint // net/http compares
			t.Errorf("without a connection of its own: %v", got)
		}
	}()
	fault.Reset(httptest.NewRecorder())
}

// TestAlterABody leaves bodies without matching members unchanged.
func TestAlterABody(t *testing.T) {
	for _, c := range [][3]string{
		{`{"emptyPage":true}`, `{"a":[1],"b":{"c":[2]},"d":"[","e":[]}`, `{"a":[],"b":{"c":[2]},"d":"[","e":[]}`},
		{`{"emptyPage":true}`, `[1,2]`, `[1,2]`}, {`{"emptyPage":true}`, `{}`, `{}`}, {`{"emptyPage":true}`, ``, ``}, {`{"emptyPage":true}`, `{"a":[1],`, `{"a":[1],`}, {`{"emptyPage":true}`, `{"a":[1`, `{"a":[1`},
		{`{"emptyPage":true}`, `oops`, `oops`}, {`{"pageToken":"missing"}`, `{"nextPageToken":"x"}`, `{}`}, {`{"pageToken":"missing"}`, `{"nextPageToken":"x","\u0041":1}`, `{"A":1}`},
		{`{"pageToken":"duplicate"}`, `{"nextPageToken":"x"}`, `{"nextPageToken":"x"}`}, // the first page has no token to repeat
		{`{"status":503}`, `{"a":[1]}`, `{"a":[1]}`}, {`{"truncate":3}`, `{"a":[1]}`, `{"a`}, {`{"truncate":30}`, `{"a":[1]}`, `{"a":[1]}`}, {`{"invalidJson":true}`, `{"a":[1]}`, `{"a"`},
	} {
		var a fault.Action
		if err := json.Unmarshal([]byte(c[0]), &a); err != nil {
			t.Fatal(err)
		}
		if got := a.AlterMessage([]byte(c[1])); string(got) != c[2] {
			t.Errorf("%s makes %s of %s", c[0], got, c[1])
		}
	}
}

// TestAskForAnAlterableResponse: neither compressed, nor partial, nor not modified.
func TestAskForAnAlterableResponse(t *testing.T) {
	r := httptest.NewRequest("GET", "/", nil)
	for _, name := range []string{"Accept", "Accept-Encoding", "If-None-Match", "Range"} {
		r.Header.Set(name, "1")
	}
	if got := fault.Plain(r); len(got.Header) != 1 || got.Header.Get("Accept") == "" || len(r.Header) != 4 {
		t.Errorf("%v of %v", got.Header, r.Header)
	}
}
