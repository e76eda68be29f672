package data

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"sync/atomic"

	"snowglobe/handlers/rest/schema"
)

// Marshal writes a value as answers are written, without escaping for HTML.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.Clone(bytes.TrimRight(b.Bytes(), "\n")), err // much of it is kept: the buffer has room for up to twice as much
}

// JSONPage is a page whose items are written already, under a name, with what else the page says.
type JSONPage struct {
	Next, Name string
	Items      []RawJSON
	More       map[string]any
}

// RawJSON is JSON.
type RawJSON []byte

// WriteJSON writes it as it is.
func (w RawJSON) WriteJSON(b *bytes.Buffer) error {
	_, err := b.Write(w)
	return err
}

// WriteJSON writes the page: its token first, if it has one.
func (s *JSONPage) WriteJSON(b *bytes.Buffer) error {
	size := 0
	for _, item := range s.Items {
		size += len(item) + 1
	}
	b.Grow(size)
	b.WriteByte('{')
	if s.Next != "" {
		b.WriteString(`"nextPageToken":"` + s.Next + `",`)
	}
	b.WriteString(`"` + s.Name + `":[`)
	for i, item := range s.Items {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(item)
	}
	b.WriteByte(']')
	for _, name := range slices.Sorted(maps.Keys(s.More)) {
		text, err := Marshal(s.More[name])
		if err != nil {
			return err
		}
		b.WriteString(`,"` + name + `":`)
		b.Write(text)
	}
	b.WriteByte('}')
	return nil
}

// CachedJSON is JSON that is written once. Two requests that write it at the same time write the same.
type CachedJSON struct{ text atomic.Pointer[RawJSON] }

func (c *CachedJSON) Once(shape func() any) (RawJSON, error) {
	if text := c.text.Load(); text != nil {
		return *text, nil
	}
	raw, err := Marshal(shape())
	text := RawJSON(raw)
	if err == nil {
		c.text.Store(&text)
	}
	return text, err
}

// Either is the schema of a value that has one of several types.
func Either(d *schema.Schemas, types ...reflect.Type) *schema.Schema {
	s := &schema.Schema{}
	for _, t := range types {
		s.AnyOf = append(s.AnyOf, d.Of(t))
	}
	return s
}
