package handlers

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
)

// Operation is one endpoint, declared once for the router, the parser, the 400 texts and the OpenAPI document.
type Operation struct {
	ID      string // unique; names the operation in the access log and in OpenAPI
	Method  string // GET unless set
	Path    string // with {name} for each path parameter; a colon in it is literal
	Summary string
	Spec    string // the section of the specification that it serves
	Doc     string // what more there is to say
	Params  []Param

	Deprecated bool // another path serves the same

	Body     reflect.Type // the type of the JSON body, nil if it takes none
	Answer   reflect.Type // the type of the JSON answer, nil if the answer is Raw or a File
	Produces string       // the content type of a Raw answer or a File

	Status         int // of a success, 200 unless set
	UpstreamStatus int // of a success in the upstream dialect, where it differs

	// SameOrigin refuses browser pages of other origins: for operations that change the world.
	SameOrigin bool

	// Keyless answers without an API key, and uncounted, even where the interface does not: for checks of health.
	Keyless bool

	// Live says that the answer depends on more than the request, the world and its clock: it is never taken from memory.
	Live bool

	// AllNetworks says that the answer spans both networks, although no parameter names one.
	AllNetworks bool

	// Networks names the networks that are drawn on without a parameter that says so, for keys that are confined to some;
	// nil if none.
	Networks func(*Request) []string

	Handle func(*Request) (any, error)
}

// In says which part of a request carries a parameter.
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
	In       In // a query parameter unless set; path parameters are recognised by their place in the path
	Kind     *Kind
	List     bool // several values, repeated or comma-joined
	MaxItems int  // of a list, unbounded if 0
	Default  string
	Min, Max string
	Enum     []string // the allowed values; for other kinds than an enum, literals allowed beside it
	Required bool
	Doc      string

	// NotAbove names the parameter that this one must not exceed when both are given, as the start of a range its end.
	NotAbove string

	// Same is the one way to write a text that can be written in several: a page token fits however it was written.
	Same func(text string) string
}

// Paging is the pair of parameters that every paged operation takes.
func Paging(size, most int) []Param {
	return []Param{
		{Name: "pageToken", Kind: KindPageToken, Doc: "The nextPageToken of the page before; valid for 24 hours of the world's clock."},
		{Name: "pageSize", Kind: KindPageSize, Default: fmt.Sprint(size), Min: "1", Max: fmt.Sprint(most),
			Doc: "The most items that one page may hold."},
	}
}

// operation is an Operation made ready to serve.
type operation struct {
	Operation
	in     *Interface
	params []*param
	pager  bool
}

// param is a Param with its bounds and default read.
type param struct {
	Param
	bounds   bounds
	fallback any
	end      bool // of a range
}

func compile(in *Interface, o Operation) (*operation, error) {
	if o.Method == "" {
		o.Method = http.MethodGet
	}
	if o.Status == 0 {
		o.Status = http.StatusOK
	}
	if o.UpstreamStatus == 0 {
		o.UpstreamStatus = o.Status
	}
	op := &operation{Operation: o, in: in}
	if o.ID == "" || o.Handle == nil || !strings.HasPrefix(o.Path, "/") {
		return nil, fmt.Errorf("operation %q %s: an id, a path and a handler are needed", o.ID, o.Path)
	}
	for i := range o.Params {
		p, err := compileParam(o.Path, o.Params[i])
		if err != nil {
			return nil, fmt.Errorf("operation %s: parameter %s: %w", o.ID, o.Params[i].Name, err)
		}
		op.params = append(op.params, p)
		op.pager = op.pager || p.Kind == KindPageToken
	}
	return op, errors.Join(op.checkPath(), op.joinRanges())
}

func compileParam(path string, p Param) (*param, error) {
	switch {
	case strings.Contains(path, "{"+p.Name+"}"):
		p.In, p.Required = InPath, true
	case p.In == "":
		p.In = InQuery
	}
	if p.Kind == nil {
		return nil, fmt.Errorf("has no kind")
	}
	b, err := readBounds(p.Min, p.Max)
	if err != nil {
		return nil, err
	}
	c := &param{Param: p, bounds: b}
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

// param finds a declared parameter by its name.
func (op *operation) param(name string) *param {
	i := slices.IndexFunc(op.params, func(p *param) bool { return p.Name == name })
	return op.params[i]
}

// checkPath makes sure that each variable of the path is declared as a parameter, and each path parameter used.
func (op *operation) checkPath() error {
	for _, s := range splitTemplate(op.Path) {
		if s.name == "" {
			continue
		}
		if !slices.ContainsFunc(op.params, func(p *param) bool { return p.Name == s.name }) {
			return fmt.Errorf("operation %s: path parameter %s is not declared", op.ID, s.name)
		}
	}
	for _, p := range op.params {
		if p.In == InPath && !strings.Contains(op.Path, "{"+p.Name+"}") {
			return fmt.Errorf("operation %s: path parameter %s is not in the path", op.ID, p.Name)
		}
	}
	return nil
}

// status is that of a success in a dialect.
func (op *operation) status(d Dialect) int {
	if d == Upstream {
		return op.UpstreamStatus
	}
	return op.Status
}
