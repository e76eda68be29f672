package rest

import (
	"fmt"
	"net/http"
	"strings"

	"snowglobe/handlers/rest/schema"
)

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
