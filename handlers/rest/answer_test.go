package rest_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
)

func TestGzipWhenAskedAndWorthIt(t *testing.T) {
	s := newServer(t, nil)
	plain := get(t, s, "/v1/large")
	cases := []struct {
		path, accept string
		want         bool
	}{
		{"/v1/large", "gzip, deflate", true},
		{"/v1/large", "br;q=1.0, gzip;q=0.5", true},
		{"/v1/large", "*", true},
		{"/v1/large", "GZip", true},
		{"/v1/large", "*;q=0, gzip", true},
		{"/v1/large", "identity, *;q=0.1", true},
		{"/v1/large", "gzip;q=0", false},
		{"/v1/large", "gzip; Q = 0.0", false},
		{"/v1/large", "*, gzip;q=0", false},
		{"/v1/large", "gzip;q=much", false},
		{"/v1/large", "*;q=0", false},
		{"/v1/large", "identity", false},
		{"/v1/logo", "gzip", false},
	}
	for _, c := range cases {
		w := get(t, s, c.path, "accept-encoding", c.accept)
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != c.want || w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s with %q: headers are %v", c.path, c.accept, w.Header())
		}
		if !c.want {
			continue
		}
		r, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(r); err != nil || string(b) != plain.Body.String() {
			t.Errorf("%q: unpacks to %s, %v", c.accept, b, err)
		}
		if w.Header().Get("ETag") == plain.Header().Get("ETag") {
			t.Error("packed and plain bytes have the same strong tag")
		}
	}
}

func TestUnchangedAnswersAreNotSentAgain(t *testing.T) {
	s := newServer(t, nil)
	first := get(t, s, "/v1/large")
	tag := first.Header().Get("ETag")
	if !strings.HasPrefix(tag, `"`) || len(first.Body.String()) == 0 {
		t.Fatalf("tag is %s", tag)
	}
	packed := get(t, s, "/v1/large", "accept-encoding", "gzip").Header().Get("ETag")
	for _, match := range []string{tag, `"x", ` + tag, "W/" + tag, packed, "*"} {
		w := get(t, s, "/v1/large", "if-none-match", match)
		if w.Code != 304 || w.Body.Len() != 0 || w.Header().Get("ETag") != tag {
			t.Errorf("if-none-match %s: %d %v", match, w.Code, w.Header())
		}
	}
	expect(t, get(t, s, "/v1/large", "if-none-match", `"x"`), 200, "snow")
	w := get(t, s, "/v1/missing", "if-none-match", "*")
	if expect(t, w, 404, ""); w.Header().Get("ETag") != "" {
		t.Error("a failure has a tag")
	}
}

func TestHead(t *testing.T) {
	s := newServer(t, nil)
	full, head := get(t, s, "/v1/large"), ask(t, s, http.MethodHead, "/v1/large", "")
	if head.Code != 200 || head.Body.Len() != 0 {
		t.Errorf("head is %d with %d bytes", head.Code, head.Body.Len())
	}
	for _, name := range []string{"Content-Length", "Content-Type", "ETag"} {
		if full.Header().Get(name) == "" || head.Header().Get(name) != full.Header().Get(name) {
			t.Errorf("%s is %q and %q", name, full.Header().Get(name), head.Header().Get(name))
		}
	}
	if w := ask(t, s, http.MethodHead, "/v1/missing", ""); w.Code != 404 || w.Body.Len() != 0 {
		t.Errorf("head of a missing thing is %d %s", w.Code, w.Body)
	}
}

func TestBrowsersMayRead(t *testing.T) {
	s := newServer(t, nil)
	for _, path := range []string{"/v1/numbers", "/v1/missing", "/nowhere"} {
		h := get(t, s, path, "origin", "https://example.org").Header()
		if h.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(h.Get("Access-Control-Expose-Headers"), "ratelimit-remaining") {
			t.Errorf("%s: headers are %v", path, h)
		}
	}
	preflight := []string{"origin", "https://example.org", "access-control-request-method", "GET", "access-control-request-headers", "cache-control,x-glacier-api-key"}
	for path, methods := range map[string]string{
		"/v1/numbers":                        "GET, HEAD, OPTIONS",
		"/v1/operations/transactions:export": "POST, OPTIONS",
		"/nowhere":                           "GET",
		"/sim/clock":                         "OPTIONS",
	} {
		w := ask(t, s, http.MethodOptions, path, "", preflight...)
		h := w.Header()
		if w.Code != 204 || h.Get("Access-Control-Allow-Methods") != methods || h.Get("Access-Control-Allow-Headers") != "cache-control,x-glacier-api-key" {
			t.Errorf("%s: preflight is %d %v", path, w.Code, h)
		}
	}
}

func TestBrowsersMayNotChangeTheWorld(t *testing.T) {
	s := newServer(t, nil)
	w := ask(t, s, "POST", "/sim/clock", "", "origin", "https://example.org")
	if expect(t, w, 403, "--allow-origin"); w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("headers are %v", w.Header())
	}
	expect(t, ask(t, s, "POST", "/sim/clock", "", "origin", "null"), 403, "--allow-origin")
	expect(t, ask(t, s, "POST", "/sim/clock", "", "origin", "http://app.localhost:3000"), 200, "")
	expect(t, ask(t, s, "POST", "/sim/clock", ""), 200, "")
	preflight := []string{"origin", "https://example.org", "access-control-request-method", "POST"}
	if h := ask(t, s, http.MethodOptions, "/sim/clock", "", preflight...).Header(); h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a page of another origin is told that it may send the request: %v", h)
	}
	named := newServer(t, func(o *rest.Options) {
		o.Permit = &permit.Rule{Origins: []string{"https://example.org"}, Exposed: true}
	})
	if h := ask(t, named, http.MethodOptions, "/sim/clock", "", preflight...).Header(); h.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("a page of an origin that was named is not told that it may send the request: %v", h)
	}
	expect(t, ask(t, named, "POST", "/sim/clock", "", "origin", "https://example.org"), 403, "--allow-control")
	expect(t, ask(t, named, "POST", "/sim/clock", ""), 403, "--allow-control")
	expect(t, get(t, named, "/v1/numbers", "origin", "https://example.net"), 200, "")
}

func TestLinksPointBackAtTheClientsAddress(t *testing.T) {
	s := newServer(t, nil)
	cases := []struct {
		path, remote string
		headers      map[string]string
		want         string
	}{
		{"/v1/numbers", "127.0.0.1:5", nil, "http://example.com/docs"},
		{"/upstream/v1/numbers", "127.0.0.1:5", nil, "http://example.com/upstream/docs"},
		{"/v1/numbers", "10.1.2.3:5", map[string]string{"X-Forwarded-Proto": "https", "X-Forwarded-Host": "globe.test, inner", "X-Forwarded-Prefix": "/snow/"}, "https://globe.test/snow/docs"},
		{"/v1/numbers", "[::1]:5", map[string]string{"X-Forwarded-Host": "globe.test/@x"}, "http://example.com/docs"},
		{"/v1/numbers", "127.0.0.1:5", map[string]string{"X-Forwarded-Proto": "javascript"}, "http://example.com/docs"},
		{"/v1/numbers", "127.0.0.1:5", map[string]string{"X-Forwarded-Proto": "HTTPS://x"}, "http://example.com/docs"},
		{"/v1/numbers", "127.0.0.1:5", map[string]string{"X-Forwarded-Host": "globe.test:99999999"}, "http://example.com/docs"},
		{"/v1/numbers", "127.0.0.1:5", map[string]string{"X-Forwarded-Host": "globe.test;x"}, "http://example.com/docs"},
		{"/v1/numbers", "127.0.0.1:5", map[string]string{"X-Forwarded-Host": "[2001:db8::1]:8080"}, "http://[2001:db8::1]:8080/docs"},
		{"/v1/numbers", "127.0.0.1:5", map[string]string{"X-Forwarded-Prefix": "//evil.example"}, "http://example.com/docs"},
		{"/v1/numbers", "203.0.113.9:5", map[string]string{"X-Forwarded-Host": "globe.test"}, "http://example.com/docs"},
		{"/v1/numbers", "127.0.0.1:5", map[string]string{"Forwarded": `for=192.0.2.1; Host="globe.test:8443";proto=https, for=10.0.0.1;host=inner`}, "https://globe.test:8443/docs"},
		{"/v1/numbers", "127.0.0.1:5", map[string]string{"Forwarded": "host=inner;proto=https", "X-Forwarded-Host": "globe.test"}, "https://globe.test/docs"},
		{"/v1/numbers", "127.0.0.1:5", map[string]string{"Forwarded": "host=globe.test/@x"}, "http://example.com/docs"},
		{"/v1/numbers", "203.0.113.9:5", map[string]string{"Forwarded": "host=globe.test"}, "http://example.com/docs"},
	}
	for _, c := range cases {
		var p numberPage
		w := serve(s, c.path, c.remote, c.headers)
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.URL != c.want {
			t.Errorf("%v: URL is %s: want %s", c, p.URL, c.want)
		}
	}
}

func TestMountedHandlers(t *testing.T) {
	s := newServer(t, nil)
	s.Mount("node", "/ext", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/ext/panic" {
			panic("secret")
		}
		_, _ = io.WriteString(w, r.URL.Path+" "+string(rest.RequestDialect(r.Context())))
	}))
	expect(t, get(t, s, "/ext/bc/C/rpc"), 200, "/ext/bc/C/rpc spec")
	expect(t, get(t, s, "/upstream//ext/info/"), 200, "//ext/info/ upstream")
	expect(t, ask(t, s, "POST", "/ext/panic", ""), 500, "Internal Server Error")
	expect(t, get(t, s, "/extra"), 404, "Cannot GET /extra")
	w := get(t, s, "/ext/bc/C/rpc")
	if w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a mounted handler's cross-origin rules are not its own: %v", w.Header())
	}
}

// TestBrowsersRunNothing: a response that a browser might render has a policy against running and loading anything, and a content type.
func TestBrowsersRunNothing(t *testing.T) {
	s := newServer(t, nil)
	for _, path := range []string{"/v1/logo", "/openapi.json"} {
		h := get(t, s, path).Header()
		if h.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(h.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: headers are %v", path, h)
		}
	}
	for _, path := range []string{"/v1/numbers", "/v1/missing", "/nowhere"} {
		if h := get(t, s, path).Header(); h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers are %v", path, h)
		}
	}
}

// TestListsAndProblemsAreBounded: a list that is too long is not read, and the number of reported problems is limited.
func TestListsAndProblemsAreBounded(t *testing.T) {
	s := newServer(t, nil)
	expect(t, get(t, s, "/v1/chains/43114/blocks/7?contracts="+strings.Repeat("z,", 20_000)+"z"), 400, "contracts has 20001 items: expected at most 3")
	w := ask(t, s, http.MethodPost, "/v1/operations/transactions:export", `{"options":{"addresses":[`+strings.Repeat("7,", 10_000)+`7]}}`, "Content-Type", "application/json")
	if expect(t, w, 400, "and more of that kind"); w.Body.Len() > 20_000 {
		t.Errorf("the answer has %d bytes", w.Body.Len())
	}
	expect(t, ask(t, s, http.MethodPost, "/v1/operations/transactions:export", `[`+strings.Repeat("7,", 100_000)+`7]`, "Content-Type", "application/json"), 400, "more than 20000 values")
}
