package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Dialect is one of the two forms in which the same rows are rendered: that of the specification, or that which the
// published SDKs accept. The statuses that differ stand in the operations; the values that differ stand here.
type Dialect string

// The dialects.
const (
	Spec     Dialect = "spec"
	Upstream Dialect = "upstream"
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

// Decimal is the value of a price: a string in the specification's dialect, a number upstream. It can only be made
// for a dialect, so no handler can forget it.
type Decimal struct {
	text string
	bare bool
}

// Decimal makes a price's value of a decimal literal.
func (d Dialect) Decimal(text string) Decimal { return Decimal{text: text, bare: d == Upstream} }

// MarshalJSON writes the literal with or without quotes.
func (v Decimal) MarshalJSON() ([]byte, error) {
	if !decimal.MatchString(v.text) {
		return nil, fmt.Errorf("decimal %q is not a number", v.text)
	}
	if v.bare {
		return []byte(v.text), nil
	}
	return []byte(`"` + v.text + `"`), nil
}

// Schema is that of the dialect.
func (Decimal) Schema(d *Schemas) *Schema {
	if d.Dialect == Upstream {
		return &Schema{Type: "number"}
	}
	return &Schema{Type: "string", Pattern: formats["decimal"]}
}

// IndexStatus is the status of an NFT's metadata: lower case in the specification's dialect, upper case upstream.
type IndexStatus struct{ text string }

// IndexStatuses are the states of an NFT's metadata as the upstream dialect names them.
var IndexStatuses = strings.Fields("UNKNOWN MISSING_TOKEN INVALID_TOKEN_URI INVALID_TOKEN_URI_SCHEME UNREACHABLE_TOKEN_URI " +
	"THROTTLED_TOKEN_URI METADATA_CONTENT_TOO_LARGE INVALID_METADATA INVALID_METADATA_JSON INDEXED UNINDEXED")

// IndexStatus makes a status of its upstream name.
func (d Dialect) IndexStatus(name string) IndexStatus { return IndexStatus{d.caseOf(name)} }

func (d Dialect) caseOf(name string) string {
	if d == Upstream {
		return strings.ToUpper(name)
	}
	return strings.ToLower(name)
}

// MarshalJSON writes the status.
func (s IndexStatus) MarshalJSON() ([]byte, error) { return json.Marshal(s.text) }

// Schema lists the states as the dialect writes them.
func (IndexStatus) Schema(d *Schemas) *Schema {
	s := &Schema{Type: "string"}
	for _, name := range IndexStatuses {
		s.Enum = append(s.Enum, d.Dialect.caseOf(name))
	}
	return s
}
