package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode"
)

// Schema is the part of JSON Schema that the document needs.
type Schema struct {
	Ref                  string             `json:"$ref,omitempty"`
	Type                 string             `json:"type,omitempty"`
	Description          string             `json:"description,omitempty"`
	Pattern              string             `json:"pattern,omitempty"`
	Format               string             `json:"format,omitempty"`
	Enum                 []string           `json:"enum,omitempty"`
	Minimum              json.Number        `json:"minimum,omitempty"`
	Maximum              json.Number        `json:"maximum,omitempty"`
	MaxItems             int                `json:"maxItems,omitempty"`
	Deprecated           bool               `json:"deprecated,omitempty"`
	Default              any                `json:"default,omitempty"`
	Items                *Schema            `json:"items,omitempty"`
	Properties           map[string]*Schema `json:"properties,omitempty"`
	Required             []string           `json:"required,omitempty"`
	AdditionalProperties *Schema            `json:"additionalProperties,omitempty"`
	AnyOf                []*Schema          `json:"anyOf,omitempty"`
}

// Described is a type with its own schema, because its JSON differs from its Go fields.
type Described interface{ Schema(*Schemas) *Schema }

// Schemas collects the schemas of Go types by name, for one dialect.
//
// A field is required unless its json tag has omitempty or omitzero; a required pointer may be null. The tags doc, enum (separated by
// commas), min, max, pattern, format (a name in formats) and deprecated (true) add to the schema.
type Schemas struct {
	Dialect Dialect

	named map[string]*Schema
	names map[reflect.Type]string
}

// NewSchemas makes an empty collection. It is not safe for concurrent use until it has seen every type.
func NewSchemas(d Dialect) *Schemas {
	return &Schemas{Dialect: d, named: map[string]*Schema{}, names: map[reflect.Type]string{}}
}

// formats maps the values of a field's format tag to patterns.
var formats = map[string]string{
	"address": `^0x[0-9a-fA-F]{40}$`,
	"hash":    `^0x[0-9a-f]{64}$`,
	"hex":     `^0x([0-9a-f]{2})*$`,
	"uint":    `^(0|[1-9][0-9]*)$`,
	"decimal": `^-?[0-9]+(\.[0-9]+)?$`,
	"cb58":    `^[1-9A-HJ-NP-Za-km-z]+$`,
	"nodeId":  `^NodeID-[1-9A-HJ-NP-Za-km-z]+$`,
	"url":     `^(https?|wss?)://`,
	"uuid":    uuidPattern,
}

// componentPath is OpenAPI's path of named schemas.
const componentPath = "#/components/schemas/"

// Named returns the schemas that others refer to, by name.
func (d *Schemas) Named() map[string]*Schema { return d.named }

// Resolve returns the schema itself, or the one that it refers to.
func (d *Schemas) Resolve(s *Schema) *Schema {
	if s.Ref == "" {
		return s
	}
	return d.named[s.RefName()]
}

// RefName returns the name of the schema that this one refers to.
func (s *Schema) RefName() string { return strings.TrimPrefix(s.Ref, componentPath) }

// Of returns a type's schema: a reference if it is a named struct, otherwise the schema itself.
func (d *Schemas) Of(t reflect.Type) *Schema {
	if s, ok := described(t); ok {
		return s.Schema(d)
	}
	if t == reflect.TypeFor[json.RawMessage]() {
		return &Schema{} // anything
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.Of(t.Elem())
	case reflect.Struct:
		return d.ofStruct(t)
	case reflect.Slice, reflect.Array:
		return &Schema{Type: "array", Items: d.Of(t.Elem())}
	case reflect.Map:
		return &Schema{Type: "object", AdditionalProperties: d.Of(t.Elem())}
	case reflect.Bool:
		return &Schema{Type: "boolean"}
	case reflect.String:
		return ofString(t)
	case reflect.Float32, reflect.Float64:
		return &Schema{Type: "number"}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &Schema{Type: "integer", Minimum: "0"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return &Schema{Type: "integer"}
	}
	return &Schema{}
}

func described(t reflect.Type) (Described, bool) {
	if t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer {
		return nil, false
	}
	s, ok := reflect.New(t).Interface().(Described)
	return s, ok
}

// ofString treats json.Number as a number, the one string type with such JSON.
func ofString(t reflect.Type) *Schema {
	if t == reflect.TypeFor[json.Number]() {
		return &Schema{Type: "number"}
	}
	return &Schema{Type: "string"}
}

func (d *Schemas) ofStruct(t reflect.Type) *Schema {
	if t.Name() == "" {
		return d.object(t)
	}
	name, known := d.names[t]
	if !known {
		name = d.nameFor(t)
		d.names[t] = name
		d.named[name] = &Schema{} // a recursive type refers to the name
		d.named[name] = d.object(t)
	}
	return &Schema{Ref: componentPath + name}
}

// nameFor returns the type's own name, prefixed with its interface if two interfaces use the same name.
func (d *Schemas) nameFor(t reflect.Type) string {
	name := identifier(t.Name())
	if _, taken := d.named[name]; !taken {
		return name
	}
	_, within, _ := strings.Cut(t.PkgPath(), "/handlers/")
	owner, _, _ := strings.Cut(within, "/") // data, also for a type in handlers/data/evm
	name = strings.ToUpper(owner[:min(1, len(owner))]) + owner[min(1, len(owner)):] + name
	for base, i := name, 2; d.named[name] != nil; i++ {
		name = fmt.Sprint(base, i)
	}
	return name
}

// identifier removes everything that a component's name may not contain: the package paths and brackets of a generic type.
func identifier(name string) string {
	if open := strings.IndexByte(name, '['); open >= 0 {
		args := name[open+1 : len(name)-1]
		name = name[:open] + args[strings.LastIndexByte(args, '.')+1:]
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, name)
}

func (d *Schemas) object(t reflect.Type) *Schema {
	s := &Schema{Type: "object", Properties: map[string]*Schema{}}
	for _, f := range reflect.VisibleFields(t) {
		d.member(s, f)
	}
	return s
}

func (d *Schemas) member(s *Schema, f reflect.StructField) {
	name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
	if !f.IsExported() || name == "-" || (f.Anonymous && name == "") {
		return
	}
	if name == "" {
		name = f.Name
	}
	field := d.Of(f.Type)
	if strings.Contains(rest, "string") {
		field = &Schema{Type: "string"}
	}
	field = decorate(field, f.Tag)
	if !strings.Contains(rest, "omit") {
		s.Required = append(s.Required, name)
		if f.Type.Kind() == reflect.Pointer {
			field = &Schema{AnyOf: []*Schema{field, {Type: "null"}}}
		}
	}
	s.Properties[name] = field
}

// decorate adds the constraints in a field's tags. In OpenAPI 3.1 a reference may have a description.
func decorate(s *Schema, tag reflect.StructTag) *Schema {
	c := *s
	c.Description, c.Deprecated = tag.Get("doc"), tag.Get("deprecated") == "true"
	target := &c
	if c.Type == "array" && c.Items != nil {
		items := *c.Items
		target, c.Items = &items, &items
	}
	if e := tag.Get("enum"); e != "" {
		target.Enum = strings.Split(e, ",")
	}
	if n := tag.Get("min"); n != "" {
		target.Minimum = json.Number(n)
	}
	if n := tag.Get("max"); n != "" {
		target.Maximum = json.Number(n)
	}
	if p := tag.Get("pattern"); p != "" {
		target.Pattern = p
	}
	if f := tag.Get("format"); f != "" {
		target.Pattern = formats[f]
	}
	return &c
}
