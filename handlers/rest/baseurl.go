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

	"snowglobe/handlers/rest/schema"
)

// BaseURL is this server's address as the client reached it, without a slash at the end: what the URLs in an answer
// begin with. It keeps the prefix /upstream, so that following a link keeps the dialect.
func (r *Request) BaseURL() string {
	if r.base == "" {
		r.base = baseURL(r.HTTP, r.prefixed)
	}
	return r.base
}

// BaseURL is the same for a request to a mounted handler, without the prefix /upstream.
func BaseURL(r *http.Request) string { return baseURL(r, false) }

// BasePath is the path of BaseURL: what stands before every path of this server, as the client wrote it.
func BasePath(r *http.Request) string { return basePath(r, false) }

func baseURL(r *http.Request, prefixed bool) string {
	scheme, host := "http", r.Host
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && (host == "" || strings.Trim(host, hostLetters) != "") {
		host = local.String() // HTTP/1.0 needs no Host
	}
	if r.TLS != nil {
		scheme = "https"
	}
	if fromOwnProxy(r) {
		scheme = forwarded(r, "Proto", schemeShape, scheme)
		host = forwarded(r, "Host", hostShape, host)
	}
	return scheme + "://" + host + basePath(r, prefixed)
}

// basePath is what stands before every path of this server, as the client wrote it.
func basePath(r *http.Request, prefixed bool) string {
	prefix := rootPath(r) + MountPath(r)
	if prefixed {
		prefix += upstreamPrefix
	}
	return prefix
}

// rootPath is what a proxy has before every path of the process.
func rootPath(r *http.Request) string {
	if !fromOwnProxy(r) {
		return ""
	}
	return strings.TrimSuffix(forwarded(r, "Prefix", prefixShape, ""), "/")
}

// Forwarded says whether a proxy tells how the client reached it.
func Forwarded(r *http.Request) bool {
	return fromOwnProxy(r) && (forwarded(r, "Host", hostShape, "") != "" || rootPath(r) != "")
}

// RootURL is the base URL of the process, whatever path this server answers below.
func RootURL(r *http.Request) string {
	base := baseURL(r, false)
	return strings.TrimSuffix(base, MountPath(r))
}

type mountKey struct{}

// MountPath is the path below which this server answers the request, empty for one that is alone.
func MountPath(r *http.Request) string {
	path, _ := r.Context().Value(mountKey{}).(string)
	return path
}

// Below is a request as a server has it that answers below a path, which the request's own begins with.
func Below(r *http.Request, path string) *http.Request {
	below := withPath(r.WithContext(context.WithValue(r.Context(), mountKey{}, path)), strings.TrimPrefix(r.URL.Path, path))
	if raw, found := strings.CutPrefix(r.URL.RawPath, path); found {
		below.URL.RawPath = raw
	}
	return below
}

// hostLetters are those that a host and its port may have; a Host header is trusted with no others.
const hostLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]"

// What a proxy may say of how a client reached it: links in answers begin with that, so nothing else may be in it.
var (
	schemeShape = schema.Shape(`^https?$`)
	hostShape   = schema.Shape(`^([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?$`)
	prefixShape = schema.Shape(`^/([A-Za-z0-9._~-]{1,64}/?){0,8}$`)
)

// ForwardedHeaders are those in which a proxy tells how a client reached it.
var ForwardedHeaders = []string{"X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Prefix", forwardedHeader}

// forwardedHeader is that of RFC 7239, which counts where a proxy sets none of the older ones.
const forwardedHeader = "Forwarded"

// forwarded is the value that the proxy nearest to the client set, unless it is of another shape.
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

// parameter is a parameter of the first element of a header Forwarded, such as for=10.0.0.1;host="globe.example:8443";proto=https.
func parameter(header, name string) string {
	element, _, _ := strings.Cut(header, ",")
	for pair := range strings.SplitSeq(element, ";") {
		if key, value, _ := strings.Cut(strings.TrimSpace(pair), "="); strings.EqualFold(key, name) {
			return strings.Trim(value, `"`)
		}
	}
	return ""
}

// fromOwnProxy reports whether the request has headers of a proxy that is believed: one on this machine or in a private network.
// Headers of peers elsewhere are ignored, as anyone can send them.
func fromOwnProxy(r *http.Request) bool {
	if !slices.ContainsFunc(ForwardedHeaders, func(name string) bool { return r.Header[name] != nil }) {
		return false
	}
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

// DialectMode is how the dialect of an answer is chosen: always the same one, or by who asks.
type DialectMode string

// DialectAuto answers the upstream dialect to the published SDKs and under the prefix /upstream, and the
// specification's to everyone else. The other modes are the names of the dialects.
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

// choose finds the dialect for a request; prefixed tells whether it came under /upstream. A mode that names a dialect
// beats every mark of the request.
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
