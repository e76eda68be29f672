package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"snowglobe/handlers/docs"
)

// index finds pages of the manual, operations and methods by their words. Its content never changes.
type index struct {
	manual *docs.Manual

	mu      sync.Mutex
	entries []entry // loaded on first use
}

// entry is a page, an operation or a method.
type entry struct {
	Kind    string `json:"kind"` // page, operation or method
	Name    string `json:"name"`
	Summary string `json:"summary"`
	Where   string `json:"where,omitempty"` // HTTP method and path
	text    string // in lower case
}

// mostFound bounds the results of a search.
const mostFound = 12

// search returns the entries that contain the most of the words; matches in names come first.
func (x *index) search(ctx context.Context, w *world, query string) (string, error) {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 || len(query) > 300 {
		return "", errors.New("expected some words, at most 300 letters in all")
	}
	all, err := x.all(ctx, w)
	if err != nil {
		return "", err
	}
	type hit struct {
		*entry
		score int
	}
	var hits []hit
	for i := range all {
		e, score := &all[i], 0
		name, summary := strings.ToLower(e.Name), strings.ToLower(e.Summary)
		for _, word := range words {
			switch {
			case name == word:
				score += 60
			case strings.Contains(name, word):
				score += 30
			case strings.Contains(summary, word):
				score += 20
			case strings.Contains(e.text, word):
				score += 10
			}
		}
		if score > 0 {
			hits = append(hits, hit{e, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	found := []*entry{}
	for _, h := range hits[:min(len(hits), mostFound)] {
		found = append(found, h.entry)
	}
	raw, err := json.Marshal(map[string]any{"results": found})
	return string(raw), err
}

// all returns the manual's pages and all operations and methods.
func (x *index) all(ctx context.Context, w *world) ([]entry, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.entries != nil {
		return x.entries, nil
	}
	var all []entry
	for _, t := range x.manual.Topics() {
		all = append(all, entry{Kind: "page", Name: t.Name, Summary: t.Title, text: strings.ToLower(x.manual.Markdown(t))})
	}
	text, err := w.get(ctx, "/openapi.json")
	if err != nil {
		return nil, err
	}
	var operations struct {
		Paths map[string]map[string]struct{ OperationID, Summary, Description string }
	}
	if err := json.Unmarshal([]byte(text), &operations); err != nil {
		return nil, fmt.Errorf("the OpenAPI document: %w", err)
	}
	if text, err = w.get(ctx, "/openrpc.json"); err != nil {
		return nil, err
	}
	var methods struct {
		Methods []struct {
			Name, Summary, Description string
			Servers                    []struct{ Name string }
		}
	}
	if err := json.Unmarshal([]byte(text), &methods); err != nil {
		return nil, fmt.Errorf("the OpenRPC document: %w", err)
	}
	for path, of := range operations.Paths {
		for method, o := range of {
			all = append(all, entry{"operation", o.OperationID, o.Summary, strings.ToUpper(method) + " " + path, strings.ToLower(path + " " + o.Description)})
		}
	}
	for _, m := range methods.Methods {
		where := ""
		if len(m.Servers) > 0 {
			where = m.Servers[0].Name
		}
		all = append(all, entry{"method", m.Name, m.Summary, where, strings.ToLower(m.Description)})
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(a.Name, b.Name) })
	x.entries = all
	return all, nil
}

// read returns a page, or the description of an operation or a method.
func (x *index) read(ctx context.Context, w *world, name string) (string, error) {
	if t, found := x.manual.Find(strings.TrimSuffix(name, ".md")); found {
		return x.manual.Plain(t, w.base()), nil
	}
	for _, path := range []string{"/openapi.json?operation=", "/docs/methods/"} {
		text, err := w.get(ctx, path+url.QueryEscape(name))
		if refused := new(refusal); !errors.As(err, &refused) || refused.status != 404 {
			return text, err
		}
	}
	return "", fmt.Errorf("no page, operation or method is called %.80q; search_documentation finds them", name)
}
