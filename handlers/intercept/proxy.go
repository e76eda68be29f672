package intercept

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"snowglobe/fixtures"
	"snowglobe/handlers/permit"
)

// Options are the user's choices.
type Options struct {
	Sealed bool            // refuse other hosts
	Allow  []string        // hosts that pass nevertheless
	Hosts  []fixtures.Host // besides the table
}

const (
	dialTimeout = 30 * time.Second
	firstByte   = 10 * time.Second // for a client to begin inside a tunnel
	mostDropped = 16 << 20         // bytes of a report that is dropped
	longestHost = 300              // bytes of a name (RFC 1035: 253) with brackets and a port
)

// Proxy answers for the hosts of its table, and passes on or refuses requests for all others.
type Proxy struct {
	options    Options
	hosts      []fixtures.Host
	authority  *authority
	chains     atomic.Pointer[[]Chain]
	refused    refusals
	accepted   *acceptor
	forward    forwarder                             // for clients on this machine
	outside    forwarder                             // for others, with connections of its own: one that was made for this machine is no way in
	next       func(*http.Request) (*url.URL, error) // the proxy of this process itself
	outerRoots *x509.CertPool                        // for that one, nil for the system's
	inside     http.Handler                          // answers what comes through a tunnel
	log        *slog.Logger
}

// New makes a proxy with keys of its own.
func New(o Options, log *slog.Logger) (*Proxy, error) {
	p := &Proxy{options: o, hosts: slices.Concat(o.Hosts, remaining(o)), next: http.ProxyFromEnvironment, log: log,
		accepted: &acceptor{waiting: make(chan net.Conn), closed: make(chan struct{})}}
	p.chains.Store(&[]Chain{})
	var err error
	if p.authority, err = newAuthority(p.Names()); err != nil {
		return nil, fmt.Errorf("certificates of --as-network: %w", err)
	}
	p.forward, p.outside = p.newForwarder(), p.newForwarder()
	return p, nil
}

// remaining returns the table without the hosts that --allow-host lets pass and those for which --as-host says something else.
func remaining(o Options) []fixtures.Host {
	return slices.DeleteFunc(slices.Clone(fixtures.Hosts), func(h fixtures.Host) bool {
		return allowed(o.Allow, h.Name) || slices.ContainsFunc(o.Hosts, func(own fixtures.Host) bool { return own.Name == h.Name })
	})
}

// Names lists the hosts that the world answers for.
func (p *Proxy) Names() (names []string) {
	for _, h := range p.hosts {
		if !slices.Contains(names, h.Name) {
			names = append(names, h.Name)
		}
	}
	return names
}

// Hosts lists them with what each serves.
func (p *Proxy) Hosts() []fixtures.Host { return p.hosts }

// Sealed reports whether other hosts are refused.
func (p *Proxy) Sealed() bool { return p.options.Sealed }

// SetChains tells the proxy of the world's EVM chains.
func (p *Proxy) SetChains(chains []Chain) error {
	p.chains.Store(&chains)
	return checkChains(p.options.Hosts, chains)
}

// Refused lists what a sealed proxy has refused, and how many requests that were.
func (p *Proxy) Refused() ([]Refusal, int) { return p.refused.list() }

// Leaked returns an error that lists what a sealed proxy has refused, nil for nothing.
func (p *Proxy) Leaked() error {
	if all, n := p.refused.list(); n > 0 {
		return &LeakError{all, n}
	}
	return nil
}

// Certificate returns the authority's certificate as PEM, for a browser profile or a simulated phone.
func (p *Proxy) Certificate() ([]byte, error) { return p.authority.pem() }

// ChromiumFlags returns the flags with which Chromium uses the proxy at a URL and accepts its certificates, by their key.
func (p *Proxy) ChromiumFlags(proxyURL string) []string {
	flags := []string{"--proxy-server=" + proxyURL, "--ignore-certificate-errors-spki-list=" + p.authority.fingerprint}
	if p.options.Sealed { // the browser's own services are nowhere, rather than refused and listed
		flags = append(flags, "--gaia-url="+nothing, "--component-updater=url-source="+nothing)
	}
	return flags
}

// nothing is an address at which nothing listens (RFC 1078).
const nothing = "http://127.0.0.1:1"

// host returns the table's entry for a name.
func (p *Proxy) host(name string) *fixtures.Host {
	for i := range p.hosts {
		if p.hosts[i].Name == name {
			return &p.hosts[i]
		}
	}
	return nil
}

// Handler puts the proxy before the handler of a world; on returns it for paths that name no network. Decrypted requests arrive at
// [Proxy.Tunnels], for [Proxy.Inside].
func (p *Proxy) Handler(world http.Handler, on func(network string) http.Handler) http.Handler {
	p.inside = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _ := split(r.Host, "")
		h := p.host(name)
		if h == nil {
			http.Error(w, fmt.Sprintf("this connection is for a host other than %.200q", r.Host), http.StatusMisdirectedRequest)
			return
		}
		p.answer(w, r, h, on)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodConnect:
			p.connect(w, r)
		case r.URL.IsAbs():
			p.absolute(w, r, on)
		default:
			name, _ := split(r.Host, "")
			if h := p.host(name); h != nil { // of a client for which the name leads here, as in a container's network
				p.answer(w, r, h, on)
				return
			}
			world.ServeHTTP(w, r)
		}
	})
}

// answer lets the world answer a request for a host of the table.
func (p *Proxy) answer(w http.ResponseWriter, r *http.Request, h *fixtures.Host, on func(network string) http.Handler) {
	if h.Service == fixtures.SinkService {
		drop(w, r)
		return
	}
	to := resolve(h, *p.chains.Load(), r)
	if to.redirect {
		http.Redirect(w, r, (&url.URL{Path: to.path, RawQuery: r.URL.RawQuery}).String(), http.StatusFound)
		return
	}
	// The host without its default port, as it stands in links.
	name, port := split(r.Host, "")
	u := *r.URL
	scheme := cmp.Or(u.Scheme, "http")
	if r.TLS != nil {
		scheme = "https"
	}
	u.Scheme, u.Host = "", ""
	as := r.WithContext(permit.TrustHost(r.Context(), scheme))
	as.RequestURI = u.RequestURI()
	if to.path != u.Path {
		u.Path, u.RawPath = to.path, ""
	}
	as.URL, as.Host = &u, name
	if port != "" && !(scheme == "https" && port == "443") && !(scheme == "http" && port == "80") {
		as.Host = net.JoinHostPort(name, port)
	}
	on(h.Network).ServeHTTP(w, as)
}

// drop takes a report that nobody wants, from pages of any origin.
func drop(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Allow-Headers", "*")
	h.Set("Content-Type", "application/json")
	_, _ = io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, mostDropped)) // what is longer ends the connection
	_, _ = io.WriteString(w, `{"status":1}`)                                // the client may be gone
}

// schemeOf returns the scheme of HTTP and the default port for that of a URL, "" for a scheme that is neither HTTP's nor WebSocket's.
func schemeOf(scheme string) (of, port string) {
	switch scheme {
	case "http", "ws":
		return "http", "80"
	case "https", "wss":
		return "https", "443"
	}
	return "", ""
}

// absolute answers or forwards a request in the absolute form.
func (p *Proxy) absolute(w http.ResponseWriter, r *http.Request, on func(network string) http.Handler) {
	scheme, port := schemeOf(r.URL.Scheme)
	if scheme == "" || r.URL.Host == "" || len(r.URL.Host) > longestHost {
		http.Error(w, fmt.Sprintf("this proxy takes http, https, ws and wss URLs with a host, not %.200q", r.URL), http.StatusBadRequest)
		return
	}
	u := *r.URL
	if u.Scheme = scheme; u.Path == "" {
		u.Path = "/"
	}
	r = r.WithContext(r.Context())
	r.URL = &u
	name, port := split(u.Host, port)
	if h := p.host(name); h != nil {
		r.Header.Del("Proxy-Connection")
		r.Header.Del("Proxy-Authorization")
		p.answer(w, r, h, on)
		return
	}
	if p.refuse(w, r, name, port) {
		return
	}
	to := p.outside
	if local(r.RemoteAddr) {
		to = p.forward
	}
	to.ServeHTTP(w, r.WithContext(fromClient(r.Context(), r.RemoteAddr)))
}

// nowhere ends names that no host has (RFC 2606, section 2). The metadata of some NFTs of every world is there, so that reading it fails.
const nowhere = ".invalid"

// refuse refuses a request for a host outside the table, if the proxy is sealed.
func (p *Proxy) refuse(w http.ResponseWriter, r *http.Request, name, port string) bool {
	if !p.options.Sealed || loopback(name) || allowed(p.options.Allow, name) {
		return false
	}
	if !strings.HasSuffix(name, nowhere) {
		p.refused.add(Refusal{Method: r.Method, Host: net.JoinHostPort(name, port), Client: r.UserAgent()})
	}
	http.Error(w, fmt.Sprintf("snowglobe --sealed refuses %.200s, which is outside this world; --allow-host %[1]s lets it pass", name), http.StatusForbidden)
	return true
}

// connect opens a tunnel: into this server for a host of the table, to the host itself otherwise.
func (p *Proxy) connect(w http.ResponseWriter, r *http.Request) {
	name, port := split(r.Host, "443")
	if len(name) > longestHost {
		http.Error(w, fmt.Sprintf("%.200q… is longer than any host name", name), http.StatusBadRequest)
		return
	}
	known := p.host(name) != nil
	if !known && p.refuse(w, r, name, port) {
		return
	}
	var target net.Conn
	if !known {
		var err error
		if target, err = p.tunnel(fromClient(r.Context(), r.RemoteAddr), net.JoinHostPort(name, port)); err != nil {
			http.Error(w, fmt.Sprintf("%s cannot be reached: %v", name, err), http.StatusBadGateway)
			return
		}
	}
	c, buffered, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = c.SetDeadline(time.Time{}) // each end of a tunnel has its own
		_, err = io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n")
	}
	switch {
	case err != nil && target != nil:
		_ = target.Close()
	case err != nil: // the client has gone
	case known:
		p.take(readAhead{c, buffered.Reader}, name)
	default:
		go both(readAhead{c, buffered.Reader}, target)
	}
}

// forwarder passes requests on to other hosts.
type forwarder = *httputil.ReverseProxy

// changedByForwarders lists what httputil removes from requests, and this proxy does not.
var changedByForwarders = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"}

func (p *Proxy) newForwarder() forwarder {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { // the request names its target itself, and arrives as it was
			r.Out.URL.RawQuery = r.In.URL.RawQuery
			for _, name := range changedByForwarders {
				if values, set := r.In.Header[name]; set {
					r.Out.Header[name] = values
				}
			}
		},
		Transport: &http.Transport{Proxy: p.beyond, DialContext: dial, ForceAttemptHTTP2: true, DisableCompression: true, IdleConnTimeout: dialTimeout},
		ErrorLog:  slog.NewLogLogger(p.log.Handler(), slog.LevelDebug), FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			http.Error(w, fmt.Sprintf("%s cannot be reached: %v", r.URL.Host, err), http.StatusBadGateway)
		},
	}
}

// beyond returns the proxy that this process's own environment names for a request, unless it is this one, as in a shell that was set up for
// an earlier run: requests would go round in a circle.
func (p *Proxy) beyond(r *http.Request) (*url.URL, error) {
	next, err := p.next(r)
	if err != nil || next == nil {
		return nil, err
	}
	_, port := schemeOf(next.Scheme)
	host, port := split(next.Host, port)
	own, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if ok && port == strconv.Itoa(own.Port) && (loopback(host) || host == own.AddrPort().Addr().Unmap().String()) {
		return nil, nil
	}
	return next, nil
}

// Tunnels returns the connections inside the proxy, decrypted as they are read, for an HTTP server.
func (p *Proxy) Tunnels() net.Listener { return p.accepted }

// Inside returns the handler of requests on these connections. It is valid after Handler.
func (p *Proxy) Inside() http.Handler { return p.inside }

// Direct takes connections that clients believe to be to hosts of the table, until the listener closes.
func (p *Proxy) Direct(l net.Listener) error {
	for {
		c, err := l.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
		go p.take(readAhead{c, bufio.NewReader(c)}, "")
	}
}

// record is the first byte of a TLS connection: the type of a handshake record (RFC 8446, section 5.1).
const record = 22

// take serves a connection for a host, or for the one that the client names in TLS.
func (p *Proxy) take(c readAhead, host string) {
	_ = c.SetReadDeadline(time.Now().Add(firstByte)) // a failure shows at the next step
	first, err := c.ahead.Peek(1)
	_ = c.SetReadDeadline(time.Time{})
	switch {
	case err != nil:
		_ = c.Close()
	case first[0] == record:
		p.accepted.add(tls.Server(c, &tls.Config{
			MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
			GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
				return p.authority.leaf(cmp.Or(normal(hello.ServerName), host))
			},
		}))
	default:
		p.accepted.add(c)
	}
}

// readAhead is a connection of which a part has been read.
type readAhead struct {
	net.Conn
	ahead *bufio.Reader
}

func (c readAhead) Read(b []byte) (int, error) { return c.ahead.Read(b) }

// SetLinger lets a fault reset the connection.
func (c readAhead) SetLinger(seconds int) error {
	if tcp, ok := c.Conn.(interface{ SetLinger(int) error }); ok {
		return tcp.SetLinger(seconds)
	}
	return nil
}

// acceptor is a listener of connections that come through the proxy.
type acceptor struct {
	waiting chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func (a *acceptor) add(c net.Conn) {
	select {
	case a.waiting <- c:
	case <-a.closed:
		_ = c.Close()
	}
}

func (a *acceptor) Accept() (net.Conn, error) {
	select {
	case c := <-a.waiting:
		return c, nil
	case <-a.closed:
		return nil, net.ErrClosed
	}
}

func (a *acceptor) Close() error {
	a.once.Do(func() { close(a.closed) })
	return nil
}

// Addr names the listener in errors; nothing connects to it.
func (a *acceptor) Addr() net.Addr { return &net.UnixAddr{Name: "tunnel", Net: "tunnel"} }

type clientKey struct{}

// fromClient notes who asks, for dial.
func fromClient(ctx context.Context, address string) context.Context {
	return context.WithValue(ctx, clientKey{}, address)
}

// dial connects to a host outside the table. A client on another machine must not reach this one's loopback addresses through the proxy.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout}
	if client, _ := ctx.Value(clientKey{}).(string); !local(client) {
		d.Control = func(_, address string, _ syscall.RawConn) error {
			if at, err := netip.ParseAddrPort(address); err != nil || at.Addr().Unmap().IsLoopback() || at.Addr().IsUnspecified() {
				return errors.New("it is the machine of the proxy itself")
			}
			return nil
		}
	}
	return d.DialContext(ctx, network, address)
}

// local reports whether a client's address is of this machine.
func local(client string) bool {
	from, err := netip.ParseAddrPort(client)
	return err == nil && from.Addr().Unmap().IsLoopback()
}

// tunnel connects to an address, through the proxy that this process's own environment names, if any.
func (p *Proxy) tunnel(ctx context.Context, address string) (net.Conn, error) {
	next, err := p.beyond((&http.Request{URL: &url.URL{Scheme: "https", Host: address}}).WithContext(ctx))
	if err != nil {
		return nil, err
	}
	if next == nil {
		return dial(ctx, "tcp", address)
	}
	scheme, port := schemeOf(next.Scheme)
	if scheme == "" {
		return nil, fmt.Errorf("the proxy %s://%s does not support CONNECT; set HTTPS_PROXY to an http or https proxy", next.Scheme, next.Host)
	}
	host, port := split(next.Host, port)
	c, err := dial(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, err
	}
	if scheme == "https" {
		c = tls.Client(c, &tls.Config{ServerName: host, RootCAs: p.outerRoots})
	}
	ask := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{}}
	if next.User != nil {
		password, _ := next.User.Password()
		ask.SetBasicAuth(next.User.Username(), password)
		ask.Header["Proxy-Authorization"] = ask.Header["Authorization"]
		ask.Header.Del("Authorization")
	}
	_ = c.SetDeadline(time.Now().Add(dialTimeout)) // a failure shows at the next step
	reader := bufio.NewReader(c)
	var answer *http.Response
	if err = ask.Write(c); err == nil {
		answer, err = http.ReadResponse(reader, ask)
	}
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("the proxy %s answers %s", next.Host, answer.Status)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return readAhead{c, reader}, c.SetDeadline(time.Time{})
}

// both copies between two connections until both directions have ended.
func both(a, b net.Conn) {
	var all sync.WaitGroup
	copied := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // a broken tunnel shows at its ends
		if half, ok := underlying(to).(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		} else {
			_ = to.Close()
		}
	}
	all.Go(func() { copied(a, b) })
	copied(b, a)
	all.Wait()
	_ = a.Close()
	_ = b.Close()
}

func underlying(c net.Conn) net.Conn {
	if r, ok := c.(readAhead); ok {
		return r.Conn
	}
	return c
}
