package rest

import (
	"context"
	"net/http"
	"strings"
)

// corePrefixes lists the paths at which Core's proxy forwards to the Data API: its modules call {proxy}/proxy/glacier/v1/…, its services
// {proxy}/v1/proxy/glacier/v1/….
var corePrefixes = []string{"/proxy/glacier", "/v1/proxy/glacier"}

// Headers with which Core's clients identify themselves to that proxy: a key, or a token that says which application they are.
const (
	coreKeyHeader  = "X-Core-Api-Key"
	appCheckHeader = "X-Firebase-Appcheck"
)

type coreKey struct{}

// cutCore removes the path of Core's proxy from a request and reports whether it was there.
func cutCore(r *http.Request) (*http.Request, bool) {
	for _, prefix := range corePrefixes {
		rest, found := strings.CutPrefix(r.URL.Path, prefix)
		if !found || rest == "" || rest[0] != '/' {
			continue
		}
		cut := withPath(r.WithContext(context.WithValue(r.Context(), coreKey{}, true)), rest)
		if raw, found := strings.CutPrefix(r.URL.RawPath, prefix); found {
			cut.URL.RawPath = raw
		}
		return cut, true
	}
	return r, false
}

// vouched reports whether Core's proxy would add its own API key to a request: it does for an application that proves itself.
func vouched(r *http.Request) bool {
	return r.Context().Value(coreKey{}) != nil && r.Header.Get(appCheckHeader) != ""
}
