package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"

	"snowglobe/handlers/openrpc"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
)

// Described holds JSON-RPC methods with the paths that serve them.
type Described struct {
	Paths   []string
	Methods []openrpc.Method
}

// Reference holds the documents about operations and methods, with examples from the world.
type Reference struct {
	site     *Site
	node     func() []Described
	rest     func() []rest.Outline
	once     sync.Once
	document []byte
	methods  map[string]openrpc.MethodItem
	listed   sync.Once
	groups   []*group
}

// Describe makes the pages show a node's methods and the REST interfaces' operations.
func (s *Site) Describe(node func() []Described, operations func() []rest.Outline) {
	s.reference = &Reference{site: s, node: node, rest: operations}
}

// Example returns an example of a REST operation, for the OpenAPI document.
func (s *Site) Example(id, method, path string, d schema.Dialect) rest.Example {
	found, err := s.samples()
	if err != nil {
		return rest.Example{}
	}
	return found.operation(id, method, path, d)
}

// make builds the documents once, on first use.
func (f *Reference) make() {
	f.once.Do(func() {
		found, err := f.site.samples()
		if err != nil {
			f.site.log.Error("the reference has no examples", "error", err)
			return
		}
		d := found.document(f.node())
		f.methods = map[string]openrpc.MethodItem{}
		for _, m := range d.Methods {
			f.methods[m.Name] = m
		}
		if f.document, err = json.Marshal(d); err != nil {
			f.site.log.Error("the reference cannot be written", "error", err)
		}
	})
}

// Discover returns the part of the document about some methods, for rpc.discover.
func (s *Site) Discover(r *http.Request, methods []openrpc.Method) any {
	s.reference.make()
	url := rest.BaseURL(r) + r.URL.Path
	if r.Header.Get("Upgrade") != "" {
		url = "ws" + strings.TrimPrefix(url, "http")
	}
	d := openrpc.Document{OpenRPC: "1.3.2", Info: openrpc.Info{Title: "Snowglobe node", Version: "1"}, Servers: []openrpc.Server{{Name: "this", URL: url}}, Methods: []openrpc.MethodItem{}}
	for _, m := range methods {
		item, found := s.reference.methods[m.Name]
		if !found {
			item = m.Item()
		}
		item.Servers = nil
		d.Methods = append(d.Methods, item)
	}
	return d
}

// serveOpenRPC serves the document about all methods.
func (s *Site) serveOpenRPC(w http.ResponseWriter, r *http.Request) {
	s.reference.make()
	s.sendDocument(w, r, s.reference.document)
}

// serveMethod serves an OpenAPI document about one method, for the page at /docs.
func (s *Site) serveMethod(w http.ResponseWriter, r *http.Request) {
	found, err := s.samples()
	if err != nil {
		http.Error(w, "the reference has no examples", http.StatusInternalServerError)
		return
	}
	var about []Described
	for _, d := range s.reference.node() {
		if i := slices.IndexFunc(d.Methods, func(m openrpc.Method) bool { return m.Name == r.PathValue("method") }); i >= 0 {
			about = append(about, Described{d.Paths, d.Methods[i : i+1]})
		}
	}
	if about == nil {
		http.Error(w, "there is no such method", http.StatusNotFound)
		return
	}
	body, err := json.Marshal(asOpenAPI(found.document(about)))
	if err != nil {
		s.log.Error("the reference cannot be written", "error", err)
	}
	s.sendDocument(w, r, body)
}

func (s *Site) sendDocument(w http.ResponseWriter, r *http.Request, body []byte) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	send(w, r, http.StatusOK, bytes.ReplaceAll(body, []byte(serverMark), []byte(rest.BaseURL(r))))
}

// asOpenAPI converts methods to operations, each at the path of its first server, with a fragment that distinguishes them and is never
// sent.
func asOpenAPI(d *openrpc.Document) J {
	paths := J{}
	var tags []J
	seen := map[string]bool{}
	for _, m := range d.Methods {
		tag := m.Tags[0].Name
		if !seen[tag] {
			seen[tag] = true
			tags = append(tags, J{"name": tag})
		}
		properties, required := J{}, []string{}
		var items []any
		for _, c := range m.Params {
			properties[c.Name] = c.Schema
			items = append(items, c.Schema)
			if c.Required {
				required = append(required, c.Name)
			}
		}
		var params, result any = J{"type": "array", "prefixItems": items}, nil
		given := any([]any{})
		if m.Structure == "by-name" {
			params, given = J{"type": "object", "properties": properties, "required": required}, J{}
		}
		for _, v := range m.Examples[0].Params {
			switch g := given.(type) {
			case J:
				g[v.Name] = v.Value
			case []any:
				given = append(g, v.Value)
			}
		}
		answer := J{"schema": J{"type": "object", "properties": J{"jsonrpc": J{"type": "string"}, "id": J{"type": "integer"}, "result": m.Result.Schema}}}
		if r := m.Examples[0].Result; r != nil {
			result = J{"jsonrpc": "2.0", "id": 1, "result": r.Value}
			answer["examples"] = J{"inThisWorld": J{"summary": "In this world", "value": result}}
		}
		var errors []string
		for _, e := range m.Errors {
			errors = append(errors, "`"+text(e.Code)+"` "+e.Message)
		}
		paths[m.Servers[0].Name+"#"+m.Name] = J{"post": J{
			"operationId": m.Name, "summary": m.Name, "tags": []string{tag}, "description": strings.Join(slices.DeleteFunc([]string{m.Summary, m.Description, "Errors: " + strings.Join(errors, " · ")}, func(s string) bool { return s == "" }), "\n\n"),
			"requestBody": J{"required": true, "content": J{"application/json": J{
				"schema":  J{"type": "object", "properties": J{"jsonrpc": J{"type": "string"}, "id": J{"type": "integer"}, "method": J{"type": "string", "enum": []string{m.Name}}, "params": params}},
				"example": J{"jsonrpc": "2.0", "id": 1, "method": m.Name, "params": given},
			}}},
			"responses": J{"200": J{"description": "The result, or an error of JSON-RPC.", "content": J{"application/json": answer}}},
		}}
	}
	return J{"openapi": "3.1.0", "info": J{"title": d.Info.Title, "version": d.Info.Version, "description": d.Info.Description}, "servers": []J{{"url": serverMark}}, "tags": tags, "paths": paths}
}

// group is a titled group of operations or methods.
type group struct {
	ID, Interface, Title string
	Entries              []entry
}

// entry is an operation or a method in the list at /docs. The library reads its details from a separate document.
type entry struct{ Verb, Name, ID, Summary, Document string }

// families lists the Data API's operations by the beginning of their paths, in display order; operations without a family are about the
// server.
var families = []struct{ Title, Prefixes string }{
	{"EVM chains", "/v1/chains /v2/chains /v1/address /v1/blocks /v1/transactions"}, {"Primary network", "/v1/networks /v1/avax"}, {"Cross-chain messages", "/v1/icm /v1/teleporter"},
	{"Webhooks", "/v1/webhooks"}, {"Exports", "/v1/operations /sim/exports"}, {"Signature aggregator", "/v1/signature"}, {"Server", "/"},
}

// family returns an operation's position in that list.
func family(o rest.Outline) int {
	if o.Interface != rest.Data.Title {
		return 0
	}
	return slices.IndexFunc(families, func(f struct{ Title, Prefixes string }) bool {
		return slices.ContainsFunc(strings.Fields(f.Prefixes), func(prefix string) bool { return strings.HasPrefix(o.Path, prefix) })
	})
}

// list sorts all operations and methods into groups, once.
func (f *Reference) list() []*group {
	f.listed.Do(func() {
		byTitle := map[string]*group{}
		add := func(in, title string, e entry) {
			g := byTitle[in+title]
			if g == nil {
				g = &group{"group-" + text(len(f.groups)), in, title, nil}
				byTitle[in+title] = g
				f.groups = append(f.groups, g)
			}
			g.Entries = append(g.Entries, e)
		}
		outlines := f.rest()
		slices.SortStableFunc(outlines, func(a, b rest.Outline) int {
			return cmp.Or(cmp.Compare(a.Interface, b.Interface), cmp.Compare(family(a), family(b)))
		})
		for _, o := range outlines {
			title := ""
			if o.Interface == rest.Data.Title {
				title = families[family(o)].Title
			}
			if o.Deprecated {
				o.Summary += " (deprecated)"
			}
			add(o.Interface, title, entry{o.Method, o.Path, o.ID, o.Summary, "/openapi.json?operation=" + o.ID})
		}
		seen := map[string]bool{}
		for _, d := range f.node() {
			for _, m := range d.Methods {
				if item := m.Item(); !seen[m.Name] {
					seen[m.Name] = true
					add("Node", item.Tags[0].Name, entry{"RPC", m.Name, d.Paths[0], item.Summary, "/docs/methods/" + m.Name})
				}
			}
		}
	})
	return f.groups
}

// showReference lists all operations and methods; the library shows one when the reader opens it.
func showReference(p *page) error {
	dialect := p.r.URL.Query().Get("dialect")
	prefix, known := map[string]string{"": "", "upstream": "/upstream"}[dialect]
	if !known {
		return notFound("there is no dialect %q", clip(dialect, 32))
	}
	groups, entries := p.site.reference.list(), 0
	for _, g := range groups {
		entries += len(g.Entries)
	}
	p.Data = J{"groups": groups, "count": entries, "dialect": dialect, "prefix": prefix, "topics": p.site.manual.Topics()}
	return p.showAs("docs", "docs", "Reference")
}

// topic returns a page of the manual.
func topic(p *page) error {
	name := p.r.PathValue("topic")
	t, found := p.site.manual.Find(name)
	if !found {
		if near := p.site.manual.Nearest(name); near != "" {
			return notFound("there is no page %q; did you mean %s/docs/%s?", clip(name, 32), p.base, near)
		}
		return notFound("there is no page %q", clip(name, 32))
	}
	text, err := p.site.manual.HTML(t, p.base, p.origin)
	p.Data = J{"text": template.HTML(text), "name": t.Name, "topics": p.site.manual.Topics()}
	return errors.Join(err, p.showAs("topic", "manual", t.Title))
}

// orMarkdown serves a page of the manual as Markdown if its address ends with .md.
func (s *Site) orMarkdown(page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, asked := strings.CutSuffix(r.PathValue("topic"), ".md")
		if t, found := s.manual.Find(name); asked && found {
			sendText(w, r, "text/markdown", s.manual.Plain(t, rest.BaseURL(r)))
			return
		}
		page.ServeHTTP(w, r)
	})
}

// serveLLMs serves the contents of the manual for language models.
func (s *Site) serveLLMs(w http.ResponseWriter, r *http.Request) {
	sendText(w, r, "text/plain", s.manual.LLMs(rest.BaseURL(r)))
}

func sendText(w http.ResponseWriter, r *http.Request, mediaType, text string) {
	w.Header().Set("Content-Type", mediaType+"; charset=utf-8")
	send(w, r, http.StatusOK, []byte(text))
}
