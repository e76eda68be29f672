package rest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"snowglobe/handlers/rest/schema"
)

// PageSize returns the maximum number of items on the page.
func (r *Request) PageSize() int { return int(r.Int("pageSize")) }

// Position returns the keyset position after which the page begins; ok is false on the first page.
func (r *Request) Position() ([]byte, bool) { return r.position, r.resumed }

// PositionNumber reads a position that Position made from a number.
func (r *Request) PositionNumber() (uint64, bool) {
	var b [8]byte
	if len(r.position) > len(b) {
		return 0, false
	}
	copy(b[len(b)-len(r.position):], r.position)
	return binary.BigEndian.Uint64(b[:]), r.resumed
}

// Position encodes a number as a keyset position in as few bytes as possible. Numbers below 2^48 give tokens of one UUID; larger ones, and
// positions of several columns, give longer tokens.
func Position(n uint64) []byte {
	b := binary.BigEndian.AppendUint64(nil, n)
	for len(b) > 0 && b[0] == 0 {
		b = b[1:]
	}
	return b
}

// NextPageToken makes the token of the page that begins after a position.
func (r *Request) NextPageToken(position []byte) string {
	return r.server.tokens.Encode(position, r.fingerprint())
}

// ResumeAt decodes a page token, also one in the body, for operations that take it there. The Canonical form of the body must omit the token and
// the page size.
func (r *Request) ResumeAt(token string) (position []byte, err error) {
	if token == "" {
		return nil, nil
	}
	position, problem := r.server.tokens.Decode(token, r.fingerprint())
	if problem != nil {
		return nil, BadRequest(fmt.Sprintf("pageToken %q %s", schema.Shorten(token), problem))
	}
	return position, nil
}

// fingerprint identifies a query by its operation, its parameters' values in canonical form, and its body. It omits the page token and
// size, so that the size may change from page to page, and missing ends of ranges, whose defaults may be valid only beside the other end.
func (r *Request) fingerprint() uint32 {
	b := append(make([]byte, 0, 256), r.op.ID...)
	for i, p := range r.op.params {
		if p.Kind == schema.KindPageToken || p.Kind == schema.KindPageSize || r.values[i] == nil || p.rangeEnd && !r.given[i] {
			continue
		}
		text := r.canonical(p, r.values[i])
		b = append(b, 0)
		b = append(b, p.Name...)
		b = binary.BigEndian.AppendUint32(b, uint32(len(text)))
		b = append(b, text...)
	}
	if r.body != nil {
		text, _ := json.Marshal(canonical(r.body)) // it was just decoded from JSON, so it encodes
		b = append(append(b, 0), text...)
	}
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint32(sum[:])
}

// Canonical is a value or a body with several equivalent forms.
type Canonical interface {
	Canonical() any // returns one of these forms
}

func canonical(value any) any {
	if c, ok := value.(Canonical); ok {
		return c.Canonical()
	}
	return value
}

// canonical returns a parameter's value in one form. The items of a list form a set.
func (r *Request) canonical(p *param, value any) string {
	switch v := value.(type) {
	case []any:
		texts := make([]string, len(v))
		for i := range v {
			texts[i] = r.canonical(p, v[i])
		}
		slices.Sort(texts)
		return strings.Join(slices.Compact(texts), ",")
	case schema.ChainID:
		if r.server.opts.Same != nil {
			value = r.server.opts.Same(v)
		}
	case string:
		if p.Same != nil {
			value = p.Same(v)
		}
	}
	return fmt.Sprint(canonical(value))
}
