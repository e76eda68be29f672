package data

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"snowglobe/handlers/rest/schema"
)

// Marshal writes a value as responses do, without HTML escaping.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.Clone(bytes.TrimRight(b.Bytes(), "\n")), err // often cached: the buffer may have twice the room
}

// JSONPage is a named list of encoded items with the page's other fields.
type JSONPage struct {
	Next, Name string
	Items      []RawJSON
	More       map[string]any
}

// RawJSON is encoded JSON.
type RawJSON []byte

// WriteJSON writes it unchanged.
func (w RawJSON) WriteJSON(b *bytes.Buffer) error {
	_, err := b.Write(w)
	return err
}

// WriteJSON writes the page, beginning with its token if it has one.
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

// Either returns the schema of a value that has one of several types.
func Either(d *schema.Schemas, types ...reflect.Type) *schema.Schema {
	s := &schema.Schema{}
	for _, t := range types {
		s.AnyOf = append(s.AnyOf, d.Of(t))
	}
	return s
}
