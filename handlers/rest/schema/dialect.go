package schema

import (
	"encoding/json"
	"fmt"
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

// Decimal is the value of a price: a string in the specification's dialect, a number upstream. It can only be made
// for a dialect, so no handler can forget it.
type Decimal struct {
	text string
	bare bool
}

// Decimal makes a price's value of a decimal literal.
func (d Dialect) Decimal(text string) Decimal { return Decimal{text: text, bare: d == Upstream} }

// isMoney says whether a text is a decimal literal, ^-?(0|[1-9][0-9]*)(\.[0-9]+)?$. It has as many digits as it takes: a balance of 256 bits
// may be worth more than a parameter can say. A list has two for each token: an expression takes ten times as long.
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
