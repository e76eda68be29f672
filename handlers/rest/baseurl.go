package rest

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// BaseURL is this server's address as the client reached it, without a slash at the end: what the URLs in an answer
// begin with. It keeps the prefix /upstream, so that following a link keeps the dialect.
func (r *Request) BaseURL() string {
	if r.base == "" {
		r.base = baseURL(r.HTTP, r.prefixed)
	}
	return r.base
}

func baseURL(r *http.Request, prefixed bool) string {
	scheme, host := "http", r.Host
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); host == "" && ok {
		host = local.String() // HTTP/1.0 needs no Host
	}
	if r.TLS != nil {
		scheme = "https"
	}
	if fromOwnProxy(r) {
		scheme = forwarded(r, "X-Forwarded-Proto", scheme)
		host = forwarded(r, "X-Forwarded-Host", host)
	}
	return scheme + "://" + host + basePath(r, prefixed)
}

// basePath is what stands before every path of this server, as the client wrote it.
func basePath(r *http.Request, prefixed bool) (prefix string) {
	if fromOwnProxy(r) {
		prefix = strings.TrimSuffix(forwarded(r, "X-Forwarded-Prefix", ""), "/")
	}
	if prefixed {
		prefix += upstreamPrefix
	}
	return prefix
}

// forwarded is the value that the proxy nearest to the client set, unless it could break out of a URL.
func forwarded(r *http.Request, header, fallback string) string {
	first, _, _ := strings.Cut(r.Header.Get(header), ",")
	first = strings.TrimSpace(first)
	if first == "" || strings.ContainsAny(first, " \"'<>\\?#@") {
		return fallback
	}
	return first
}

// fromOwnProxy reports whether the peer is a proxy whose headers are believed: one on this machine or in a private network.
// Headers of peers elsewhere are ignored, as anyone can send them.
func fromOwnProxy(r *http.Request) bool {
	a, err := netip.ParseAddr(peer(r))
	return err == nil && (a.IsLoopback() || a.IsPrivate())
}

// peer is the address at the other end of the connection, without its port.
func peer(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
