package data

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

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

// sheet is a page whose items are written already, under a name, with what else the page says.
type sheet struct {
	next, name string
	items      []written
	more       map[string]any
}

// written is JSON.
type written []byte

// WriteJSON writes it as it is.
func (w written) WriteJSON(b *bytes.Buffer) error {
	_, err := b.Write(w)
	return err
}

// WriteJSON writes the page: its token first, if it has one.
func (s *sheet) WriteJSON(b *bytes.Buffer) error {
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

// either is the schema of a value that has one of several types.
func either(d *handlers.Schemas, types ...reflect.Type) *handlers.Schema {
	s := &handlers.Schema{}
	for _, t := range types {
		s.AnyOf = append(s.AnyOf, d.Of(t))
	}
	return s
}
