package rest

import (
	"net/http"
	"net/url"
	"strings"
)

// normalizePath takes doubled slashes and slashes at the end out of a path, so that it means the same operation without a
// redirect.
func normalizePath(r *http.Request) *http.Request {
	path := segmented(r.URL)
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	return withPath(r, path)
}

// segmented is a path in which a slash that the client escaped stays escaped: it is part of a segment, not its end.
func segmented(u *url.URL) string {
	if u.RawPath == "" {
		return u.Path
	}
	segments := strings.Split(u.RawPath, "/")
	for i, escaped := range segments {
		text, err := url.PathUnescape(escaped)
		if err != nil {
			return u.Path
		}
		segments[i] = strings.ReplaceAll(text, "/", "%2F")
	}
	return strings.Join(segments, "/")
}

// cutPrefix takes the upstream dialect's prefix off a path and says whether it was there.
func cutPrefix(r *http.Request) (*http.Request, bool) {
	path := "/" + strings.TrimLeft(r.URL.Path, "/")
	rest, ok := strings.CutPrefix(path, upstreamPrefix)
	if !ok || rest != "" && rest[0] != '/' {
		return r, false
	}
	cut := withPath(r, rest)
	if raw, ok := strings.CutPrefix("/"+strings.TrimLeft(r.URL.RawPath, "/"), upstreamPrefix); ok {
		cut.URL.RawPath = raw
	}
	return cut, true
}

func withPath(r *http.Request, path string) *http.Request {
	if path == "" || path[0] != '/' {
		path = "/" + path
	}
	if path == r.URL.Path {
		return r
	}
	c, u := *r, *r.URL
	u.Path, u.RawPath = path, ""
	c.URL = &u
	return &c
}
