package data

import (
	"bytes"
	"encoding/json"
	"reflect"

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

// either is the schema of a value that has one of several types.
func either(d *handlers.Schemas, types ...reflect.Type) *handlers.Schema {
	s := &handlers.Schema{}
	for _, t := range types {
		s.AnyOf = append(s.AnyOf, d.Of(t))
	}
	return s
}
