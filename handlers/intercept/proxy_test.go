package intercept

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"snowglobe/fixtures"
	"snowglobe/handlers/permit"
)

// running is a proxy in front of a world that returns what it was asked.
type running struct {
	*Proxy
	url    string
	direct string
	client *http.Client // uses the proxy and trusts it
	roots  *x509.CertPool
}

func world(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/ws") {
		c, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer c.Close()
		kind, text, err := c.ReadMessage()
		if err == nil {
			_ = c.WriteMessage(kind, append([]byte(r.Host+" "+r.URL.Path+" "), text...))
		}
		return
	}
	body, _ := io.ReadAll(r.Body)
	if r.URL.Path == "" {
		body = append(body, "no path"...)
	}
	if r.Header.Get("Proxy-Authorization") != "" {
		body = append(body, "a header of the proxy"...)
	}
	fmt.Fprintf(w, "%s %s://%s%s %d %s", r.Method, permit.TrustedHost(r), r.Host, r.RequestURI, r.ProtoMajor, body)
}

func run(t *testing.T, o Options) *running {
	p, err := New(o, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	p.next = func(*http.Request) (*url.URL, error) { return nil, nil }
	if err := p.SetChains(testChains); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(p.Handler(http.HandlerFunc(world), func(network string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Network", network)
			world(w, r)
		})
	}))
	inside := &http.Server{Handler: p.Inside(), ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)}
	go inside.Serve(p.Tunnels())
	direct, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go p.Direct(direct)
	pem, err := p.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	r := &running{Proxy: p, url: s.URL, direct: direct.Addr().String(), roots: x509.NewCertPool()}
	r.roots.AppendCertsFromPEM(pem)
	r.client = r.newClient(true)
	t.Cleanup(func() {
		r.client.CloseIdleConnections()
		direct.Close()
		inside.Close()
		s.Close()
	})
	return r
}

func (p *running) newClient(h2 bool) *http.Client {
	at, _ := url.Parse(p.url)
	at.User = url.UserPassword("user", "of the proxy")
	return &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyURL(at), TLSClientConfig: &tls.Config{RootCAs: p.roots}, ForceAttemptHTTP2: h2},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func text(t *testing.T, answer *http.Response, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestTheWorldAnswersForTheTable(t *testing.T) {
	p := run(t, Options{Hosts: []fixtures.Host{{Name: "rpc.example.com", Service: fixtures.ChainService, Network: fixtures.MainnetName, Chain: "70411"}}})
	old := p.newClient(false)
	defer old.CloseIdleConnections()
	for _, c := range []struct {
		client    *http.Client
		url, want string
	}{
		{p.client, "https://api.avax.network/ext/info?a=b", "GET https://api.avax.network/ext/info?a=b 2 "},
		{old, "https://api.avax.network/ext/info", "GET https://api.avax.network/ext/info 1 "},
		{p.client, "http://Data-API.avax.network/v1/chains", "GET http://data-api.avax.network/v1/chains 1 "},
		{p.client, "https://rpc.example.com/", "GET https://rpc.example.com/ 2 "},
		{p.client, "https://metrics.avax.network:8443/v2", "GET https://metrics.avax.network:8443/v2 2 "},
	} {
		answer, err := c.client.Get(c.url)
		if got := text(t, answer, err); got != c.want {
			t.Errorf("%s: %q, not %q", c.url, got, c.want)
		}
	}
	for host, want := range map[string]string{"api.avax.network": "mainnet", "api.avax-test.network": "fuji"} {
		if answer, err := p.client.Get("https://" + host + "/ext/info"); err != nil || answer.Header.Get("Network") != want {
			t.Errorf("%s: %v %v", host, answer, err)
		}
	}
	answer, err := p.client.Post("https://api.avax.network/ext/bc/C/rpc", "application/json", strings.NewReader("body"))
	if got := text(t, answer, err); got != "POST https://api.avax.network/ext/bc/C/rpc 2 body" {
		t.Error(got)
	}
	if answer, err = p.client.Get("https://subnets.avax.network/icefall/tx/0x1"); err != nil || answer.StatusCode != http.StatusFound || answer.Header.Get("Location") != "/sim/explorer/70411/tx/0x1" {
		t.Error(answer, err)
	}
	if answer, err = p.client.Post("https://us.i.posthog.com/capture/", "application/json", strings.NewReader("{}")); text(t, answer, err) != `{"status":1}` {
		t.Error(answer.Status)
	}
	// Clients for which the name already leads here, and requests to the server itself.
	for host, want := range map[string]string{"api.avax.network": "http", "127.0.0.1": "", "example.com": ""} {
		r, _ := http.NewRequest(http.MethodGet, p.url+"/x", nil)
		r.Host = host
		answer, err := http.DefaultTransport.RoundTrip(r)
		if got := text(t, answer, err); got != fmt.Sprintf("GET %s://%s/x 1 ", want, host) {
			t.Errorf("%s: %s", host, got)
		}
	}
	if _, n := p.Refused(); n != 0 || p.Leaked() != nil {
		t.Error(p.Leaked())
	}
}

func TestWebSocketThroughTheProxy(t *testing.T) {
	p := run(t, Options{Hosts: []fixtures.Host{{Name: "rpc.example.com", Service: fixtures.ChainService, Network: fixtures.MainnetName, Chain: "70411"}}})
	at, _ := url.Parse(p.url)
	d := &websocket.Dialer{Proxy: http.ProxyURL(at), TLSClientConfig: &tls.Config{RootCAs: p.roots}}
	for target, want := range map[string]string{
		"wss://api.avax.network/ext/bc/C/ws": "api.avax.network /ext/bc/C/ws hello",
		"ws://api.avax.network/ext/bc/C/ws":  "api.avax.network /ext/bc/C/ws hello",
		"wss://rpc.example.com/":             "rpc.example.com /ext/bc/bIce/ws hello",
	} {
		c, _, err := d.Dial(target, nil)
		if err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		if err := c.WriteMessage(websocket.TextMessage, []byte("hello")); err != nil {
			t.Fatal(err)
		}
		if _, got, err := c.ReadMessage(); err != nil || string(got) != want {
			t.Errorf("%s: %s %v", target, got, err)
		}
		c.Close()
	}
}

// TestRedirectedSockets: on the second address, the client's own bytes say for which host a connection is.
func TestRedirectedSockets(t *testing.T) {
	p := run(t, Options{})
	redirected := func(_ context.Context, network, _ string) (net.Conn, error) { return net.Dial(network, p.direct) }
	c := &http.Client{Transport: &http.Transport{DialContext: redirected, TLSClientConfig: &tls.Config{RootCAs: p.roots}, ForceAttemptHTTP2: true}}
	defer c.CloseIdleConnections()
	for target, want := range map[string]string{
		"https://api.avax.network/a": "GET https://api.avax.network/a 2 ", "http://api.avax.network/a": "GET http://api.avax.network/a 1 ",
	} {
		answer, err := c.Get(target)
		if got := text(t, answer, err); got != want {
			t.Errorf("%s: %s", target, got)
		}
	}
	if _, err := c.Get("https://example.com/"); err == nil {
		t.Error("another name got a certificate")
	}
	if answer, err := c.Get("http://example.com/"); err != nil || answer.StatusCode != http.StatusMisdirectedRequest {
		t.Error(answer, err)
	}
}

// elsewhere is a host outside the table, on this machine.
func elsewhere(t *testing.T, secure bool) (*httptest.Server, string) {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "elsewhere "+r.URL.Path)
		for _, name := range []string{"X-Forwarded-For", "Forwarded"} {
			if v := r.Header.Get(name); v != "" {
				fmt.Fprintf(w, " %s: %s", name, v)
			}
		}
		if r.URL.RawQuery != "" {
			fmt.Fprint(w, " ?"+r.URL.RawQuery)
		}
	})
	s := httptest.NewUnstartedServer(h)
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s, strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
}

func TestOtherHostsPass(t *testing.T) {
	plain, _ := elsewhere(t, false)
	secure, _ := elsewhere(t, true)
	for _, sealed := range []bool{false, true} { // a sealed proxy lets this machine's own servers through
		p := run(t, Options{Sealed: sealed})
		p.roots.AddCert(secure.Certificate())
		for _, s := range []*httptest.Server{plain, secure} {
			answer, err := p.client.Get(s.URL + "/path")
			if got := text(t, answer, err); got != "elsewhere /path" {
				t.Errorf("%s: %s", s.URL, got)
			}
		}
		answer, err := p.client.Get(strings.Replace(plain.URL, "127.0.0.1", "0.0.0.0", 1) + "/path")
		if got := text(t, answer, err); got != "elsewhere /path" {
			t.Errorf("0.0.0.0: %s", got)
		}
		r, _ := http.NewRequest(http.MethodGet, plain.URL+"/path?b=2;c&a=%zz&%20=~", nil)
		r.Header.Set("X-Forwarded-For", "192.0.2.1")
		r.Header.Set("Forwarded", "for=192.0.2.1")
		answer, err = p.client.Do(r)
		if got := text(t, answer, err); got != "elsewhere /path X-Forwarded-For: 192.0.2.1 Forwarded: for=192.0.2.1 ?b=2;c&a=%zz&%20=~" {
			t.Errorf("changed on the way: %s", got)
		}
		if err := p.Leaked(); err != nil {
			t.Error(err)
		}
	}
}

func TestASealedProxyRefuses(t *testing.T) {
	p := run(t, Options{Sealed: true, Allow: []string{"*.allowed.invalid"}})
	for range 2 {
		answer, err := p.client.Get("http://planted.example/prices")
		if got := text(t, answer, err); answer.StatusCode != http.StatusForbidden || !strings.Contains(got, "--allow-host planted.example lets it pass") {
			t.Error(answer.Status, got)
		}
	}
	if _, err := p.client.Get("https://planted.example/prices"); err == nil || !strings.Contains(err.Error(), "Forbidden") {
		t.Error(err)
	}
	if answer, err := p.client.Get("http://metadata.invalid/1.json"); err != nil || answer.StatusCode != http.StatusForbidden {
		t.Error(answer, err)
	}
	if answer, err := p.client.Get("http://a.allowed.invalid/"); err != nil || answer.StatusCode != http.StatusBadGateway { // tried, but not there
		t.Error(answer, err)
	}
	want := "--sealed refused 3 requests to hosts outside the world:\n  2 × GET planted.example:80 by Go-http-client/1.1\n" +
		"  1 × CONNECT planted.example:443 by Go-http-client/1.1\nlet a host pass with --allow-host, or answer for it with --as-host"
	if err := p.Leaked(); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

// TestManyRefusals: an abuser cannot fill the memory.
func TestManyRefusals(t *testing.T) {
	var l refusals
	for i := range 3 * mostRefusals {
		l.add(Refusal{Method: "GET", Host: fmt.Sprint(i)})
	}
	all, n := l.list()
	if len(all) != mostRefusals || n != 3*mostRefusals {
		t.Error(len(all), n)
	}
	if text := (&LeakError{all, n}).Error(); !strings.Contains(text, "2000 × others") {
		t.Error(text[len(text)-200:])
	}
}

// TestOtherMachinesDoNotReachLoopback: the proxy of a server for a room is no way into the machine that serves it.
func TestOtherMachinesDoNotReachLoopback(t *testing.T) {
	_, target := elsewhere(t, false)
	u, _ := url.Parse(target)
	for client, want := range map[string]bool{"127.0.0.1:5": true, "[::1]:5": true, "192.0.2.7:5": false, "": false} {
		c, err := dial(fromClient(t.Context(), client), "tcp", u.Host)
		if (err == nil) != want {
			t.Errorf("from %s: %v", client, err)
		}
		if err == nil {
			c.Close()
		}
	}
}

// TestOtherMachinesGetNoConnectionOfThisOne: a connection that was made for a client on this machine, and waits for its next request, is not for
// others.
func TestOtherMachinesGetNoConnectionOfThisOne(t *testing.T) {
	target, _ := elsewhere(t, false)
	p := run(t, Options{})
	for _, c := range []struct {
		client string
		status int
	}{{"127.0.0.1:5", http.StatusOK}, {"192.0.2.7:5", http.StatusBadGateway}, {"[::1]:5", http.StatusOK}} {
		r := httptest.NewRequest(http.MethodGet, target.URL+"/path", nil)
		r.RemoteAddr = c.client
		w := httptest.NewRecorder()
		p.absolute(w, r, nil)
		if w.Code != c.status {
			t.Errorf("from %s: %d %s", c.client, w.Code, w.Body)
		}
	}
}

// TestTheProxyOfThisProcessIsItself: in a shell that was set up for an earlier run, requests go out directly instead of round in a circle.
func TestTheProxyOfThisProcessIsItself(t *testing.T) {
	plain, _ := elsewhere(t, false)
	secure, _ := elsewhere(t, true)
	p := run(t, Options{})
	p.roots.AddCert(secure.Certificate())
	own, _ := url.Parse(p.url)
	var asked atomic.Int64
	p.Proxy.next = func(*http.Request) (*url.URL, error) {
		if asked.Add(1) > 10 {
			return nil, errors.New("round in a circle")
		}
		return own, nil
	}
	for _, host := range []string{own.Host, "localhost:" + own.Port()} {
		own.Host = host
		for _, s := range []*httptest.Server{plain, secure} {
			answer, err := p.client.Get(s.URL + "/path")
			if got := text(t, answer, err); got != "elsewhere /path" {
				t.Errorf("%s by %s: %s", s.URL, host, got)
			}
		}
	}
}

// TestSchemesOfTheAbsoluteForm: links begin with the scheme, so it is one of HTTP.
func TestSchemesOfTheAbsoluteForm(t *testing.T) {
	p := run(t, Options{Sealed: true})
	for target, want := range map[string]string{
		"http://data-api.avax.network": "GET http://data-api.avax.network/ 1 ", "https://data-api.avax.network/x": "GET https://data-api.avax.network/x 1 ",
		"ws://data-api.avax.network/x": "GET http://data-api.avax.network/x 1 ", "wss://data-api.avax.network/x": "GET https://data-api.avax.network/x 1 ",
		"ftp://data-api.avax.network/x": "400", "javascript://data-api.avax.network/x": "400", "http:///x": "400", "http:x": "400",
		"http://" + strings.Repeat("a", 10_000) + "/x": "400",
	} {
		c, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", target)
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if got := text(t, answer, err); got != want && fmt.Sprint(answer.StatusCode) != want {
			t.Errorf("%s: %s %s", target, answer.Status, got)
		}
		c.Close()
	}
	r := httptest.NewRequest(http.MethodConnect, "http://example.com", nil)
	r.Host = strings.Repeat("a", 10_000) + ":443"
	w := httptest.NewRecorder()
	if p.connect(w, r); w.Code != http.StatusBadRequest || w.Body.Len() > 500 {
		t.Errorf("%d %.500s", w.Code, w.Body)
	}
	if _, n := p.Refused(); n != 0 {
		t.Error(p.Leaked())
	}
}

// TestRefusalsArePrintable: text from a client neither moves the terminal's cursor nor fills it.
func TestRefusalsArePrintable(t *testing.T) {
	var l refusals
	l.add(Refusal{Method: strings.Repeat("M", 1<<20), Host: "a.example:80", Client: "\u009b2Jagent\x1b[2J" + strings.Repeat("é", 1<<20)})
	all, _ := l.list()
	if said := (&LeakError{all, 1}).Error(); len(said) > 1000 || strings.ContainsAny(said, "\u009b\x1b") || !strings.Contains(said, "agent") || !utf8.ValidString(said) {
		t.Errorf("%d bytes: %.500q", len(said), said)
	}
}

// TestThroughAnotherProxy: where this process itself needs a proxy, tunnels go through it.
func TestThroughAnotherProxy(t *testing.T) {
	secure, _ := elsewhere(t, true)
	seen := make(chan string, 9)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Method + " " + r.Host + " " + r.Header.Get("Proxy-Authorization")
		if strings.HasPrefix(r.Host, "forbidden") {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		target, err := net.Dial("tcp", strings.TrimPrefix(secure.URL, "https://"))
		c, _, errs := http.NewResponseController(w).Hijack()
		if err != nil || errs != nil {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
		both(c, target)
	})
	plainOuter, secureOuter := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	defer plainOuter.Close()
	defer secureOuter.Close()
	for _, outer := range []*httptest.Server{plainOuter, secureOuter} {
		p := run(t, Options{})
		at, _ := url.Parse(outer.URL)
		at.User = url.UserPassword("a", "b")
		p.next = func(*http.Request) (*url.URL, error) { return at, nil }
		p.outerRoots = x509.NewCertPool()
		p.outerRoots.AddCert(secureOuter.Certificate())
		p.client.Transport.(*http.Transport).TLSClientConfig.InsecureSkipVerify = true
		answer, err := p.client.Get("https://far.example/path")
		if got := text(t, answer, err); got != "elsewhere /path" {
			t.Error(got)
		}
		if got := <-seen; got != "CONNECT far.example:443 Basic YTpi" {
			t.Error(got)
		}
		if _, err := p.client.Get("https://forbidden.example/"); err == nil || !strings.Contains(err.Error(), "Bad Gateway") {
			t.Error(err)
		}
		<-seen
		p.client.CloseIdleConnections()
		p.next = func(*http.Request) (*url.URL, error) { return &url.URL{Scheme: "socks5", Host: at.Host}, nil }
		if c, err := p.tunnel(t.Context(), strings.TrimPrefix(secure.URL, "https://")); err == nil || !strings.Contains(err.Error(), "does not support CONNECT") {
			t.Error("past the proxy that the user has", c, err)
		}
	}
}

func TestScript(t *testing.T) {
	for _, sealed := range []bool{false, true} {
		p, err := New(Options{Sealed: sealed}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		s := p.Script("127.0.0.1:9650")
		if bytes.Contains(s, []byte(`"127.*"`)) {
			t.Error("127.example.com is an address")
		}
		if !bytes.Contains(s, []byte(`"api.avax.network"`)) || bytes.Contains(s, []byte(`return "DIRECT";`+"\n}")) == sealed || strings.Count(string(s), "PROXY 127.0.0.1:9650") != map[bool]int{false: 1, true: 2}[sealed] {
			t.Errorf("%t: %s", sealed, s)
		}
	}
}

// TestGarbageInATunnel: anything but TLS or HTTP is refused as by a server.
func TestGarbageInATunnel(t *testing.T) {
	p := run(t, Options{})
	c, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "CONNECT api.avax.network:443 HTTP/1.1\r\nHost: api.avax.network:443\r\n\r\n\x00\x01garbage\r\n\r\n")
	r := bufio.NewReader(c)
	if answer, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect}); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
	if answer, err := http.ReadResponse(r, nil); err != nil || answer.StatusCode != http.StatusBadRequest {
		t.Error(answer, err)
	}
}
