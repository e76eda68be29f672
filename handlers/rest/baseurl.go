package rest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest/schema"
)

// BaseURL returns this server's URL as the client reached it, without a trailing slash; URLs in responses begin with it. It keeps the
// prefix /upstream, so that links stay in the dialect.
func (r *Request) BaseURL() string {
	if r.base == "" {
		r.base = baseURL(r.HTTP, r.prefixed)
	}
	return r.base
}

// BaseURL does the same for a request to a mounted handler, without the prefix /upstream.
func BaseURL(r *http.Request) string { return baseURL(r, false) }

// BasePath returns the path of BaseURL: the client's prefix of every path of this server.
func BasePath(r *http.Request) string { return basePath(r, false) }

func baseURL(r *http.Request, prefixed bool) string {
	scheme, host := "http", r.Host
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && (host == "" || strings.Trim(host, hostLetters) != "") {
		host = local.String() // HTTP/1.0 needs no Host
	}
	if trusted := permit.TrustedHost(r); trusted != "" {
		scheme = trusted // some clients send https: URLs to a proxy as they are
	} else if r.TLS != nil {
		scheme = "https"
	}
	if fromOwnProxy(r) {
		scheme = forwarded(r, "Proto", schemeShape, scheme)
		host = forwarded(r, "Host", hostShape, host)
	}
	return scheme + "://" + host + basePath(r, prefixed)
}

// basePath returns the client's prefix of every path of this server.
func basePath(r *http.Request, prefixed bool) string {
	prefix := rootPath(r) + MountPath(r)
	if prefixed {
		prefix += upstreamPrefix
	}
	return prefix
}

// rootPath returns the prefix that a proxy adds to every path of the process.
func rootPath(r *http.Request) string {
	if !fromOwnProxy(r) {
		return ""
	}
	return strings.TrimSuffix(forwarded(r, "Prefix", prefixShape, ""), "/")
}

// Forwarded reports whether a proxy states how the client reached it.
func Forwarded(r *http.Request) bool {
	return fromOwnProxy(r) && (forwarded(r, "Host", hostShape, "") != "" || rootPath(r) != "")
}

// RootURL returns the base URL of the process, without the path at which this server is mounted.
func RootURL(r *http.Request) string {
	base := baseURL(r, false)
	return strings.TrimSuffix(base, MountPath(r))
}

type mountKey struct{}

// MountPath returns the path at which this server is mounted, empty if it is not.
func MountPath(r *http.Request) string {
	path, _ := r.Context().Value(mountKey{}).(string)
	return path
}

// Below rewrites a request for a server mounted at a path, which the request's path begins with.
func Below(r *http.Request, path string) *http.Request {
	below := withPath(r.WithContext(context.WithValue(r.Context(), mountKey{}, path)), strings.TrimPrefix(r.URL.Path, path))
	if raw, found := strings.CutPrefix(r.URL.RawPath, path); found {
		below.URL.RawPath = raw
	}
	return below
}

// hostLetters lists the characters allowed in a host and port; a Host header with others is not trusted.
const hostLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]"

// The valid values of a proxy's headers about the client's URL. Links in responses begin with them, so nothing else is accepted.
var (
	schemeShape = schema.Shape(`^https?$`)
	hostShape   = schema.Shape(`^([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?$`)
	prefixShape = schema.Shape(`^/([A-Za-z0-9._~-]{1,64}/?){0,8}$`)
)

// ForwardedHeaders lists the headers in which a proxy states how a client reached it.
var ForwardedHeaders = []string{"X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Prefix", forwardedHeader}

// forwardedHeader is RFC 7239's header, which counts if the proxy sets none of the older ones.
const forwardedHeader = "Forwarded"

// forwarded returns the value that the proxy nearest to the client set, unless it is malformed.
func forwarded(r *http.Request, what string, shape func() *regexp.Regexp, fallback string) string {
	first, _, _ := strings.Cut(r.Header.Get("X-Forwarded-"+what), ",")
	if first == "" {
		first = parameter(r.Header.Get(forwardedHeader), what)
	}
	if first = strings.TrimSpace(first); first == "" || len(first) > 512 || !shape().MatchString(first) {
		return fallback
	}
	return first
}

// parameter returns a parameter of the first element of a Forwarded header, such as for=10.0.0.1;host="globe.example:8443";proto=https.
func parameter(header, name string) string {
	element, _, _ := strings.Cut(header, ",")
	for pair := range strings.SplitSeq(element, ";") {
		if key, value, _ := strings.Cut(strings.TrimSpace(pair), "="); strings.EqualFold(key, name) {
			return strings.Trim(value, `"`)
		}
	}
	return ""
}

// fromOwnProxy reports whether the request comes from a trusted proxy: one on this machine or in a private network. Headers of other peers
// are ignored, because anyone can send them.
func fromOwnProxy(r *http.Request) bool {
	if !slices.ContainsFunc(ForwardedHeaders, func(name string) bool { return r.Header[name] != nil }) {
		return false
	}
	a, err := netip.ParseAddr(peer(r))
	return err == nil && (a.IsLoopback() || a.IsPrivate())
}

// peer returns the peer's address without its port.
func peer(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// DialectMode states how to choose a response's dialect: always the same one, or by the client.
type DialectMode string

// DialectAuto serves the upstream dialect to the published SDKs and under the prefix /upstream, and the specification's to everyone else.
// The other modes are the names of the dialects.
const DialectAuto DialectMode = "auto"

// ParseDialectMode reads the value of the dialect flag.
func ParseDialectMode(text string) (DialectMode, error) {
	switch m := DialectMode(text); m {
	case DialectAuto, DialectMode(schema.Spec), DialectMode(schema.Upstream):
		return m, nil
	}
	return "", fmt.Errorf("dialect %q is not one of auto, spec, upstream", text)
}

const upstreamPrefix = "/upstream"

// choose picks the dialect of a request; prefixed reports whether it came under /upstream. A mode that names a dialect overrides everything
// in the request.
func (m DialectMode) choose(r *http.Request, prefixed bool) schema.Dialect {
	if m == DialectMode(schema.Spec) || m == DialectMode(schema.Upstream) {
		return schema.Dialect(m)
	}
	h := r.Header
	if prefixed || h["X-Glacier-Api-Key"] != nil || h["X-App-Component"] != nil ||
		strings.HasPrefix(r.UserAgent(), "speakeasy-sdk/") || queryToken(r) != "" {
		return schema.Upstream
	}
	return schema.Spec
}
