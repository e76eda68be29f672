package rest

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/gorilla/mux"
)

// routes holds the endpoints of all operations.
type routes struct {
	endpoints []*endpoint
	byID      map[string]*operation
	sort      sync.Once
}

func (t *routes) add(op *operation) error {
	if t.byID[op.ID] != nil {
		return fmt.Errorf("operation %s is declared twice", op.ID)
	}
	e, err := t.endpoint(op.Path)
	if err != nil {
		return fmt.Errorf("operation %s: %w", op.ID, err)
	}
	if err := e.add(op); err != nil {
		return err
	}
	t.byID[op.ID] = op
	return nil
}

// endpoint finds or makes a path's endpoint. Paths that differ only in the names of their variables would be ambiguous.
func (t *routes) endpoint(path string) (*endpoint, error) {
	split := splitTemplate(path)
	for _, e := range t.endpoints {
		if e.path == path {
			return e, nil
		}
		if e.template.compare(split) == 0 {
			return nil, fmt.Errorf("path %s is declared as %s already", path, e.path)
		}
	}
	e := &endpoint{path: path, template: split}
	t.endpoints = append(t.endpoints, e)
	return e, nil
}

// sorted returns the endpoints once everything is registered: literal paths before variable ones.
func (t *routes) sorted() []*endpoint {
	t.sort.Do(func() {
		slices.SortStableFunc(t.endpoints, func(a, b *endpoint) int { return a.template.compare(b.template) })
	})
	return t.endpoints
}

// addTo adds a route for each endpoint. It groups those with the same number of segments, because the router tries its routes one after
// another.
func (t *routes) addTo(r *mux.Router) {
	groups := map[int]*mux.Router{}
	for _, e := range t.sorted() {
		depth := len(e.template)
		if groups[depth] == nil {
			groups[depth] = r.MatcherFunc(func(r *http.Request, _ *mux.RouteMatch) bool { return strings.Count(r.URL.Path, "/") == depth }).Subrouter()
		}
		groups[depth].NewRoute().MatcherFunc(e.matches).Handler(e)
	}
}

// interfaces returns the interfaces that have operations, in the order of their paths.
func (t *routes) interfaces() []*Interface {
	var list []*Interface
	for _, e := range t.endpoints {
		for _, op := range e.ops {
			if !slices.Contains(list, op.in) {
				list = append(list, op.in)
			}
		}
	}
	return list
}

// normalizePath removes repeated and trailing slashes from a path, so that it means the same operation without a redirect.
func normalizePath(r *http.Request) *http.Request {
	path := segmented(r.URL)
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	return withPath(r, path)
}

// segmented returns a path in which escaped slashes stay escaped: they belong to a segment.
func segmented(u *url.URL) string {
	if u.RawPath == "" {
		return u.Path
	}
	segments := strings.Split(u.RawPath, "/")
	for i, escaped := range segments {
		text, err := url.PathUnescape(escaped)
		if err != nil {
			return u.Path
		}
		segments[i] = strings.ReplaceAll(text, "/", "%2F")
	}
	return strings.Join(segments, "/")
}

// cutPrefix removes the upstream dialect's prefix from a path and reports whether it was there.
func cutPrefix(r *http.Request) (*http.Request, bool) {
	path := "/" + strings.TrimLeft(r.URL.Path, "/")
	rest, ok := strings.CutPrefix(path, upstreamPrefix)
	if !ok || rest != "" && rest[0] != '/' {
		return r, false
	}
	cut := withPath(r, rest)
	if raw, ok := strings.CutPrefix("/"+strings.TrimLeft(r.URL.RawPath, "/"), upstreamPrefix); ok {
		cut.URL.RawPath = raw
	}
	return cut, true
}

func withPath(r *http.Request, path string) *http.Request {
	if path == "" || path[0] != '/' {
		path = "/" + path
	}
	if path == r.URL.Path {
		return r
	}
	c, u := *r, *r.URL
	u.Path, u.RawPath = path, ""
	c.URL = &u
	return &c
}

// template is an operation's path, split at its slashes.
type template []segment

// segment is a literal, or a variable with an optional literal after it, as in {tokenId}:reindex; text is the declared segment.
type segment struct{ name, literal, text string }

func splitTemplate(path string) template {
	var t template
	for text := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		name, literal := "", text
		if strings.HasPrefix(text, "{") {
			name, literal, _ = strings.Cut(text[1:], "}")
		}
		t = append(t, segment{name, literal, text})
	}
	return t
}

// matches reports whether a segment of a request's path fits. A variable never contains a colon, so a misspelt transactions:listNative is
// an unknown path and not a malformed id.
func (s segment) matches(text string) bool {
	if s.name == "" {
		return s.literal == text
	}
	value, ok := strings.CutSuffix(text, s.literal)
	return ok && value != "" && strings.IndexByte(value, ':') < 0
}

// match reports whether a whole path fits, and returns the values of its variables.
func (t template) match(path string) (vars map[string]string, ok bool) {
	if !t.matches(path) {
		return nil, false
	}
	path, vars = path[1:], map[string]string{}
	for _, s := range t {
		text, rest, _ := strings.Cut(path, "/")
		if s.name != "" {
			vars[s.name] = strings.TrimSuffix(text, s.literal)
		}
		path = rest
	}
	return vars, true
}

func (t template) matches(path string) bool {
	path = path[1:]
	for i, s := range t {
		text, rest, more := strings.Cut(path, "/")
		if more == (i == len(t)-1) || !s.matches(text) {
			return false
		}
		path = rest
	}
	return true
}

// compare orders more specific templates first: literals, then variables with a literal, then bare variables.
func (t template) compare(u template) int {
	for i := range min(len(t), len(u)) {
		if c := cmp.Or(cmp.Compare(t[i].looseness(), u[i].looseness()), cmp.Compare(t[i].literal, u[i].literal)); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(t), len(u))
}

func (s segment) looseness() int {
	switch {
	case s.name == "":
		return 0
	case s.literal != "":
		return 1
	}
	return 2
}
