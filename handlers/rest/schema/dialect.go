package schema

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Dialect is one of the two renderings of the same rows: the specification's, or the one that the published SDKs accept. Operations state
// which statuses differ; this file states which values differ.
type Dialect string

// The dialects.
const (
	Spec     Dialect = "spec"
	Upstream Dialect = "upstream"
)

// Decimal is a price's value: a string in the specification's dialect, a number upstream. Making one requires a dialect, so no handler can
// forget it.
type Decimal struct {
	text string
	bare bool
}

// Decimal makes a price's value from a decimal literal.
func (d Dialect) Decimal(text string) Decimal { return Decimal{text: text, bare: d == Upstream} }

// isMoney reports whether a text is a decimal literal, ^-?(0|[1-9][0-9]*)(\.[0-9]+)?$. Its length is unlimited: the value of a 256-bit
// balance may exceed what a parameter can express. A list has two for each token, and a regular expression takes ten times as long.
func isMoney(text string) bool {
	whole, part, fraction := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	return areDigits(whole) && (whole == "0" || whole[0] != '0') && (!fraction || areDigits(part))
}

func areDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

// MarshalJSON writes the literal with or without quotes.
func (v Decimal) MarshalJSON() ([]byte, error) {
	if !isMoney(v.text) {
		return nil, fmt.Errorf("decimal %q is not a number", v.text)
	}
	if v.bare {
		return []byte(v.text), nil
	}
	return []byte(`"` + v.text + `"`), nil
}

// Schema returns the dialect's schema.
func (Decimal) Schema(d *Schemas) *Schema {
	if d.Dialect == Upstream {
		return &Schema{Type: "number"}
	}
	return &Schema{Type: "string", Pattern: formats["decimal"]}
}

// IndexStatus is the status of an NFT's metadata: lower case in the specification's dialect, upper case upstream.
type IndexStatus struct{ text string }

// IndexStatuses lists the states of an NFT's metadata under their upstream names.
var IndexStatuses = strings.Fields("UNKNOWN MISSING_TOKEN INVALID_TOKEN_URI INVALID_TOKEN_URI_SCHEME UNREACHABLE_TOKEN_URI " +
	"THROTTLED_TOKEN_URI METADATA_CONTENT_TOO_LARGE INVALID_METADATA INVALID_METADATA_JSON INDEXED UNINDEXED")

// IndexStatus makes a status from its upstream name.
func (d Dialect) IndexStatus(name string) IndexStatus { return IndexStatus{d.caseOf(name)} }

func (d Dialect) caseOf(name string) string {
	if d == Upstream {
		return strings.ToUpper(name)
	}
	return strings.ToLower(name)
}

func (s IndexStatus) MarshalJSON() ([]byte, error) { return json.Marshal(s.text) }

// Schema lists the states in the dialect's form.
func (IndexStatus) Schema(d *Schemas) *Schema {
	s := &Schema{Type: "string"}
	for _, name := range IndexStatuses {
		s.Enum = append(s.Enum, d.Dialect.caseOf(name))
	}
	return s
}
