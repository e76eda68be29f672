package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"html/template"
	"net/http"
	"strings"
	"sync"

	"snowglobe/handlers/openrpc"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
)

// Described are methods of JSON-RPC with the paths at which they are served.
type Described struct {
	Paths   []string
	Methods []openrpc.Method
}

// Reference are the documents about what is served, with examples from the world.
type Reference struct {
	site     *Site
	node     func() []Described
	once     sync.Once
	document []byte
	methods  map[string]openrpc.MethodItem
	asOpen   []byte
}

// Describe has the pages show the methods of a node.
func (s *Site) Describe(node func() []Described) { s.reference = &Reference{site: s, node: node} }

// Example is one of an operation of a REST interface, for the OpenAPI document.
func (s *Site) Example(id, method, path string, d schema.Dialect) rest.Example {
	found, err := s.samples()
	if err != nil {
		return rest.Example{}
	}
	return found.operation(id, method, path, d)
}

// make writes the documents once, when somebody wants them.
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
		if f.document, err = json.Marshal(d); err == nil {
			f.asOpen, err = json.Marshal(asOpenAPI(d))
		}
		if err != nil {
			f.site.log.Error("the reference cannot be written", "error", err)
		}
	})
}

// Discover is the part of the document about some methods, as rpc.discover answers it.
func (s *Site) Discover(r *http.Request, methods []openrpc.Method) any {
	s.reference.make()
	d := openrpc.Document{OpenRPC: "1.3.2", Info: openrpc.Info{Title: "Snowglobe node", Version: "1"}, Servers: []openrpc.Server{{Name: "this", URL: rest.BaseURL(r) + r.URL.Path}}, Methods: []openrpc.MethodItem{}}
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

// serveOpenRPC answers with the document about every method, or with the same as OpenAPI, which the page at /docs reads.
func (s *Site) serveOpenRPC(w http.ResponseWriter, r *http.Request) {
	s.reference.make()
	body := s.reference.document
	if strings.HasSuffix(r.URL.Path, "/node.json") {
		body = s.reference.asOpen
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	send(w, r, http.StatusOK, bytes.ReplaceAll(body, []byte(serverMark), []byte(rest.BaseURL(r))))
}

// asOpenAPI writes methods as operations, each at the path of its first server, told apart by a fragment that is never sent.
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
			"operationId": m.Name, "summary": m.Name, "tags": []string{tag}, "description": m.Summary + "\n\nErrors: " + strings.Join(errors, " · "),
			"requestBody": J{"required": true, "content": J{"application/json": J{
				"schema":  J{"type": "object", "properties": J{"jsonrpc": J{"type": "string"}, "id": J{"type": "integer"}, "method": J{"type": "string", "enum": []string{m.Name}}, "params": params}},
				"example": J{"jsonrpc": "2.0", "id": 1, "method": m.Name, "params": given},
			}}},
			"responses": J{"200": J{"description": "The result, or an error of JSON-RPC.", "content": J{"application/json": answer}}},
		}}
	}
	return J{"openapi": "3.1.0", "info": J{"title": d.Info.Title, "version": d.Info.Version, "description": d.Info.Description}, "servers": []J{{"url": serverMark}}, "tags": tags, "paths": paths}
}

// documents are what the page at /docs can show.
var documents = []struct{ Name, Title, Path string }{
	{"rest", "Data, Metrics and Simulator", "/openapi.json"},
	{"upstream", "the same, as the published SDKs read it", "/upstream/openapi.json"},
	{"node", "Node: JSON-RPC", "/docs/node.json"},
}

// showReference shows a document, and which pages there are beside it.
func showReference(p *page) error {
	chosen := p.r.URL.Query().Get("document")
	if chosen == "" {
		chosen = documents[0].Name
	}
	for _, d := range documents {
		if d.Name == chosen {
			p.Data = J{"documents": documents, "chosen": chosen, "url": p.base + d.Path, "topics": p.site.manual.Topics()}
			return p.showAs("docs", "docs", "Reference")
		}
	}
	return notFound("there is no document %q", clip(chosen, 32))
}

// topic is a page of the manual.
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
