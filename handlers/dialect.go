package handlers

import (
	"fmt"
	"net/http"
	"strings"
)

// Mode is how the dialect of an answer is chosen: always the same one, or by who asks.
type Mode string

// ModeAuto answers the upstream dialect to the published SDKs and under the prefix /upstream, and the
// specification's to everyone else. The other modes are the names of the dialects.
const ModeAuto Mode = "auto"

// ParseMode reads the value of the dialect flag.
func ParseMode(text string) (Mode, error) {
	switch m := Mode(text); m {
	case ModeAuto, Mode(Spec), Mode(Upstream):
		return m, nil
	}
	return "", fmt.Errorf("dialect %q is not one of auto, spec, upstream", text)
}

const upstreamPrefix = "/upstream"

// choose finds the dialect for a request; prefixed tells whether it came under /upstream. A mode that names a dialect
// beats every mark of the request.
func (m Mode) choose(r *http.Request, prefixed bool) Dialect {
	if m == Mode(Spec) || m == Mode(Upstream) {
		return Dialect(m)
	}
	h := r.Header
	if prefixed || h["X-Glacier-Api-Key"] != nil || h["X-App-Component"] != nil ||
		strings.HasPrefix(r.UserAgent(), "speakeasy-sdk/") || queryToken(r) != "" {
		return Upstream
	}
	return Spec
}
