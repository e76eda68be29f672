package journal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Summary describes an exchange in a list.
type Summary struct {
	ID         int64          `json:"id" doc:"Counts from 1 at the server's start."`
	Time       string         `json:"time" doc:"Wall-clock time of the request, RFC 3339."`
	World      string         `json:"world" doc:"The world that served it."`
	Client     string         `json:"client" doc:"The client's address."`
	UserAgent  string         `json:"userAgent,omitempty"`
	RequestID  string         `json:"requestId,omitempty" doc:"The response's X-Request-Id."`
	Interface  string         `json:"interface" doc:"data, metrics, node, etherscan, sourcify or sim; webhook for requests that the server itself sent."`
	Operation  string         `json:"operation" doc:"Id of the operation, the JSON-RPC method, or batch; empty for an unknown path."`
	Method     string         `json:"method" doc:"HTTP method."`
	WebSocket  bool           `json:"websocket,omitempty" doc:"Whether it was a WebSocket message."`
	URL        string         `json:"url,omitempty" doc:"The URL as the client requested it, if it named a host of the real network (--as-network)."`
	Path       string         `json:"path"`
	Query      string         `json:"query,omitempty"`
	Parameters map[string]any `json:"parameters,omitempty" doc:"Parameters in the path, the query and a JSON body, as the client sent them."`
	Calls      []Call         `json:"calls,omitempty" doc:"The JSON-RPC calls: one, or the members of a batch."`
	Status     int            `json:"status" doc:"HTTP status; 0 if the connection ended before the server sent one."`
	Duration   float64        `json:"durationMs" doc:"Milliseconds."`
	Bytes      int64          `json:"bytes" doc:"Bytes of the response's body."`
	Cause      string         `json:"cause,omitempty" doc:"Why it failed."`
	Fault      string         `json:"fault,omitempty" doc:"The fault that applied."`

	host string // without the port, in lower case
}

// Call is a JSON-RPC call with its outcome.
type Call struct {
	Method string     `json:"method"`
	Params any        `json:"params,omitempty"`
	Error  *CallError `json:"error,omitempty"`

	Decoded string   `json:"decoded,omitempty" doc:"The contract's function with its arguments, if an artifact or a standard has it."`
	Console []string `json:"console,omitempty" doc:"What contracts logged with console.log."`
	Stack   []string `json:"stack,omitempty" doc:"The contract functions that failed, innermost first, if artifacts know them."`
}

// CallError is the JSON-RPC error of a call.
type CallError struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
}

// Detail describes an exchange completely.
type Detail struct {
	Summary
	RequestHeaders  map[string][]string `json:"requestHeaders"`
	RequestBody     string              `json:"requestBody,omitempty" doc:"The first 16 KiB."`
	RequestBytes    int64               `json:"requestBytes" doc:"Bytes of the request's body."`
	ResponseHeaders map[string][]string `json:"responseHeaders"`
	ResponseBody    string              `json:"responseBody,omitempty" doc:"The first 16 KiB, without compression."`
	Curl            string              `json:"curl" doc:"The same request as a command line, without secrets."`
}

// Summarize summarises an exchange.
func (j *Journal) Summarize(e *Exchange) *Summary {
	r := j.redactorOf(e)
	request := r.request(e)
	path, query, _ := strings.Cut(e.Target, "?")
	host, _, err := net.SplitHostPort(e.Client)
	if err != nil {
		host = e.Client
	}
	s := &Summary{
		ID: e.ID, Time: e.Time.UTC().Format(time.RFC3339Nano), World: e.World, Client: host, UserAgent: r.text(e.RequestHeader.Get("User-Agent")),
		RequestID: e.RequestID, Interface: e.Interface, Operation: e.Operation, Method: e.Method, WebSocket: e.WebSocket,
		Path: r.text(path), Query: r.query(query), Status: e.Status, Bytes: e.Answer.Size, Fault: e.Fault,
		Duration: float64(e.Took.Microseconds()) / 1000,
	}
	s.host = HostName(e.Host)
	s.URL = realURL(e.Scheme, e.Host, s)
	if s.Calls = r.shown(e.Calls); len(s.Calls) == 0 {
		s.Parameters = e.parameters(r, request)
	}
	s.Cause = r.text(e.cause(e.Calls))
	return s
}

// HostName returns a host without its port, in lower case.
func HostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(host)
}

// realURL returns the URL of a request for a host of the real network, without secrets; "" for any other request.
func realURL(scheme, host string, s *Summary) string {
	if scheme == "" {
		return ""
	}
	if s.WebSocket {
		scheme = "ws" + strings.TrimPrefix(scheme, "http")
	}
	url := scheme + "://" + host + s.Path
	if s.Query != "" {
		url += "?" + s.Query
	}
	return url
}

// Describe describes an exchange completely.
func (j *Journal) Describe(e *Exchange) *Detail {
	r := j.redactorOf(e)
	d := &Detail{Summary: *j.Summarize(e), RequestBytes: e.Request.Size,
		RequestHeaders: r.headers(e.RequestHeader), ResponseHeaders: r.headers(e.AnswerHeader),
		RequestBody: r.request(e), ResponseBody: r.body(e.Answer.Kept)}
	d.Curl = curl(cmp.Or(e.Scheme, "http"), e.Host, d)
	return d
}

// parameters collects a request's parameters from the path, by the operation's template, from the query, and from a body that is a JSON
// object.
func (e *Exchange) parameters(r redactor, body string) map[string]any {
	p := map[string]any{}
	if json.Unmarshal([]byte(body), &p) != nil || p == nil {
		p = map[string]any{}
	}
	if e.URL == nil {
		return p
	}
	query, _ := url.ParseQuery(r.query(e.URL.RawQuery)) // a malformed query has no parameters
	for name, values := range query {
		if p[name] = values; len(values) == 1 {
			p[name] = values[0]
		}
	}
	for name, value := range PathVariables(e.Template, e.URL.Path) {
		p[name] = r.text(value)
	}
	return p
}

// PathVariables extracts the parts of a path that an operation's template names.
func PathVariables(template, path string) map[string]string {
	names, values := strings.Split(strings.Trim(template, "/"), "/"), strings.Split(strings.Trim(path, "/"), "/")
	if len(names) != len(values) {
		return nil
	}
	vars := map[string]string{}
	for i, text := range names {
		if name, literal, found := strings.Cut(text, "}"); found && strings.HasPrefix(name, "{") {
			vars[name[1:]] = strings.TrimSuffix(values[i], literal)
		}
	}
	return vars
}

// shown returns the calls of an exchange.
func (r redactor) shown(records []CallRecord) (all []Call) {
	for i := range records {
		c := &records[i]
		if c.Method == "" && c.Error == nil {
			continue // not a call
		}
		shown := Call{Method: r.text(c.Method), Error: c.Error}
		if c.Params != nil {
			_ = json.Unmarshal([]byte(r.params(c)), &shown.Params) // they are JSON
		}
		if r.decode != nil && c.Params != nil {
			shown.Decoded = r.text(r.decode(c.Method, c.Params))
		}
		shown.Console, shown.Stack = c.Console, c.Stack
		all = append(all, shown)
	}
	return all
}

// cause returns the sentence that rejected a request, or the errors of its calls.
func (e *Exchange) cause(calls []CallRecord) string {
	var causes []string
	for _, c := range calls {
		if c.Error != nil {
			causes = append(causes, fmt.Sprintf("%d %s", c.Error.Code, c.Error.Message))
		}
	}
	if len(causes) > 0 || e.Status < http.StatusBadRequest {
		return strings.Join(causes, "; ")
	}
	var refused struct {
		Message any `json:"message"`
	}
	if json.Unmarshal(e.Answer.Kept, &refused) == nil {
		switch m := refused.Message.(type) {
		case string:
			return m
		case []any:
			for _, sentence := range m {
				causes = append(causes, fmt.Sprint(sentence))
			}
			return strings.Join(causes, "; ")
		}
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(e.Answer.Kept)), "\n")
	return line[:min(len(line), 200)]
}

// ownHeaders lists headers that curl sends by itself or that belong to one connection.
var ownHeaders = []string{"Accept-Encoding", "Connection", "Content-Length", "Host", "Sec-Websocket-Key", "Sec-Websocket-Version", "Sec-Websocket-Extensions", "Upgrade"}

// curl returns a command line that sends the same request.
func curl(scheme, host string, d *Detail) string {
	target := d.Path
	if d.Query != "" {
		target += "?" + d.Query
	}
	if d.WebSocket {
		return "printf '%s\\n' " + quote(d.RequestBody) + " | websocat " + quote("ws"+strings.TrimPrefix(scheme, "http")+"://"+host+target)
	}
	line := "curl"
	if d.Method != http.MethodGet {
		line += " -X " + d.Method
	}
	line += " " + quote(scheme+"://"+host+target)
	for _, name := range slices.Sorted(maps.Keys(d.RequestHeaders)) {
		if slices.Contains(ownHeaders, name) {
			continue
		}
		for _, value := range d.RequestHeaders[name] {
			line += " -H " + quote(strings.ToLower(name)+": "+value)
		}
	}
	if d.RequestBody != "" {
		line += " --data-raw " + quote(d.RequestBody)
	}
	return line
}

// quote quotes a text as a shell word.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Outcome returns what the log adds to an exchange's status: the calls of a batch with their errors, and the cause of a rejection.
func (j *Journal) Outcome(e *Exchange) (members []string, cause string) {
	if e.Operation != "batch" {
		if e.Status < http.StatusBadRequest && (len(e.Calls) == 0 || e.Calls[0].Error == nil) {
			return nil, "" // most requests succeed
		}
		r := j.redactorOf(e)
		return nil, r.text(e.cause(e.Calls))
	}
	r := j.redactorOf(e)
	for i := range e.Calls {
		c := &e.Calls[i]
		text := r.text(c.Method)
		if c.Error != nil {
			text = strings.TrimPrefix(fmt.Sprintf("%s: %d %s", text, c.Error.Code, r.text(c.Error.Message)), ": ")
		}
		members = append(members, text[:min(len(text), 300)])
	}
	return members, ""
}

// Query returns an exchange's query without secrets.
func (j *Journal) Query(e *Exchange) string {
	_, query, found := strings.Cut(e.Target, "?")
	if !found {
		return ""
	}
	return j.redactorOf(e).query(query)
}
