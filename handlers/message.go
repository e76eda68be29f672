package handlers

import (
	"encoding/json"
	"strings"
)

// MarshalJSON writes an array of sentences or one text.
func (m Message) MarshalJSON() ([]byte, error) {
	if m.Array {
		return json.Marshal(m.Sentences)
	}
	return json.Marshal(strings.Join(m.Sentences, "; "))
}

// Schema allows both forms.
func (Message) Schema(*Schemas) *Schema {
	return &Schema{AnyOf: []*Schema{{Type: "string"}, {Type: "array", Items: &Schema{Type: "string"}}}}
}
