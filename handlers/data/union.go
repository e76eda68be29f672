package data

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"sync/atomic"

	"snowglobe/handlers"
)

// marshal writes a value as answers are written, without escaping for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// jsonPage is a page whose items are written already, under a name, with what else the page says.
type jsonPage struct {
	next, name string
	items      []rawJSON
	more       map[string]any
}

// rawJSON is JSON.
type rawJSON []byte

// WriteJSON writes it as it is.
func (w rawJSON) WriteJSON(b *bytes.Buffer) error {
	_, err := b.Write(w)
	return err
}

// WriteJSON writes the page: its token first, if it has one.
func (s *jsonPage) WriteJSON(b *bytes.Buffer) error {
	b.WriteByte('{')
	if s.next != "" {
		b.WriteString(`"nextPageToken":"` + s.next + `",`)
	}
	b.WriteString(`"` + s.name + `":[`)
	for i, item := range s.items {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(item)
	}
	b.WriteByte(']')
	for _, name := range slices.Sorted(maps.Keys(s.more)) {
		text, err := marshal(s.more[name])
		if err != nil {
			return err
		}
		b.WriteString(`,"` + name + `":`)
		b.Write(text)
	}
	b.WriteByte('}')
	return nil
}

// cachedJSON is JSON that is written once. Two requests that write it at the same time write the same.
type cachedJSON struct{ text atomic.Pointer[rawJSON] }

func (c *cachedJSON) once(shape func() any) (rawJSON, error) {
	if text := c.text.Load(); text != nil {
		return *text, nil
	}
	raw, err := marshal(shape())
	text := rawJSON(raw)
	if err == nil {
		c.text.Store(&text)
	}
	return text, err
}

// either is the schema of a value that has one of several types.
func either(d *handlers.Schemas, types ...reflect.Type) *handlers.Schema {
	s := &handlers.Schema{}
	for _, t := range types {
		s.AnyOf = append(s.AnyOf, d.Of(t))
	}
	return s
}
