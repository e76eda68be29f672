package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/gorilla/mux"

	"snowglobe/handlers/rest/schema"
)

// parse reads every declared parameter, in the order of declaration, and reports all problems at once.
func (op *operation) parse(hr *http.Request, alias func(network, name string) string) (values []any, given []bool, problems []string) {
	query, err := url.ParseQuery(hr.URL.RawQuery)
	if err != nil {
		problems = append(problems, "the query string is malformed: "+err.Error())
	}
	vars := mux.Vars(hr)
	values, given = make([]any, len(op.params)), make([]bool, len(op.params))
	for i, p := range op.params {
		texts := p.texts(hr, vars, query)
		if given[i] = len(texts) > 0; !given[i] {
			values[i] = p.fallback
			if p.Required {
				problems = append(problems, fmt.Sprintf("%s is required: expected %s", p.Name, p.expected()))
			}
			continue
		}
		if p.Kind == schema.KindChain || p.Name == "blockchainId" {
			texts = p.withoutAliases(texts, networkIn(vars), alias)
		}
		v, wrong := p.read(texts)
		values[i], problems = v, append(problems, wrong...)
	}
	return values, given, problems
}

// networkIn returns the network that a path names, if any.
func networkIn(vars map[string]string) string {
	if v, ok := schema.NetworkName(vars["network"]); ok {
		return v
	}
	return ""
}

// reversed finds ranges that end before they start. A range may end where it starts.
func (r *Request) reversed() (problems []string) {
	for _, p := range r.op.params {
		if p.NotAbove == "" || !r.Given(p.Name) || !r.Given(p.NotAbove) {
			continue
		}
		if schema.Above(r.value(p.Name), r.value(p.NotAbove)) {
			problems = append(problems, fmt.Sprintf("%s is above %s: expected at most as much", p.Name, p.NotAbove))
		}
	}
	return problems
}

// withoutAliases replaces aliases with ids, in lists too, except where the declaration lists the name as a literal.
func (p *param) withoutAliases(texts []string, network string, alias func(network, name string) string) []string {
	var all []string
	for _, joined := range texts {
		names := strings.Split(joined, ",")
		for i, name := range names {
			if !p.rule.HasLiteral(name) {
				names[i] = alias(network, name)
			}
		}
		all = append(all, strings.Join(names, ","))
	}
	return all
}

// texts returns a request's raw values of a parameter.
func (p *param) texts(hr *http.Request, vars map[string]string, query url.Values) []string {
	switch p.In {
	case InPath:
		return []string{vars[p.Name]}
	case InHeader:
		return hr.Header.Values(p.Name)
	}
	texts := query[p.Name]
	if p.Kind == schema.KindPageToken && len(texts) == 1 && texts[0] == "" {
		return nil
	}
	return texts
}

func (p *param) read(texts []string) (any, []string) {
	if p.List {
		return p.readList(texts)
	}
	if len(texts) > 1 {
		return nil, []string{fmt.Sprintf("%s is given %d times: expected %s, once", p.Name, len(texts), p.expected())}
	}
	v, problem := p.readOne(texts[0])
	if problem != "" {
		return nil, []string{problem}
	}
	return v, nil
}

func (p *param) readOne(text string) (any, string) {
	if text == "" {
		return nil, fmt.Sprintf("%s is empty: expected %s", p.Name, p.rule.Allowed())
	}
	v, ok := p.rule.Parse(text)
	if !ok {
		return nil, fmt.Sprintf("%s %q is not allowed: expected %s", p.Name, schema.Shorten(text), p.rule.Allowed())
	}
	return v, ""
}

// ReadItem reads a text in a body like a parameter of that kind. The problem is empty if there is none.
func ReadItem[T any](name string, kind *schema.Kind, text string, literals ...string) (item T, problem string) {
	rule, err := schema.NewRule(kind, "", "", literals...)
	if err != nil {
		return item, err.Error()
	}
	v, problem := (&param{Param: Param{Name: name}, rule: rule}).readOne(text)
	item, _ = v.(T)
	return item, problem
}

// readList splits each value at its commas, so that a list may come repeated, comma-joined or both.
func (p *param) readList(texts []string) (any, []string) {
	var list []any
	var problems []string
	count := len(texts)
	for _, joined := range texts {
		count += strings.Count(joined, ",")
	}
	if count > p.MaxItems {
		return nil, []string{fmt.Sprintf("%s has %d items: expected at most %d", p.Name, count, p.MaxItems)}
	}
	for _, joined := range texts {
		gaps := false
		for item := range strings.SplitSeq(joined, ",") {
			if item = strings.TrimSpace(item); item == "" && joined != "" {
				gaps = true
				continue
			}
			v, problem := p.readOne(item)
			if problem != "" {
				problems = append(problems, problem)
			}
			list = append(list, v)
		}
		if gaps {
			problems = append(problems, fmt.Sprintf("%s %q has an empty item: expected %s", p.Name, schema.Shorten(joined), p.expected()))
		}
	}
	return list, problems
}

// expected describes the values that the parameter takes.
func (p *param) expected() string {
	if p.List {
		return "a list, each item " + p.rule.Allowed()
	}
	return p.rule.Allowed()
}

// ReadList reads a comma-separated list in a member of a body like a parameter. It returns the problems for a 400.
func ReadList[T any](p Param, text string) (list []T, problems []string) {
	p.List = true
	c, err := compileParam("", p)
	if err != nil {
		return nil, []string{err.Error()}
	}
	items, problems := c.readList([]string{text})
	if len(problems) > 0 {
		return nil, problems
	}
	return typed[T](items), nil
}
