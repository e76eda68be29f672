package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"snowglobe/handlers/rest/schema"
)

// In states which part of a request carries a parameter.
type In string

// The places of a parameter.
const (
	InPath   In = "path"
	InQuery  In = "query"
	InHeader In = "header"
)

// Param is one parameter of an operation. Min and Max are decimal literals, empty where the range is open.
type Param struct {
	Name     string
	In       In // default: the query; path parameters are recognised by their place in the path
	Kind     *schema.Kind
	List     bool // several values, repeated or comma-joined
	MaxItems int  // required for lists
	Default  string
	Min, Max string
	Enum     []string // the allowed values; for kinds other than enum, additional literals
	Required bool
	Doc      string

	// NotAbove names the parameter that this one must not exceed when both are given, as a range's start must not exceed its end.
	NotAbove string

	// Same converts a text with several equivalent forms to one, so that a page token fits in every form.
	Same func(text string) string
}

// Paging holds the two parameters of every paged operation.
func Paging(size, most int) []Param {
	return []Param{
		{Name: "pageToken", Kind: schema.KindPageToken, Doc: "The nextPageToken of the previous page; it expires after 24 hours of the world's clock. Empty means the first page."},
		{Name: "pageSize", Kind: schema.KindPageSize, Default: fmt.Sprint(size), Min: "1", Max: fmt.Sprint(most),
			Doc: "The maximum number of items on a page."},
	}
}

// param is a Param with parsed bounds and default.
type param struct {
	Param
	rule     *schema.Rule
	fallback any
	rangeEnd bool // whether it is one end of a range
}

func compileParam(path string, p Param) (*param, error) {
	switch {
	case strings.Contains(path, "{"+p.Name+"}"):
		p.In, p.Required = InPath, true
	case p.In == "":
		p.In = InQuery
	}
	if p.Kind == nil {
		return nil, errors.New("has no kind")
	}
	if p.List && p.MaxItems <= 0 {
		return nil, errors.New("is a list without a bound")
	}
	rule, err := schema.NewRule(p.Kind, p.Min, p.Max, p.Enum...)
	if err != nil {
		return nil, err
	}
	c := &param{Param: p, rule: rule}
	if p.Default == "" {
		return c, nil
	}
	v, problems := c.read([]string{p.Default})
	if len(problems) > 0 {
		return nil, fmt.Errorf("default: %s", problems[0])
	}
	c.fallback = v
	return c, nil
}

// description returns the document's text about a parameter.
func (p *param) description() string {
	if p.NotAbove == "" {
		return p.Doc
	}
	return strings.TrimSpace(p.Doc + " At most " + p.NotAbove + ".")
}

// schema returns OpenAPI's description of the parameter's values.
func (p *param) schema() *schema.Schema {
	s := p.rule.Schema()
	if p.List {
		s = &schema.Schema{Type: "array", Items: s, MaxItems: p.MaxItems}
	} else if p.fallback != nil {
		s.Default = asJSON(p.Default, s.Type)
	}
	return s
}

// exampleJSON converts a value from a URL to JSON that fits the parameter's schema.
func (p *param) exampleJSON(value any) any {
	if value == nil {
		return nil
	}
	s := p.schema()
	if !p.List {
		return asJSON(fmt.Sprint(value), s.Type)
	}
	items := []any{}
	for text := range strings.SplitSeq(fmt.Sprint(value), ",") {
		items = append(items, asJSON(text, s.Items.Type))
	}
	return items
}

// asJSON returns a value of a type as JSON: bare for numbers and booleans, quoted for the rest.
func asJSON(text, kind string) any {
	if kind == "string" {
		return text
	}
	return json.RawMessage(text)
}
