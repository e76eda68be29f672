package datatest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Object is decoded JSON that keeps numbers in their original form.
type Object = map[string]any

// Dig follows keys into decoded JSON; a number is an index of a list.
func Dig(v any, keys ...any) any {
	for _, k := range keys {
		switch k := k.(type) {
		case string:
			o, _ := v.(Object)
			v = o[k]
		case int:
			l, _ := v.([]any)
			if k >= len(l) {
				return nil
			}
			v = l[k]
		}
	}
	return v
}

// Encode writes a value as JSON, with the keys of objects in order.
func Encode(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// Integer reads a number, or a number in a string.
func Integer(v any) int64 {
	n, _ := strconv.ParseInt(fmt.Sprint(v), 10, 64)
	return n
}

// Objects returns the items of a list.
func Objects(list any) (all []Object) {
	items, _ := list.([]any)
	for _, item := range items {
		all = append(all, item.(Object))
	}
	return all
}

// Holds tells whether a list has an item.
func Holds(list any, one string) bool {
	items, _ := list.([]any)
	return slices.Contains(items, any(one))
}

// Text returns one member of each item.
func Text(items []Object, keys ...any) []string {
	all := make([]string, len(items))
	for i, item := range items {
		all[i] = fmt.Sprint(Dig(item, keys...))
	}
	return all
}

// Same compares two lists of facts.
func Same(t *testing.T, what string, have, want []string) {
	t.Helper()
	if !slices.Equal(have, want) {
		for i := range min(len(have), len(want)) {
			if have[i] != want[i] {
				t.Fatalf("%s: item %d is %s: want %s", what, i, have[i], want[i])
			}
		}
		t.Fatalf("%s: %d items: want %d", what, len(have), len(want))
	}
}

// Distinct fails on a duplicate item.
func Distinct(t *testing.T, what string, all []Object) {
	t.Helper()
	seen := map[string]bool{}
	for _, item := range all {
		key := Encode(item)
		if seen[key] {
			t.Errorf("%s lists %s twice", what, key)
		}
		seen[key] = true
	}
}

// Fields is one of the specification's tables: names with the format of their values. A name that ends with a question mark is optional.
type Fields map[string]string

// extra lists members beyond the specification that the live service has since its Granite upgrade.
var extra = []string{"blockTimestampMilliseconds", "blockMinDelayExcess"}

// With returns a table with more fields.
func (f Fields) With(more Fields) Fields {
	all := Fields{}
	for _, m := range []Fields{f, more} {
		for name, kind := range m {
			all[name] = kind
		}
	}
	return all
}

// Check compares an object with a table, in both directions.
func (f Fields) Check(t *testing.T, what string, v any) {
	t.Helper()
	o, ok := v.(Object)
	if !ok {
		t.Errorf("%s is %v: want an object", what, v)
		return
	}
	for name, kind := range f {
		name, optional := strings.CutSuffix(name, "?")
		value, there := o[name]
		if !there && !optional {
			t.Errorf("%s has no %s", what, name)
		} else if there && kindOf(value) != kind && !(kind == "number" && kindOf(value) == "integer") && !(name == "tokenReputation" && kindOf(value) == "string") {
			t.Errorf("%s: %s is %v: want %s", what, name, value, kind)
		}
	}
	for name := range o {
		if f[name] == "" && f[name+"?"] == "" && !slices.Contains(extra, name) {
			t.Errorf("%s has %s, which the specification does not", what, name)
		}
	}
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case Object:
		return "object"
	}
	if strings.Contains(fmt.Sprint(v), ".") {
		return "number"
	}
	return "integer"
}
