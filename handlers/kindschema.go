package handlers

import (
	"encoding/json"
	"fmt"
	"slices"
)

// schemaOf is how OpenAPI describes a parameter's values.
func (p *param) schemaOf() *Schema {
	s := p.Kind.schema(p)
	if p.List {
		s = &Schema{Type: "array", Items: s, MaxItems: p.MaxItems}
	} else if p.fallback != nil {
		s.Default = p.example(s.Type)
	}
	return s
}

// example is the default as JSON: bare for numbers and booleans, quoted for the rest.
func (p *param) example(kind string) any {
	if kind == "string" {
		return p.Default
	}
	return json.RawMessage(p.Default)
}

func numeric(kind string) func(*param) *Schema {
	return func(p *param) *Schema {
		return &Schema{Type: kind, Minimum: json.Number(p.Min), Maximum: json.Number(p.Max)}
	}
}

func seconds(*param) *Schema { return &Schema{Type: "integer", Format: "int64", Minimum: "0"} }

func boolean(*param) *Schema { return &Schema{Type: "boolean"} }

func textual(pattern string) func(*param) *Schema {
	return func(*param) *Schema {
		return &Schema{Type: "string", Pattern: pattern}
	}
}

func enumerated(p *param) *Schema { return &Schema{Type: "string", Enum: p.Enum} }

func hexadecimal(digits int) func(*param) *Schema {
	return textual(fmt.Sprintf("^0x[0-9a-fA-F]{%d}$", digits))
}

func oneOf(values ...string) func(*param) *Schema {
	return func(*param) *Schema { return &Schema{Type: "string", Enum: slices.Clone(values)} }
}
