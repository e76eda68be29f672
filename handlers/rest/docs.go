package rest

import (
	"bytes"
	_ "embed"
	html "html/template"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"snowglobe/handlers/rest/schema"
)

//go:embed docs.html
var docsText string

var docsTemplate = html.Must(html.New("docs").Parse(docsText))

// docsGroup is the part of the page for one interface.
type docsGroup struct {
	Title string
	Calls []docsCall
}

type docsCall struct {
	ID, Method, Path, Summary, Spec, Doc string
	Status                               int
	Deprecated                           bool
	Params                               []docsParam
	Body, Answer                         []docsField
	Try                                  string // a link that works as it stands
}

type docsParam struct {
	Name     string
	In       In
	Required bool
	Default  string
	Allowed  string
	Doc      string
}

// docsField is one member of a body or an answer; Name is its path from the top.
type docsField struct{ Name, Type, Doc string }

// docsHandler serves the page at one path only, as its links count from there.
func (s *Server) docsHandler() http.Handler {
	page := s.documentHandler("text/html; charset=utf-8", func(d *document) []byte { return d.page })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path, _, _ := strings.Cut(r.RequestURI, "?"); strings.HasSuffix(path, "/") {
			toDocs(w, r)
			return
		}
		page.ServeHTTP(w, r)
	})
}

// toDocs leads to the documentation in the dialect of the path.
func toDocs(w http.ResponseWriter, r *http.Request) {
	c := w.(*requestContext)
	c.mounted = "documentation"
	if !c.refuse(r) {
		http.Redirect(w, r, basePath(r, c.prefixed)+"/docs", http.StatusFound)
	}
}

func (d *documentation) docsPage(schemas *schema.Schemas) ([]byte, error) {
	var groups []docsGroup
	for _, in := range d.routes.interfaces() {
		groups = append(groups, d.docsGroup(in, schemas))
	}
	var b bytes.Buffer
	err := docsTemplate.Execute(&b, map[string]any{"Groups": groups, "Dialect": schemas.Dialect, "Version": d.version})
	return b.Bytes(), err
}

func (d *documentation) docsGroup(in *Interface, schemas *schema.Schemas) docsGroup {
	g := docsGroup{Title: in.Title}
	for _, e := range d.routes.sorted() {
		for _, op := range e.ops {
			if op.in == in {
				g.Calls = append(g.Calls, docsCallOf(op, schemas))
			}
		}
	}
	slices.SortStableFunc(g.Calls, func(a, b docsCall) int { return strings.Compare(a.Path, b.Path) })
	return g
}

func docsCallOf(op *operation, schemas *schema.Schemas) docsCall {
	c := docsCall{ID: op.ID, Method: op.Method, Path: op.Path, Summary: op.Summary, Spec: op.Spec, Doc: op.Doc, Status: op.status(schemas.Dialect), Deprecated: op.Deprecated}
	needs := op.Method != http.MethodGet
	for _, p := range op.params {
		c.Params = append(c.Params, docsParam{p.Name, p.In, p.Required, p.Default, p.expected(), p.Doc})
		needs = needs || p.Required
	}
	if !needs {
		c.Try = op.Path
	}
	c.Body, c.Answer = docsFields(op.Body, schemas), docsFields(op.Answer, schemas)
	return c
}

func docsFields(t reflect.Type, schemas *schema.Schemas) []docsField {
	if t == nil {
		return nil
	}
	l := &docsLister{schemas: schemas}
	l.add("", l.schemas.Of(t), nil)
	return l.fields
}

// docsLister flattens a schema into rows; open are the references being followed, so that a type which contains
// itself ends.
type docsLister struct {
	schemas *schema.Schemas
	fields  []docsField
}

func (l *docsLister) add(path string, s *schema.Schema, open []string) {
	if s.Ref != "" {
		if slices.Contains(open, s.Ref) {
			return
		}
		open = append(slices.Clip(open), s.Ref)
		s = l.schemas.Resolve(s)
	}
	for _, alternative := range s.AnyOf {
		l.add(path, alternative, open)
	}
	if s.Items != nil {
		l.add(path+"[]", s.Items, open)
	}
	for _, name := range l.members(s) {
		member := s.Properties[name]
		at := strings.TrimPrefix(path+"."+name, ".")
		l.fields = append(l.fields, docsField{at, l.typeOf(member, slices.Contains(s.Required, name)), member.Description})
		l.add(at, member, open)
	}
}

// members puts the required ones first, in the order of the Go type.
func (l *docsLister) members(s *schema.Schema) []string {
	names := slices.Clone(s.Required)
	var rest []string
	for name := range s.Properties {
		if !slices.Contains(names, name) {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	return append(names, rest...)
}

func (l *docsLister) typeOf(s *schema.Schema, required bool) string {
	text := l.typeName(s)
	if !required {
		text += ", optional"
	}
	if s.Deprecated {
		text += ", deprecated"
	}
	return text
}

func (l *docsLister) typeName(s *schema.Schema) string {
	switch {
	case s.Ref != "":
		return s.RefName()
	case len(s.AnyOf) > 0:
		var names []string
		for _, a := range s.AnyOf {
			names = append(names, l.typeName(a))
		}
		return strings.Join(names, " or ")
	case s.Items != nil:
		return "array of " + l.typeName(s.Items)
	case len(s.Enum) > 0:
		return strings.Join(s.Enum, " | ")
	case s.Type == "":
		return "any"
	}
	return s.Type
}
