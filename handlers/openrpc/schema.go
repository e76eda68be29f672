package openrpc

import (
	"encoding"
	"encoding/json"
	"math/big"
	"reflect"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/rpc"
)

// Schema is a JSON Schema.
type Schema map[string]any

const deepest = 6 // nesting levels described

var block = Schema{"title": "block", "oneOf": []Schema{
	{"type": "string", "pattern": "^0x[0-9a-fA-F]+$", "description": "A number, or a hash."},
	{"type": "string", "enum": []string{"latest", "pending", "safe", "finalized", "earliest"}}, {"type": "object"}}}

// known lists types that encode themselves.
var known = map[reflect.Type]Schema{
	reflect.TypeFor[common.Address]():        {"type": "string", "pattern": "^0x[0-9a-fA-F]{40}$"},
	reflect.TypeFor[common.Hash]():           {"type": "string", "pattern": "^0x[0-9a-fA-F]{64}$"},
	reflect.TypeFor[hexutil.Bytes]():         {"type": "string", "pattern": "^0x([0-9a-fA-F]{2})*$"},
	reflect.TypeFor[hexutil.Big]():           {"type": "string", "pattern": "^0x[0-9a-fA-F]+$"},
	reflect.TypeFor[hexutil.Uint64]():        {"type": "string", "pattern": "^0x[0-9a-fA-F]+$"},
	reflect.TypeFor[hexutil.Uint]():          {"type": "string", "pattern": "^0x[0-9a-fA-F]+$"},
	reflect.TypeFor[rpc.BlockNumber]():       block,
	reflect.TypeFor[rpc.BlockNumberOrHash](): block,
	reflect.TypeFor[json.RawMessage]():       {},
	reflect.TypeFor[big.Int]():               {"type": "integer"},
}

var (
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	unmarshaler   = reflect.TypeFor[json.Unmarshaler]()
)

// schemaOf describes a type's JSON.
func schemaOf(t reflect.Type, depth int) Schema {
	if t.Kind() == reflect.Pointer {
		return schemaOf(t.Elem(), depth)
	}
	if s, found := known[t]; found {
		return s
	}
	implements := func(i reflect.Type) bool { return t.Implements(i) || reflect.PointerTo(t).Implements(i) }
	switch {
	case depth > deepest:
		return Schema{}
	case t.Kind() == reflect.Struct && !implements(textMarshaler) && !implements(jsonMarshaler) && !implements(unmarshaler):
		return object(t, depth)
	case implements(textMarshaler):
		return Schema{"type": "string"}
	case implements(jsonMarshaler), implements(unmarshaler):
		if isNumber(t.Kind()) { // avalanchego writes numbers as text, and reads both
			return Schema{"type": []string{"string", "integer"}}
		}
		return Schema{}
	}
	switch k := t.Kind(); {
	case k == reflect.Slice || k == reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return Schema{"type": "string"}
		}
		return Schema{"type": "array", "items": schemaOf(t.Elem(), depth+1)}
	case k == reflect.Map:
		return Schema{"type": "object", "additionalProperties": schemaOf(t.Elem(), depth+1)}
	case k == reflect.String:
		return Schema{"type": "string"}
	case k == reflect.Bool:
		return Schema{"type": "boolean"}
	case k == reflect.Float32 || k == reflect.Float64:
		return Schema{"type": "number"}
	case isNumber(k):
		return Schema{"type": "integer"}
	}
	return Schema{}
}

func isNumber(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Uint64 }

func object(t reflect.Type, depth int) Schema {
	properties := Schema{}
	for _, f := range fieldsOf(t) {
		properties[f.name] = schemaOf(f.typ, depth+1)
	}
	return Schema{"type": "object", "properties": properties}
}

type field struct {
	name string
	typ  reflect.Type
}

// fieldsOf returns a struct's JSON members, including those of embedded structs.
func fieldsOf(t reflect.Type) []field {
	var all []field
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct {
				all = append(all, fieldsOf(inner)...)
			}
		case !f.IsExported() || name == "-":
		default:
			if name == "" {
				name = f.Name
			}
			all = append(all, field{name, f.Type})
		}
	}
	return all
}

// isBlock reports whether a parameter names a block.
func isBlock(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t == reflect.TypeFor[rpc.BlockNumber]() || t == reflect.TypeFor[rpc.BlockNumberOrHash]()
}
