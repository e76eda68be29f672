package rest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/gorilla/mux"
)

// routes are the endpoints of all operations.
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

// endpoint finds or makes the endpoint of a path. Two paths that differ only in the names of their variables could not
// be told apart.
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

// sorted are the endpoints once everything is registered: literal paths come before variable ones.
func (t *routes) sorted() []*endpoint {
	t.sort.Do(func() {
		slices.SortStableFunc(t.endpoints, func(a, b *endpoint) int { return a.template.compare(b.template) })
	})
	return t.endpoints
}

// addTo gives each endpoint a route. Those with as many segments stand together, as the router tries its routes one
// after the other.
func (t *routes) addTo(r *mux.Router) {
	groups := map[int]*mux.Router{}
	for _, e := range t.sorted() {
		depth := len(e.template)
		if groups[depth] == nil {
			groups[depth] = r.MatcherFunc(ofDepth(depth)).Subrouter()
		}
		groups[depth].NewRoute().MatcherFunc(e.matches).Handler(e)
	}
}

func ofDepth(depth int) mux.MatcherFunc {
	return func(r *http.Request, _ *mux.RouteMatch) bool { return strings.Count(r.URL.Path, "/") == depth }
}

// interfaces are those that have operations, in the order of their registration.
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
