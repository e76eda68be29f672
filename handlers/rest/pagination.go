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

// PageSize is how many items the page may hold.
func (r *Request) PageSize() int { return int(r.Int("pageSize")) }

// Position is where the page begins: after the row with this keyset position. It is false on the first page.
func (r *Request) Position() ([]byte, bool) { return r.position, r.resumed }

// PositionNumber is a position that was made by Position from a number.
func (r *Request) PositionNumber() (uint64, bool) {
	var b [8]byte
	if len(r.position) > len(b) {
		return 0, false
	}
	copy(b[len(b)-len(r.position):], r.position)
	return binary.BigEndian.Uint64(b[:]), r.resumed
}

// Position writes a number as a keyset position in as few bytes as it needs. Numbers below 2^48 give tokens that are
// one UUID; larger ones, and positions of several columns, give longer tokens.
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

// ResumeAt opens a page token that came in the body, for operations that take it there. A body without the token and the page's
// size must be its Canonical form.
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

// resume opens the request's page token, if it has one. The problem it returns is empty if all is well.
func (r *Request) resume() (problem string) {
	token := r.Text("pageToken")
	if !r.op.pager || token == "" {
		return ""
	}
	position, err := r.server.tokens.Decode(token, r.fingerprint())
	if err != nil {
		return fmt.Sprintf("pageToken %q %s", schema.Shorten(token), err)
	}
	r.position, r.resumed = position, true
	return ""
}

// fingerprint tells one query from another: by the operation, its parameters' values however they were written, and
// its body. The page's token and size are left out, so the size may change from page to page; and ends of ranges that are
// not given, as their defaults may hold only beside the other end.
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
		text, _ := json.Marshal(canonical(r.body)) // it was decoded from JSON a moment ago, so it can be encoded
		b = append(append(b, 0), text...)
	}
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint32(sum[:])
}

// Canonical is a value or a body that can be written in several ways which ask for the same.
type Canonical interface {
	Canonical() any // in one of the ways
}

func canonical(value any) any {
	if c, ok := value.(Canonical); ok {
		return c.Canonical()
	}
	return value
}

// canonical is a parameter's value in one way to write it. The items of a list are a set.
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
