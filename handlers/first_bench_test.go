// make bench: first responses of a server that has just opened a large world.

package handlers_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// slowestFirsts is the number of slowest answers to print.
const slowestFirsts = 12

// asked is a request with the name of its operation or method, and the time its response took.
type asked struct {
	name string
	ask  request
	took time.Duration
}

// firsts sends the example of each operation and method once to a server that has just opened a large world. Two more servers each answer one of the
// documents. The times include everything that must be derived first.
func (r *report) firsts() {
	p := r.serveLarge()
	examples := append(r.operations(p), r.methods(p)...)
	p.stop()
	answered := r.askOnce(examples)
	for _, document := range []string{"/openapi.json", "/openrpc.json"} {
		answered = append(answered, r.askOnce([]asked{{name: document, ask: request{http.MethodGet, document, ""}}})...)
	}
	slices.SortStableFunc(answered, func(a, b asked) int { return cmp.Compare(b.took, a.took) })
	limit := budget("any first answer of a large world")
	r.table("large, first time asked\tms\tbudget", func(row func(string, ...any)) {
		row("median of %d\t%.1f\t%s", len(answered), milliseconds(answered[len(answered)/2].took), limit)
		for _, a := range answered[:slowestFirsts] {
			row("%.70s\t%.1f\t%s", a.name, milliseconds(a.took), limit)
		}
	})
}

func (r *report) serveLarge() *process {
	return r.serve("--profile", "large", "--db", r.world("large"), "--read-only")
}

// askOnce sends each request to a server that has just started. It skips requests that would change the world.
func (r *report) askOnce(all []asked) (answered []asked) {
	p := r.serveLarge()
	defer p.stop()
	for _, a := range all {
		begin := time.Now()
		got, err := p.once(a.ask)
		if a.took = time.Since(begin); err == nil && !bytes.Contains(got.Body[:min(len(got.Body), 100)], []byte(`"error":{`)) {
			answered = append(answered, a)
		}
	}
	return answered
}

// operations returns the examples of the OpenAPI document, except endless streams.
func (r *report) operations(p *process) (all []asked) {
	type content map[string]struct {
		Examples map[string]struct{ Value any }
	}
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string
			Parameters  []struct {
				Name, In string
				Example  any
			}
			RequestBody struct{ Content content }
			Responses   map[string]struct{ Content content }
		}
	}
	body, _, _ := r.load(p, "/openapi.json")
	if err := json.Unmarshal(body, &document); err != nil {
		r.b.Fatal(err)
	}
	for path, operations := range document.Paths {
		for method, o := range operations {
			target, query := path, url.Values{}
			for _, parameter := range o.Parameters {
				switch {
				case parameter.In == "path":
					target = strings.Replace(target, "{"+parameter.Name+"}", url.PathEscape(text(parameter.Example)), 1)
				case parameter.Example != nil:
					query.Set(parameter.Name, text(parameter.Example))
				}
			}
			f := asked{o.OperationID, request{strings.ToUpper(method), target + "?" + query.Encode(), ""}, 0}
			for _, example := range o.RequestBody.Content["application/json"].Examples {
				f.ask.body = text(example.Value)
			}
			if _, endless := o.Responses["200"].Content["text/event-stream"]; !endless {
				all = append(all, f)
			}
		}
	}
	slices.SortFunc(all, func(a, b asked) int { return cmp.Compare(a.name, b.name) })
	return all
}

// methods returns the examples of the OpenRPC document.
func (r *report) methods(p *process) (all []asked) {
	var document struct {
		Methods []struct {
			Name           string
			ParamStructure string
			Servers        []struct{ Name string }
			Examples       []struct {
				Params []struct {
					Name  string
					Value any
				}
			}
		}
	}
	body, _, _ := r.load(p, "/openrpc.json")
	if err := json.Unmarshal(body, &document); err != nil {
		r.b.Fatal(err)
	}
	for _, m := range document.Methods {
		if len(m.Examples) == 0 {
			continue
		}
		listed, named := []any{}, map[string]any{}
		for _, parameter := range m.Examples[0].Params {
			listed, named[parameter.Name] = append(listed, parameter.Value), parameter.Value
		}
		var params any = listed
		if m.ParamStructure == "by-name" {
			params = named
		}
		body := text(map[string]any{"jsonrpc": "2.0", "id": 1, "method": m.Name, "params": params})
		all = append(all, asked{m.Name, request{http.MethodPost, m.Servers[0].Name, body}, 0})
	}
	return all
}
