package intercept

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"snowglobe/fixtures"
	"snowglobe/handlers/permit"
)

// TestReportsAreDropped: pages of any origin may send the reports that nobody wants, and a browser lets them read that they arrived.
func TestReportsAreDropped(t *testing.T) {
	var sink *fixtures.Host
	for i := range fixtures.Hosts {
		if fixtures.Hosts[i].Service == fixtures.SinkService {
			sink = &fixtures.Hosts[i]
		}
	}
	if sink == nil {
		t.Fatal("no host of the table takes reports")
	}
	p := &Proxy{}
	for _, method := range []string{http.MethodPost, http.MethodOptions} {
		w := httptest.NewRecorder()
		p.answer(w, httptest.NewRequest(method, "https://"+sink.Name+"/track", strings.NewReader("a report")), sink, func(string) http.Handler {
			t.Error("a report reached the world")
			return http.NotFoundHandler()
		})
		h := w.Header()
		if w.Code != 200 || w.Body.String() != `{"status":1}` || h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Access-Control-Allow-Headers") != "*" || h.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %v %s", method, w.Code, h, w.Body)
		}
	}
}

// TestOtherMachinesReachOtherHosts: a client on another machine gets no connection to this one, by any of its names, and may try every other address.
func TestOtherMachinesReachOtherHosts(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	const own = "it is the machine of the proxy itself"
	for _, host := range []string{"127.0.0.1", "127.8.9.10", "localhost", "0.0.0.0", "::ffff:127.0.0.1"} {
		_, err := dial(fromClient(t.Context(), "192.0.2.7:5"), "tcp", net.JoinHostPort(host, port))
		if err == nil || !strings.Contains(err.Error(), own) {
			t.Errorf("another machine reaches %s: %v", host, err)
		}
	}
	for _, host := range []string{"192.0.2.1", "198.51.100.1"} { // addresses for documentation, where nobody answers
		ctx, cancel := context.WithTimeout(fromClient(t.Context(), "192.0.2.7:5"), 50*time.Millisecond)
		if c, err := dial(ctx, "tcp", net.JoinHostPort(host, port)); err == nil {
			c.Close()
		} else if strings.Contains(err.Error(), own) {
			t.Errorf("another machine may not try %s: %v", host, err)
		}
		cancel()
	}
	for host, want := range map[string]bool{"localhost": true, "a.localhost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true, "0.0.0.0": true, "::": true, "::ffff:127.0.0.1": true, "192.0.2.1": false, "localhost.example.com": false, "mylocalhost": false, "": false, "nonsense": false} {
		if got := loopback(host); got != want {
			t.Errorf("%q means this machine: %t", host, got)
		}
	}
}

// TestHostsAsTheyStandInLinks: the world sees the scheme of the client's URL, the host without its default port, and a path without a host.
func TestHostsAsTheyStandInLinks(t *testing.T) {
	h := &fixtures.Host{Name: "api.avax.network", Service: fixtures.NodeService, Network: fixtures.FujiName}
	p := &Proxy{}
	p.chains.Store(&[]Chain{})
	for _, c := range []struct {
		url, host string
		secure    bool
		want      string
	}{
		{"/a?b=c", "api.avax.network", false, "http api.avax.network"},
		{"/a?b=c", "api.avax.network:80", false, "http api.avax.network"},
		{"/a?b=c", "api.avax.network:443", false, "http api.avax.network:443"},
		{"/a?b=c", "api.avax.network:8080", false, "http api.avax.network:8080"},
		{"/a?b=c", "API.avax.network:443", true, "https api.avax.network"},
		{"/a?b=c", "api.avax.network:80", true, "https api.avax.network:80"},
		{"/a?b=c", "api.avax.network:8443", true, "https api.avax.network:8443"},
		{"https://api.avax.network/a?b=c", "api.avax.network", false, "https api.avax.network"},
		{"https://api.avax.network:443/a?b=c", "api.avax.network:443", false, "https api.avax.network"},
		{"http://api.avax.network:80/a?b=c", "api.avax.network:80", false, "http api.avax.network"},
	} {
		r := httptest.NewRequest(http.MethodGet, c.url, nil)
		r.Host, r.TLS = c.host, nil
		if c.secure {
			r.TLS = &tls.ConnectionState{}
		}
		reached := false
		p.answer(httptest.NewRecorder(), r, h, func(network string) http.Handler {
			return http.HandlerFunc(func(_ http.ResponseWriter, as *http.Request) {
				reached = true
				if got := permit.TrustedHost(as) + " " + as.Host; got != c.want || network != fixtures.FujiName || as.RequestURI != "/a?b=c" || as.URL.String() != "/a?b=c" {
					t.Errorf("%+v: %s on %s, %s %s", c, got, network, as.RequestURI, as.URL)
				}
			})
		})
		if !reached {
			t.Errorf("%+v: the world was not asked", c)
		}
	}
}

// TestPathsOfOtherServices: compilers' list, and what is none of a host's own paths.
func TestPathsOfOtherServices(t *testing.T) {
	for _, c := range []struct {
		host       fixtures.Host
		path, want string
	}{
		{fixtures.Host{Service: fixtures.CompilerService}, "/bin/list.txt", "/sim/compilers/list.txt"},
		{fixtures.Host{Service: fixtures.CompilerService}, "/bin/list.json", "/bin/list.json"},
		{fixtures.Host{Service: fixtures.ChainService, Chain: "7"}, "/rpc", "/rpc"}, // no such chain
		{fixtures.Host{Service: fixtures.ExplorerService, Network: fixtures.MainnetName}, "/rpc", "/rpc"},
		{fixtures.Host{Service: fixtures.ExplorerService, Network: fixtures.MainnetName}, "/icefall/rpc", "/ext/bc/bIce/rpc"},
	} {
		if got := resolve(&c.host, testChains, httptest.NewRequest(http.MethodGet, c.path, nil)); got.path != c.want || got.redirect {
			t.Errorf("%s %s: %+v, want %s", c.host.Service, c.path, got, c.want)
		}
	}
	label := strings.Repeat("a", 62) + "."
	for name, good := range map[string]bool{strings.Repeat(label, 4) + "a": true, strings.Repeat(label, 4) + "aa": false} {
		if _, err := ParseHost(name + "=data"); (err == nil) != good {
			t.Errorf("a name of %d letters: %v", len(name), err)
		}
	}
	for n, want := range map[int]string{longest: strings.Repeat("a", longest), longest + 1: strings.Repeat("a", longest) + "…"} {
		if got := printable(strings.Repeat("a", n)); got != want {
			t.Errorf("%d letters: %s", n, got)
		}
	}
}

// TestEnvironmentOfTheCommand: the command's own requests to this machine do not go through the proxy, Node reads these variables, and Chromium takes the
// key of the certificates. Roots of the system stay trusted where the user has none of their own.
func TestEnvironmentOfTheCommand(t *testing.T) {
	p := run(t, Options{})
	folder := t.TempDir()
	roots, none := filepath.Join(folder, "roots.pem"), filepath.Join(folder, "none.pem")
	if err := os.WriteFile(roots, []byte("ROOTS"), 0o600); err != nil {
		t.Fatal(err)
	}
	defer func(before []string) { systemRoots = before }(systemRoots)
	systemRoots = []string{none, folder, roots}
	if got := systemFile(); got != roots {
		t.Errorf("the system's certificates are in %s", got)
	}
	e, err := p.Environment(p.url, 4, []string{"NODE_EXTRA_CA_CERTS="})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, pair := range e.Variables {
		name, value, _ := strings.Cut(pair, "=")
		got[name] = value
	}
	for name, want := range map[string]string{"NO_PROXY": noProxy, "no_proxy": noProxy, "NODE_USE_ENV_PROXY": "1"} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	for name, want := range map[string]bool{"SSL_CERT_FILE": true, "REQUESTS_CA_BUNDLE": true, "NODE_EXTRA_CA_CERTS": false} {
		if text, err := os.ReadFile(got[name]); err != nil || strings.Contains(string(text), "ROOTS") != want {
			t.Errorf("%s: %v, the system's are there: %t", name, err, !want)
		}
	}
	own := filepath.Join(folder, "own.pem")
	if err := os.WriteFile(own, []byte("OWN"), 0o600); err != nil {
		t.Fatal(err)
	}
	kept, err := p.Environment(p.url, 4, []string{"SSL_CERT_FILE=" + own, "CURL_CA_BUNDLE=" + own})
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range kept.Variables {
		if name, value, _ := strings.Cut(pair, "="); name == "SSL_CERT_FILE" {
			if text, err := os.ReadFile(value); err != nil || strings.Count(string(text), "OWN") != 1 || strings.Contains(string(text), "ROOTS") {
				t.Errorf("the user's own file: %v %s", err, text)
			}
		}
	}
	paths := []string{got["SSL_CERT_FILE"], got["NODE_EXTRA_CA_CERTS"]}
	if err := errors.Join(e.Close(), kept.Close()); err != nil {
		t.Error(err)
	}
	for _, path := range paths {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is left", path)
		}
	}
	c, err := tls.Dial("tcp", p.direct, &tls.Config{RootCAs: p.roots, ServerName: "api.avax.network"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	sum := sha256.Sum256(c.ConnectionState().PeerCertificates[0].RawSubjectPublicKeyInfo)
	if flag := "--ignore-certificate-errors-spki-list=" + base64.StdEncoding.EncodeToString(sum[:]); !slices.Contains(p.ChromiumFlags(p.url), flag) {
		t.Errorf("%v, want %s", p.ChromiumFlags(p.url), flag)
	}
}

// TestDirectEndsWithItsListener: that is no error; another failure of the listener is one.
func TestDirectEndsWithItsListener(t *testing.T) {
	for _, failure := range []error{net.ErrClosed, io.ErrUnexpectedEOF} {
		err := (&Proxy{}).Direct(&brokenListener{failure})
		if failure == net.ErrClosed && err != nil || failure != net.ErrClosed && !errors.Is(err, failure) {
			t.Errorf("%v: %v", failure, err)
		}
	}
}

type brokenListener struct{ err error }

func (l *brokenListener) Accept() (net.Conn, error) { return nil, l.err }
func (l *brokenListener) Close() error              { return nil }
func (l *brokenListener) Addr() net.Addr            { return &net.TCPAddr{} }

// TestTheOwnProxyIsLeftOut: a proxy of the environment that is this one, by any name, is no way out; one on another port or machine is.
func TestTheOwnProxyIsLeftOut(t *testing.T) {
	for next, out := range map[string]bool{
		"http://127.0.0.1:9651": false, "http://localhost:9651": false, "http://[::1]:9651": false, "http://10.0.0.5:9651": false,
		"http://127.0.0.1:9652": true, "http://10.0.0.6:9651": true, "http://proxy.example:9651": true, "http://10.0.0.5": true,
	} {
		p := &Proxy{next: func(*http.Request) (*url.URL, error) { return url.Parse(next) }}
		r := httptest.NewRequest(http.MethodGet, "http://example.com/", nil)
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(10, 0, 0, 5), Port: 9651}))
		if got, err := p.beyond(r); err != nil || (got != nil) != out {
			t.Errorf("%s: %v %v", next, got, err)
		}
	}
}
