package rest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/gorilla/mux"
	"golang.org/x/sync/errgroup"

	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest/schema"
)

// document is the OpenAPI document of one dialect, built on first use.
type document struct {
	once    sync.Once
	schemas *schema.Schemas // of all operations

	write sync.Once // happens later, because examples are responses, which need the schemas
	json  []byte
	err   error
}

// Example is a request that works in the served world, with its response.
type Example struct {
	Params map[string]any // parameters by name, as in a URL
	Body   any            // of the request
	Answer json.RawMessage
}

// ExampleURL is the base URL of the requests for examples; the document replaces it with its reader's base URL.
const ExampleURL = "http://127.0.0.1:9650"

// Illustrate adds examples to the OpenAPI document: on the first request for the document in a dialect, it calls the function for each
// operation.
func (s *Server) Illustrate(example func(id, method, path string, d schema.Dialect) Example) {
	s.docs.example = example
}

// serverURL stands for this server's base URL in cached documents.
const serverURL = "{server}"

type openAPI struct {
	OpenAPI    string                         `json:"openapi"`
	Info       map[string]string              `json:"info"`
	Servers    []map[string]string            `json:"servers,omitempty"`
	Tags       []map[string]string            `json:"tags,omitempty"`
	Security   []map[string][]string          `json:"security"`
	Paths      map[string]map[string]*apiCall `json:"paths"`
	Components map[string]any                 `json:"components"`
}

type apiCall struct {
	OperationID string              `json:"operationId"`
	Summary     string              `json:"summary,omitempty"`
	Description string              `json:"description,omitempty"`
	Deprecated  bool                `json:"deprecated,omitempty"`
	Tags        []string            `json:"tags"`
	Parameters  []apiParam          `json:"parameters,omitempty"`
	RequestBody *apiBody            `json:"requestBody,omitempty"`
	Responses   map[string]*apiBody `json:"responses"`
}

type apiParam struct {
	Name        string         `json:"name"`
	In          In             `json:"in"`
	Description string         `json:"description,omitempty"`
	Required    bool           `json:"required,omitempty"`
	Schema      *schema.Schema `json:"schema"`
	Example     any            `json:"example,omitempty"`
}

type apiBody struct {
	Description string               `json:"description,omitempty"`
	Required    bool                 `json:"required,omitempty"`
	Content     map[string]*apiMedia `json:"content,omitempty"`
}

// apiMedia is a body of one content type.
type apiMedia struct {
	Schema   *schema.Schema        `json:"schema"`
	Examples map[string]apiExample `json:"examples,omitempty"`
}

type apiExample struct {
	Summary string `json:"summary,omitempty"`
	Value   any    `json:"value"`
}

// inThisWorld is the name of the examples.
const inThisWorld = "inThisWorld"

func (b *apiBody) illustrate(value any) {
	for _, media := range b.Content {
		media.Examples = map[string]apiExample{inThisWorld: {"In this world", value}}
	}
}

// documentation holds the OpenAPI document in every dialect.
type documentation struct {
	routes    *routes
	version   string
	documents map[schema.Dialect]*document
	example   func(id, method, path string, d schema.Dialect) Example
}

func newDocumentation(t *routes, version string) *documentation {
	return &documentation{routes: t, version: cmp.Or(version, "0"), documents: map[schema.Dialect]*document{schema.Spec: {}, schema.Upstream: {}}}
}

// of builds a dialect's document once.
func (d *documentation) of(dialect schema.Dialect) *document {
	doc := d.documents[dialect]
	doc.once.Do(func() {
		doc.schemas = schema.NewSchemas(dialect)
		d.describe(doc.schemas, nil, "")
	})
	return doc
}

func (s *Server) schemas(d schema.Dialect) *schema.Schemas { return s.docs.of(d).schemas }

func (s *Server) serveOpenAPI(w http.ResponseWriter, r *http.Request) {
	c := w.(*requestContext)
	c.Operation = "documentation"
	if c.refuse(r) {
		return
	}
	written, err := s.docs.written(c.dialect, r.URL.Query().Get("operation"))
	if err == nil {
		url, _ := json.Marshal(baseURL(r, c.prefixed)) // strings always encode
		body := bytes.Replace(written, []byte(`"`+serverURL+`"`), url, 1)
		body = bytes.ReplaceAll(body, []byte(ExampleURL), []byte(BaseURL(r)))
		err = c.send(r, http.StatusOK, Raw{Type: "application/json; charset=utf-8", Body: body})
	}
	if err != nil {
		c.fail(c.asError(err), false)
	}
}

// written returns a dialect's document, or its part about one operation.
func (d *documentation) written(dialect schema.Dialect, operation string) ([]byte, error) {
	if operation != "" {
		part := d.describe(schema.NewSchemas(dialect), d.example, operation)
		if len(part.Paths) == 0 {
			return nil, NotFound("there is no operation %.80q", operation)
		}
		return json.Marshal(part)
	}
	doc := d.of(dialect)
	doc.write.Do(func() {
		doc.json, doc.err = json.Marshal(d.describe(doc.schemas, d.example, "")) // which know every type by now
	})
	return doc.json, doc.err
}

// Outline describes an operation in a list.
type Outline struct {
	Interface, ID, Method, Path, Summary string
	Deprecated                           bool
}

// Outlines lists the operations, sorted by path.
func (s *Server) Outlines() []Outline {
	var all []Outline
	for _, e := range s.routes.sorted() {
		for _, op := range e.ops {
			all = append(all, Outline{op.in.Title, op.ID, op.Method, op.Path, op.Summary, op.Deprecated})
		}
	}
	return all
}

// refuse answers everything but reads of a page, and reports whether it did.
func (c *requestContext) refuse(r *http.Request) bool {
	const methods = "GET, HEAD, OPTIONS"
	switch {
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		return false
	case isPreflight(r):
		c.preflight(r, methods)
	case r.Method == http.MethodOptions:
		c.Header().Set("Allow", methods)
		c.WriteHeader(http.StatusNoContent)
	default:
		c.fail(methodNotAllowed(r.Method, c.pathAsSent(r.URL.Path), methods), false)
	}
	return true
}

// describe writes the operations as OpenAPI 3.1: all of them, or the one with an id. It makes examples on all processors.
func (d *documentation) describe(schemas *schema.Schemas, illustrate func(id, method, path string, d schema.Dialect) Example, only string) *openAPI {
	endpoints := d.routes.sorted()
	examples := map[*operation]*Example{}
	var asking errgroup.Group
	asking.SetLimit(runtime.GOMAXPROCS(0))
	for _, e := range endpoints {
		for _, op := range e.ops {
			if only != "" && op.ID != only {
				continue
			}
			example := &Example{}
			if examples[op] = example; illustrate != nil {
				asking.Go(func() error {
					*example = illustrate(op.ID, op.Method, op.Path, schemas.Dialect)
					return nil
				})
			}
		}
	}
	_ = asking.Wait() // the functions never fail
	doc := &openAPI{
		OpenAPI:  "3.1.0",
		Info:     map[string]string{"title": "Snowglobe", "version": d.version, "description": "The " + string(schemas.Dialect) + " dialect."},
		Security: []map[string][]string{{"apiKey": {}}, {"glacierApiKey": {}}, {"rltoken": {}}, {}},
		Servers:  []map[string]string{{"url": serverURL}},
		Paths:    map[string]map[string]*apiCall{},
	}
	for _, in := range d.routes.interfaces() {
		doc.Tags = append(doc.Tags, map[string]string{"name": in.Title, "description": in.Summary})
	}
	for _, e := range endpoints {
		calls := map[string]*apiCall{}
		for _, op := range e.ops {
			if example := examples[op]; example != nil {
				calls[strings.ToLower(op.Method)] = op.describe(schemas, example)
			}
		}
		if len(calls) > 0 {
			doc.Paths[e.path] = calls
		}
	}
	doc.Components = map[string]any{
		"schemas": schemas.Named(),
		"securitySchemes": map[string]any{
			"apiKey":        keyIn("header", "x-service-api-key"),
			"glacierApiKey": keyIn("header", "x-glacier-api-key"),
			"rltoken":       keyIn("query", "rltoken"),
		},
	}
	return doc
}

func keyIn(place, name string) map[string]string {
	return map[string]string{"type": "apiKey", "in": place, "name": name}
}

func (op *operation) describe(d *schema.Schemas, example *Example) *apiCall {
	c := &apiCall{OperationID: op.ID, Summary: op.Summary, Deprecated: op.Deprecated, Tags: []string{op.in.Title}, Responses: map[string]*apiBody{}}
	if op.Spec != "" {
		c.Description = "Specification: " + op.Spec + "."
	}
	if op.Doc != "" {
		c.Description = strings.TrimSpace(c.Description + "\n\n" + op.Doc)
	}
	for _, p := range op.params {
		c.Parameters = append(c.Parameters, apiParam{p.Name, p.In, p.description(), p.Required, p.schema(), p.exampleJSON(example.Params[p.Name])})
	}
	if op.Body != nil {
		c.RequestBody = content("", "application/json", d.Of(op.Body))
		c.RequestBody.Required = true
		if example.Body != nil {
			c.RequestBody.illustrate(example.Body)
		}
	}
	success := op.success(d)
	if example.Answer != nil {
		success.illustrate(example.Answer)
	}
	c.Responses[strconv.Itoa(op.status(d.Dialect))] = success
	failure := d.Of(reflect.TypeFor[ErrorAnswer]())
	for status, description := range op.failures() {
		c.Responses[strconv.Itoa(status)] = content(description, "application/json", failure)
	}
	c.Responses["default"] = content("Any other failure.", "application/json", failure)
	return c
}

// failures lists the statuses of requests rejected before the handler runs, with their meanings.
func (op *operation) failures() map[int]string {
	f := map[int]string{
		http.StatusBadRequest:          "A parameter or the body is not allowed; the message names each problem.",
		http.StatusInternalServerError: "The simulator failed; its log has the cause.",
	}
	if op.in.Limited && !op.Keyless {
		f[http.StatusTooManyRequests] = "This minute's requests are used up; retry-after says when to try again."
	}
	if !op.in.Keyless && !op.Keyless {
		f[http.StatusUnauthorized] = "The request lacks a known API key."
		f[http.StatusForbidden] = "The API key is not for this interface or network."
	}
	if op.Class == permit.Control {
		f[http.StatusForbidden] = strings.TrimSpace(f[http.StatusForbidden] + " Pages of other origins need --allow-origin for this, and a server that listens beyond loopback needs --allow-control.")
	}
	if strings.Contains(op.Path, "{") {
		f[http.StatusNotFound] = "The path names something that does not exist."
	}
	if op.Body != nil {
		f[http.StatusRequestEntityTooLarge] = "The body is too large."
		f[http.StatusUnsupportedMediaType] = "The body is not declared as JSON, or is compressed."
	}
	return f
}

func (op *operation) success(d *schema.Schemas) *apiBody {
	if op.Answer == nil {
		kind := cmp.Or(op.Produces, "application/octet-stream")
		return content("Success.", kind, &schema.Schema{})
	}
	return content("Success.", "application/json", d.Of(op.Answer))
}

func content(description, kind string, s *schema.Schema) *apiBody {
	return &apiBody{Description: description, Content: map[string]*apiMedia{kind: {Schema: s}}}
}

// CheckAnswer checks a response of this server against its own OpenAPI document: a success against the operation's response type, anything
// else against the shape of errors. It is for tests; the body must not be compressed.
func (s *Server) CheckAnswer(r *http.Request, status int, body []byte) error {
	core, throughCore := cutCore(r)
	plain, prefixed := cutPrefix(core)
	d := s.opts.Dialect.choose(r, prefixed || throughCore)
	op := s.find(normalizePath(plain))
	if status >= http.StatusBadRequest {
		return s.compare(d, reflect.TypeFor[ErrorAnswer](), body)
	}
	if op == nil || op.Answer == nil || r.Method == http.MethodHead || status == http.StatusNotModified {
		return nil
	}
	if want := op.status(d); status != want {
		return fmt.Errorf("%s: status is %d: the document says %d", op.ID, status, want)
	}
	if err := s.compare(d, op.Answer, body); err != nil {
		return fmt.Errorf("%s: %w", op.ID, err)
	}
	return nil
}

func (s *Server) find(r *http.Request) *operation {
	var match mux.RouteMatch
	if !s.router().Match(r, &match) {
		return nil
	}
	e, ok := match.Handler.(*endpoint)
	if !ok {
		return nil
	}
	return e.operation(r.Method)
}

func (s *Server) compare(d schema.Dialect, t reflect.Type, body []byte) error {
	var v any
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return fmt.Errorf("response is not JSON: %w", err)
	}
	if problems := s.schemas(d).Check(t, v, true); len(problems) > 0 {
		return fmt.Errorf("response does not fit its schema: %s", strings.Join(problems, "; "))
	}
	return nil
}
