package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// J is a JSON object for a template. Numbers keep all their digits.
type J = map[string]any

// Call is a call of an interface whose response a panel shows.
type Call struct {
	Name   string // under which the template finds the response
	Method string
	Path   string // below the world's base URL, with the query
	Body   string
	RPC    string // the JSON-RPC method, if any
	Params string // its parameters, as JSON

	Optional bool // the page works without a response

	Status int
	Error  string // why there is no response
}

// get makes a call of a REST interface. It escapes each argument as a path segment.
func get(name, format string, args ...any) *Call {
	for i, a := range args {
		if text, ok := a.(string); ok {
			args[i] = url.PathEscape(text)
		}
	}
	return &Call{Name: name, Method: http.MethodGet, Path: fmt.Sprintf(format, args...)}
}

// rpc makes a call of the node.
func rpc(name, path, method string, params ...any) *Call {
	return rpcWith(name, path, method, append([]any{}, params...))
}

// rpcWith takes parameters by position or by name.
func rpcWith(name, path, method string, params any) *Call {
	list, err := json.Marshal(params)
	if err != nil {
		list = []byte("[]") // parameters are strings, numbers and maps of these
	}
	quoted, _ := json.Marshal(method) // strings always encode
	return &Call{Name: name, Method: http.MethodPost, Path: path, RPC: method, Params: string(list),
		Body: `{"jsonrpc":"2.0","id":1,"method":` + string(quoted) + `,"params":` + string(list) + `}`}
}

// opt marks a call that the page can do without.
func (c *Call) opt() *Call {
	c.Optional = true
	return c
}

// query adds a parameter to the path, unless it is empty.
func (c *Call) query(name, value string) *Call {
	if value == "" {
		return c
	}
	separator := "?"
	if strings.Contains(c.Path, "?") {
		separator = "&"
	}
	c.Path += separator + name + "=" + url.QueryEscape(value)
	return c
}

// load makes calls concurrently and stores the responses by name. It returns the first failure of a call that is not optional; the page
// fails with it.
func (p *page) load(calls ...*Call) error {
	answers := make([]any, len(calls))
	var wait sync.WaitGroup
	for i, c := range calls {
		wait.Go(func() { answers[i] = p.site.answer(p, c) })
	}
	wait.Wait()
	for i, c := range calls {
		p.Calls[c.Name], p.Got[c.Name] = c, answers[i]
	}
	for _, c := range calls {
		switch {
		case c.Status == http.StatusUnauthorized:
			return &pageError{c.Status, c.Error}
		case c.Error == "" || c.Optional:
		case c.Status >= 500:
			return fmt.Errorf("%s: %s", c.Path, c.Error)
		default:
			return &pageError{c.Status, c.Error}
		}
	}
	return nil
}

// answer makes one call and returns the decoded response, for JSON-RPC its result.
func (s *Site) answer(p *page, c *Call) any {
	status, body := s.ask(p.r.Context(), p.r, c)
	c.Status = status
	decoded, err := decode(body)
	object, _ := decoded.(J)
	switch {
	case status == http.StatusForbidden && err != nil: // from package node
		c.Error = fmt.Sprintf("the node does not answer at %.200s: use an IP address or localhost, or start the server with --http-allowed-hosts and the name", p.r.Host)
	case status >= 400:
		c.Error = failure(object, status)
	case err != nil:
		c.Status, c.Error = http.StatusBadGateway, "the response is not JSON"
	case c.RPC != "":
		if e, ok := object["error"].(J); ok {
			c.Status, c.Error = http.StatusNotFound, text(e["message"])
		}
		return object["result"]
	default:
		return decoded
	}
	return nil
}

func decode(body []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// failure returns the sentence in the body of an error.
func failure(body J, status int) string {
	switch m := body["message"].(type) {
	case string:
		return m
	case []any:
		lines := make([]string, len(m))
		for i := range m {
			lines[i] = text(m[i])
		}
		return strings.Join(lines, "; ")
	}
	return http.StatusText(status)
}

// text formats a value, nil as "".
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return fmt.Sprint(v)
}

// dig follows member names into nested objects.
func dig(v any, path ...string) any {
	for _, name := range path {
		object, _ := v.(J)
		v = object[name]
	}
	return v
}

// list returns an array of objects; nil for anything else.
func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// API shows the call behind a panel: as curl here, in other languages by the page's script.
func (p *page) API(name string) template.HTML {
	c := p.Calls[name]
	if c == nil {
		return ""
	}
	return show(p.origin, c)
}

func show(origin string, c *Call) template.HTML {
	what := c.Method + " " + c.Path
	if c.RPC != "" {
		what = c.RPC
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<details class="api" data-method="%s" data-path="%s"`, esc(c.Method), esc(c.Path))
	if c.RPC != "" {
		fmt.Fprintf(&b, ` data-rpc="%s" data-params="%s"`, esc(c.RPC), esc(c.Params))
	}
	fmt.Fprintf(&b, `><summary aria-label="The API call: %s">API</summary><div class="api-box"><pre tabindex="0"><code>%s</code></pre></div></details>`,
		esc(what), esc(curl(origin, c)))
	return template.HTML(b.String())
}

func curl(origin string, c *Call) string {
	line := "curl -s '" + origin + strings.ReplaceAll(c.Path, "'", "%27") + "'"
	if c.Body != "" {
		line += " \\\n  -H 'content-type: application/json' \\\n  -d '" + strings.ReplaceAll(c.Body, "'", `'\''`) + "'"
	}
	return line
}
