package web

import (
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
)

//go:embed templates/*.html
var templateFiles embed.FS

// page is one page being made: the request, the responses it shows, and the functions that its template calls.
type page struct {
	site   *Site
	r      *http.Request
	base   string // path of the world, without a trailing slash
	origin string // the same as a URL
	status int
	view   string // the template within the layout
	names  *directory
	now    int64 // the world's time

	fragment string // the template to render without the layout

	Title string
	Nav   string // its entry in the menu
	Chain *chainInfo
	Got   map[string]any // responses by the names of the calls
	Calls map[string]*Call
	Data  any
}

// functions lists the templates' functions that need only values.
var functions = template.FuncMap{
	"amount": amount, "money": money, "count": count, "short": short, "dict": dict, "name": name, "text": text, "hex": hexNumber,
	"list": list, "dig": dig, "lower": strings.ToLower, "asset": assetPath,
	"gwei": gwei, "fee": fee, "avax": avax, "percent": percent, "period": period, "parts": parts, "bytes": byteSize, "has": strings.Contains, "title": title, "spaced": spaced, "clip": clip, "methodShort": methodShort, "rpcBody": rpcBody, "json": compact, "last": last, "kind": exportKind, "words": spaced, "role": roleOf,
}

// parseTemplates parses the templates once for all sites of the process, for the first page.
var parseTemplates = sync.OnceValues(func() (*template.Template, error) {
	t := template.New("").Funcs(functions).Funcs(template.FuncMap{"view": func(*page) (template.HTML, error) { return "", nil }})
	t, err := t.ParseFS(templateFiles, "templates/*.html")
	if err != nil {
		return nil, err
	}
	// The layout renders a view by name, which needs the parsed set.
	return t.Funcs(template.FuncMap{"view": func(p *page) (template.HTML, error) {
		var b strings.Builder
		err := t.ExecuteTemplate(&b, p.view, p)
		return template.HTML(b.String()), err
	}}), nil
})

func (s *Site) newPage(r *http.Request) (*page, error) {
	p := &page{site: s, r: r, base: rest.BasePath(r), origin: rest.BaseURL(r), status: http.StatusOK, Got: map[string]any{}, Calls: map[string]*Call{}}
	names, err := s.directory(p)
	if err != nil {
		return p, err
	}
	p.names = names
	if err := p.load(get("clock", "/sim/clock")); err != nil {
		return p, err
	}
	p.now = integer(dig(p.Got["clock"], "unix"))
	return p, nil
}

// showAs makes the last calls, then sets the template and the title.
func (p *page) showAs(view, nav, title string, calls ...*Call) error {
	if err := p.load(calls...); err != nil {
		return err
	}
	p.view, p.Nav, p.Title = view, nav, title
	return nil
}

// part reports, and records, whether a script asked for a part of the page.
func (p *page) part(name string) bool {
	if p.r.URL.Query().Get("part") != name || p.r.Header.Get("HX-Request") == "" {
		return false
	}
	p.fragment = name
	return true
}

// arg returns a variable of the path, or a query parameter.
func (p *page) arg(name string) string {
	if v := p.r.PathValue(name); v != "" {
		return v
	}
	return p.r.URL.Query().Get(name)
}

// Arg does the same for templates.
func (p *page) Arg(name string) string { return p.arg(name) }

// URL returns the URL of a page of this world.
func (p *page) URL(parts ...any) string {
	var b strings.Builder
	b.WriteString(p.base)
	for i, part := range parts {
		if t := text(part); i%2 == 0 {
			b.WriteString(t)
		} else {
			b.WriteString(url.PathEscape(t))
		}
	}
	return b.String()
}

// On returns the URL of a page about something on the page's chain.
func (p *page) On(kind string, id any) string {
	return p.URL("/sim/explorer/", p.Chain.ID, "/"+kind+"/", id)
}

// More returns the URL of the list's next part.
func (p *page) More(part, token string) string {
	q := p.r.URL.Query()
	q.Set("part", part)
	q.Set("pageToken", token)
	return p.base + p.r.URL.Path + "?" + q.Encode()
}

// With returns the URL of this page with one parameter changed.
func (p *page) With(name, value string) string {
	q := p.r.URL.Query()
	q.Del("part")
	q.Del("pageToken")
	q.Set(name, value)
	if value == "" {
		q.Del(name)
	}
	if len(q) == 0 {
		return p.base + p.r.URL.Path
	}
	return p.base + p.r.URL.Path + "?" + q.Encode()
}

// Refused returns the reason why the page may not change the world; it is empty if it may. A page offers no action that would be refused.
func (p *page) Refused() string { return p.refused(permit.Control) }

// Unpaid returns the reason why the faucet doesn't pay on this page; empty if it does.
func (p *page) Unpaid() string { return p.refused(permit.Payment) }

func (p *page) refused(class permit.Class) string {
	probe := *p.r
	probe.Header = http.Header{}
	if u, err := url.Parse(p.origin); err == nil {
		probe.Header.Set("Origin", u.Scheme+"://"+u.Host)
	}
	if err := p.site.permit.Check(&probe, class); err != nil {
		return err.Error()
	}
	return ""
}

// NeedsKey reports whether an API key is missing.
func (p *page) NeedsKey() bool { return p.status == http.StatusUnauthorized }

// Names returns the directory, for templates.
func (p *page) Names() *directory { return p.names }

// Base returns the path of the world.
func (p *page) Base() string { return p.base }

// Origin returns the URL of the world.
func (p *page) Origin() string { return p.origin }

// Now returns the world's time, in Unix seconds.
func (p *page) Now() int64 { return p.now }
