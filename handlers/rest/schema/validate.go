package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// validation walks a JSON value and its schema, and collects problems.
type validation struct {
	schemas  *Schemas
	strict   bool // whether an unknown member is a problem; otherwise it is dropped
	trial    bool // whether unknown members are left alone, because the value may not fit
	problems []string
}

// Check checks a decoded value (with json.Number for numbers) against the schema of a type. Unless strict, it drops unknown members.
func (d *Schemas) Check(t reflect.Type, v any, strict bool) []string {
	c := &validation{schemas: d, strict: strict}
	c.value(d.Of(t), "", v)
	return c.problems
}

func (c *validation) fail(path string, v any, expected string) {
	if path == "" {
		path = "the body"
	}
	shown, err := json.Marshal(v)
	if err != nil {
		shown = []byte("?")
	}
	c.problems = append(c.problems, fmt.Sprintf("%s %s is not allowed: expected %s", path, Shorten(string(shown)), expected))
}

func (c *validation) value(s *Schema, path string, v any) {
	s = c.schemas.Resolve(s)
	switch {
	case len(s.AnyOf) > 0:
		c.anyOf(s, path, v)
	case s.Type == "object":
		c.object(s, path, v)
	case s.Type == "array":
		c.array(s, path, v)
	case s.Type == "string":
		c.text(s, path, v)
	case s.Type == "number" || s.Type == "integer":
		c.number(s, path, v)
	case s.Type == "boolean":
		if _, ok := v.(bool); !ok {
			c.fail(path, v, "true or false")
		}
	case s.Type == "null":
		if v != nil {
			c.fail(path, v, "null")
		}
	}
}

// anyOf reports the problems of the closest alternative: for an object, one that takes objects.
func (c *validation) anyOf(s *Schema, path string, v any) {
	_, isObject := v.(map[string]any)
	var least []string
	fitted := false // whether the alternative takes values like v
	for i, alternative := range s.AnyOf {
		try := &validation{schemas: c.schemas, strict: c.strict, trial: true}
		try.value(alternative, path, v)
		if len(try.problems) == 0 {
			if !c.trial && !c.strict {
				c.value(alternative, path, v) // drops members
			}
			return
		}
		fits := isObject == (c.schemas.Resolve(alternative).Type == "object")
		if i == 0 || fits && !fitted || fits == fitted && len(try.problems) < len(least) {
			least, fitted = try.problems, fits
		}
	}
	c.problems = append(c.problems, least...)
}

func (c *validation) object(s *Schema, path string, v any) {
	members, ok := v.(map[string]any)
	if !ok {
		c.fail(path, v, "an object")
		return
	}
	for _, name := range s.Required {
		if _, ok := members[name]; !ok {
			c.problems = append(c.problems, join(path, name)+" is required")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		switch member := s.Properties[name]; {
		case member != nil:
			c.value(member, join(path, name), members[name])
		case s.AdditionalProperties != nil:
			c.value(s.AdditionalProperties, join(path, name), members[name])
		case c.strict:
			c.problems = append(c.problems, NotOneOf(join(path, "member"), name, slices.Sorted(maps.Keys(s.Properties))))
		case !c.trial: // the decoder ignores case in member names
			delete(members, name)
		}
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// mostProblems is the number of problems reported about one array.
const mostProblems = 100

func (c *validation) array(s *Schema, path string, v any) {
	items, ok := v.([]any)
	if !ok {
		c.fail(path, v, "an array")
		return
	}
	for i, item := range items {
		if len(c.problems) > mostProblems {
			return
		}
		c.value(s.Items, path+"["+strconv.Itoa(i)+"]", item)
	}
}

func (c *validation) text(s *Schema, path string, v any) {
	text, ok := v.(string)
	switch {
	case !ok:
		c.fail(path, v, "a string")
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, text):
		c.fail(path, v, "one of "+strings.Join(s.Enum, ", "))
	case s.Pattern != "" && !pattern(s.Pattern).MatchString(text):
		c.fail(path, v, "text like "+s.Pattern)
	}
}

var patterns sync.Map // *regexp.Regexp by its text

func pattern(text string) *regexp.Regexp {
	if p, ok := patterns.Load(text); ok {
		return p.(*regexp.Regexp)
	}
	p := regexp.MustCompile(text)
	patterns.Store(text, p)
	return p
}

// number compares exactly. An integer may have any form: 67, 67.0 and 6.7e1 are the same.
func (c *validation) number(s *Schema, path string, v any) {
	b, err := readBounds(string(s.Minimum), string(s.Maximum))
	n, ok := exact(v)
	if !ok || err != nil || !b.holds(n) || (s.Type == "integer" && !n.IsInt()) {
		c.fail(path, v, map[string]string{"integer": "an integer", "number": "a number"}[s.Type]+b.String())
	}
}

// exact returns a JSON number's exact value. It rejects numbers that would take long to read, with more digits than any field needs or with
// a very large exponent.
func exact(v any) (*big.Rat, bool) {
	text, ok := v.(json.Number)
	if !ok || len(text) > 80 || hugeExponent(string(text)) {
		return nil, false
	}
	return new(big.Rat).SetString(string(text))
}

// DigitsOnly rewrites the integers in a decoded value for Go's integer decoder.
func DigitsOnly(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = DigitsOnly(member)
		}
	case []any:
		for i, item := range v {
			v[i] = DigitsOnly(item)
		}
	case json.Number:
		if n, ok := exact(v); ok && n.IsInt() {
			return json.Number(n.Num().String())
		}
	}
	return v
}

func hugeExponent(text string) bool {
	i := strings.IndexAny(text, "eE")
	return i >= 0 && len(strings.TrimLeft(text[i+1:], "+-0")) > 2
}

// Shorten shortens a bad value so that it can be quoted.
func Shorten(text string) string {
	const most = 100
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
