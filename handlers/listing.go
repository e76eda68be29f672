package handlers

import (
	"cmp"
	"net/http"
	"slices"
)

// Endpoint is something that is served, at one path or at several.
type Endpoint struct {
	Interface  string   `json:"interface" doc:"data, metrics, sim or node."`
	Methods    []string `json:"methods" doc:"HTTP methods."`
	Paths      []string `json:"paths" doc:"With {name} for what varies."`
	Operations []string `json:"operations" doc:"Names of operations, or of JSON-RPC methods."`
}

// Lister is a mounted handler that can tell what it serves.
type Lister interface{ Endpoints() []Endpoint }

// pages are what a server has beside its operations.
var pages = []string{"/", "/docs", "/openapi.json"}

// Endpoints lists everything that is served: the operations, the documentation, and what mounted handlers tell.
func (s *Server) Endpoints() []Endpoint {
	var all []Endpoint
	for _, e := range s.endpoints {
		for _, op := range e.ops {
			all = append(all, Endpoint{op.in.Name, []string{op.Method}, []string{op.Path}, []string{op.ID}})
		}
	}
	slices.SortStableFunc(all, func(a, b Endpoint) int {
		return cmp.Or(cmp.Compare(a.Interface, b.Interface), cmp.Compare(a.Paths[0], b.Paths[0]), cmp.Compare(a.Methods[0], b.Methods[0]))
	})
	all = append(all, Endpoint{Sim.Name, []string{http.MethodGet}, pages, []string{}})
	var told []Lister
	for _, m := range s.mounts {
		if l, ok := m.handler.(Lister); ok && !slices.Contains(told, l) {
			told = append(told, l)
			all = append(all, l.Endpoints()...)
		}
	}
	return all
}
