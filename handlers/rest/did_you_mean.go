package rest

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// misspelt is the part of a word that may be wrong: one in three letters. What differs by more is another word.
const misspelt = 3

// manyNear is how many equally near operations are worth naming.
const manyNear = 3

// suggest finds the operations whose paths are nearest to one that does not exist, with the client's own values in
// them and as a client would ask. It is empty if none is near or too many are.
func (t *routes) suggest(method, path string, as func(path string) string) string {
	asked := strings.Split(strings.Trim(path, "/"), "/")
	if len(asked) > 32 || len(path) > 1024 {
		return ""
	}
	var least []int
	var texts []string
	for _, e := range t.sorted() {
		for _, segments := range e.template.fitted(asked) {
			near, letters, ok := e.corrected(segments)
			if !ok {
				continue
			}
			text := e.nearestMethod(method) + " " + as("/"+strings.Join(near, "/"))
			distance := []int{len(segments) - len(asked), letters, strings.Compare(method, e.nearestMethod(method))}
			for i := range distance {
				distance[i] = max(distance[i], -distance[i])
			}
			if c := slices.Compare(distance, least); least == nil || c < 0 {
				least, texts = distance, []string{text}
			} else if c == 0 && !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	if len(texts) > manyNear {
		return ""
	}
	return strings.Join(texts, " or ")
}

// fitted are the ways to give a path as many segments as the template has: by one more, of the template, or by one less.
func (t template) fitted(asked []string) (all [][]string) {
	switch len(t) - len(asked) {
	case 0:
		return [][]string{asked}
	case 1:
		for i, s := range t {
			all = append(all, slices.Insert(slices.Clone(asked), i, s.text))
		}
	case -1:
		for i := range asked {
			all = append(all, slices.Delete(slices.Clone(asked), i, i+1))
		}
	}
	return all
}

// corrected is a path with the template's literals, and how many letters were wrong. It is not ok if a literal is another
// word, or a variable has a value that its parameter does not take.
func (e *endpoint) corrected(segments []string) (path []string, letters int, ok bool) {
	for i, s := range e.template {
		text := segments[i]
		switch {
		case text == s.text:
		case s.name != "":
			value, found := strings.CutSuffix(text, s.literal)
			if _, ok := e.ops[0].param(s.name).rule.Parse(value); !found || !ok {
				return nil, 0, false
			}
		default:
			wrong := levenshtein.ComputeDistance(strings.ToLower(s.literal), strings.ToLower(text))
			if misspelt*wrong > max(len(s.literal), len(text)) {
				return nil, 0, false
			}
			text, letters = s.literal, letters+wrong
		}
		path = append(path, text)
	}
	return path, letters, true
}

// nearestMethod is the one that was asked for if the path answers to it.
func (e *endpoint) nearestMethod(method string) string {
	if e.operation(method) != nil {
		return method
	}
	return e.ops[0].Method
}

// OperationNames are the ids of all operations and the JSON-RPC methods of what is mounted.
func (s *Server) OperationNames() []string {
	s.name.Do(func() {
		for _, e := range s.Endpoints() {
			s.names = append(s.names, e.Operations...)
		}
		slices.Sort(s.names)
		s.names = slices.Compact(s.names)
	})
	return s.names
}
