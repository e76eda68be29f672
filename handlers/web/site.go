package web

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"snowglobe/handlers/docs"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
)

// policy confines a page to this server: no other host, no inline script, no inline style. NFT pictures may be data: URIs, because browsers
// run nothing in images.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Site serves the pages of one world.
type Site struct {
	api    http.Handler
	log    *slog.Logger
	mux    *http.ServeMux
	permit *permit.Rule

	reference *Reference
	manual    *docs.Manual

	mu    sync.Mutex
	names *directory
}

// Mounts lists the paths at and below which pages are served.
var Mounts = []string{"/", "/assets", "/search", "/tx", "/address", "/block", "/token", "/sim/explorer", "/p", "/x", "/c", "/messages", "/control", "/requests", "/session", "/gas", "/charts", "/docs", "/llms.txt", "/openrpc.json", "/webhooks", "/faucet", "/as-network"}

// New makes a site over a handler that serves all interfaces of a world; a rule decides who may change it.
func New(api http.Handler, manual *docs.Manual, log *slog.Logger, rule *permit.Rule) *Site {
	s := &Site{api: api, manual: manual, log: log, permit: rule, mux: http.NewServeMux()}
	for pattern, show := range s.pages() {
		s.mux.Handle("GET "+pattern, s.page(show))
	}
	s.mux.Handle("GET /search", s.orResults(s.page(search)))
	s.mux.HandleFunc("GET /openrpc.json", s.serveOpenRPC)
	s.mux.HandleFunc("GET /llms.txt", s.serveLLMs)
	s.mux.Handle("GET /docs/{topic}", s.orMarkdown(s.page(topic)))
	s.mux.HandleFunc("GET /docs/methods/{method}", s.serveMethod)
	s.mux.HandleFunc("GET /assets/{version}/{file}", serveAsset)
	return s
}

// pages maps paths to the functions that show them.
func (s *Site) pages() map[string]func(*page) error {
	return map[string]func(*page) error{
		"/{$}":       home,
		"/tx/{hash}": anyTransaction, "/address/{address}": anyAddress, "/block/{block}": anyBlock, "/token/{address}": anyToken,
		"/sim/explorer/{chain}":                        onChain(chain),
		"/sim/explorer/{chain}/tx/{hash}":              onChain(transaction),
		"/sim/explorer/{chain}/block/{block}":          onChain(block),
		"/sim/explorer/{chain}/address/{address}":      onChain(address),
		"/sim/explorer/{chain}/token/{address}":        onChain(token),
		"/sim/explorer/{chain}/token/{address}/{item}": onChain(nft),
		"/p/{network}":              primary(primaryChain),
		"/x/{network}":              primary(primaryChain),
		"/p/{network}/tx/{id}":      primary(primaryTransaction),
		"/x/{network}/tx/{id}":      primary(primaryTransaction),
		"/c/{network}/tx/{id}":      primary(primaryTransaction),
		"/p/{network}/block/{id}":   primary(primaryBlock),
		"/x/{network}/block/{id}":   primary(primaryBlock),
		"/p/{network}/address/{id}": primary(primaryAddress),
		"/x/{network}/address/{id}": primary(primaryAddress),
		"/c/{network}/address/{id}": ownerOnC,
		"/p/{network}/node/{id}":    primary(node),
		"/p/{network}/subnet/{id}":  primary(subnet),
		"/x/{network}/asset/{id}":   primary(assetPage),
		"/control":                  controlBar,
		"/requests":                 requests,
		"/requests/{id}":            request,
		"/session":                  session,
		"/gas":                      gas,
		"/webhooks":                 webhooks,
		"/faucet":                   faucet,
		"/as-network":               hostNames,
		"/docs":                     showReference,
		"/charts":                   charts,
		"/sim/explorer/{chain}/address/{address}/contract": onChain(contract),
		"/messages":           messages,
		"/messages/{message}": message,
	}
}

// ServeHTTP serves a page.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if clean := strings.TrimRight(r.URL.Path, "/"); clean != r.URL.Path && clean != "" {
		http.Redirect(w, r, rest.BasePath(r)+clean, http.StatusFound)
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	if key := r.URL.Query().Get(rest.KeyParameter); key != "" {
		keepKey(w, r, key)
		return
	}
	if _, pattern := s.mux.Handler(r); pattern == "" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		s.page(func(p *page) error { return notFound("there is no page at this address") }).ServeHTTP(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// pageError explains why a page cannot be shown.
type pageError struct {
	status int
	text   string
}

func (e *pageError) Error() string { return e.text }

func notFound(format string, args ...any) error {
	return &pageError{http.StatusNotFound, fmt.Sprintf(format, args...)}
}

// redirectError redirects the browser to another page of this server.
type redirectError struct{ path string }

func (e *redirectError) Error() string { return "see " + e.path }

func (s *Site) page(show func(*page) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := s.newPage(r)
		if err == nil {
			err = show(p)
		}
		switch e := err.(type) {
		case nil:
		case *redirectError:
			http.Redirect(w, r, p.base+e.path, http.StatusFound)
			return
		case *pageError:
			p.status, p.view, p.Title, p.Data = e.status, "error", http.StatusText(e.status), e.text
		default:
			if r.Context().Err() != nil {
				return
			}
			s.log.Error("a page could not be made", "path", r.URL.Path, "error", err)
			p.status, p.view, p.Title, p.Data = http.StatusInternalServerError, "error", "Something failed", "The simulator's log says what."
		}
		s.render(w, r, p)
	})
}

var (
	buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}
	gzips   = sync.Pool{New: func() any { z, _ := gzip.NewWriterLevel(nil, 5); return z }} // a sixth smaller than at best speed; each writer takes 1 MiB
)

// render writes a page, or the part of it that a script asked for.
func (s *Site) render(w http.ResponseWriter, r *http.Request, p *page) {
	b := buffers.Get().(*bytes.Buffer)
	b.Reset()
	defer buffers.Put(b)
	templates, err := parseTemplates()
	if err == nil {
		err = templates.ExecuteTemplate(b, cmp.Or(p.fragment, "layout"), p)
	}
	if err != nil {
		s.log.Error("a page could not be rendered", "path", r.URL.Path, "error", err)
		http.Error(w, "the page could not be rendered; the simulator's log says why", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	send(w, r, p.status, b.Bytes())
}

// send writes a body, compressed if the browser accepts that.
func send(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	h := w.Header()
	h.Set("Vary", "Accept-Encoding, HX-Request")
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.WriteHeader(status)
		_, _ = w.Write(body) // the browser may be gone
		return
	}
	h.Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	z := gzips.Get().(*gzip.Writer)
	defer gzips.Put(z)
	z.Reset(w)
	_, _ = z.Write(body)
	_ = z.Close()
	z.Reset(nil)
}

// ask sends a request to the server's own handler. It carries the visitor's address, host and API key, so that pages show nothing that the
// interfaces would refuse.
func (s *Site) ask(ctx context.Context, from *http.Request, c *Call) (int, []byte) {
	r, err := http.NewRequestWithContext(rest.Inside(ctx), c.Method, c.Path, strings.NewReader(c.Body))
	if err != nil {
		return http.StatusBadRequest, []byte(`{"message":"this request is not possible"}`)
	}
	r.RemoteAddr, r.Host, r.TLS, r.RequestURI = from.RemoteAddr, from.Host, from.TLS, c.Path
	for _, name := range rest.ForwardedHeaders {
		if v := from.Header[name]; v != nil {
			r.Header[name] = v
		}
	}
	if c.Body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if key := keyOf(from); key != "" {
		r.Header.Set("X-Service-Api-Key", key)
	}
	w := rest.NewRecorder()
	s.api.ServeHTTP(w, r)
	return w.Status, w.Body.Bytes()
}

// keyOf returns the visitor's API key: from the headers that programs send, or from keepKey's cookie.
func keyOf(r *http.Request) string {
	if key := rest.KeyOf(r); key != "" {
		return key
	}
	if cookie, err := r.Cookie(rest.KeyParameter); err == nil {
		key, _ := url.QueryUnescape(cookie.Value) // only keepKey's value is a key
		return key
	}
	return ""
}

// keepKey stores an API key from the query in a cookie, and redirects to the same page without the key in its URL. Only pages read the
// cookie.
func keepKey(w http.ResponseWriter, r *http.Request, key string) {
	base := rest.BasePath(r)
	http.SetCookie(w, &http.Cookie{Name: rest.KeyParameter, Value: url.QueryEscape(key), Path: base + "/", HttpOnly: true,
		Secure: strings.HasPrefix(rest.BaseURL(r), "https:"), SameSite: http.SameSiteLaxMode})
	query := r.URL.Query()
	query.Del(rest.KeyParameter)
	target := url.URL{Path: base + "/" + strings.TrimLeft(r.URL.Path, "/"), RawQuery: query.Encode()}
	http.Redirect(w, r, target.String(), http.StatusFound)
}
