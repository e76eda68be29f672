package rest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest/schema"
)

// endpoint is a path with its operations by method.
type endpoint struct {
	path     string
	template template
	ops      []*operation
}

func (e *endpoint) add(op *operation) error {
	if e.operation(op.Method) != nil {
		return fmt.Errorf("operation %s: %s %s is declared already", op.ID, op.Method, op.Path)
	}
	e.ops = append(e.ops, op)
	return nil
}

// operation returns a method's operation; HEAD is GET without the body.
func (e *endpoint) operation(method string) *operation {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, op := range e.ops {
		if op.Method == method {
			return op
		}
	}
	return nil
}

// matches replaces the router's own templates. Those are regular expressions, which the router tries one after another: behind 90 of them a
// request takes 50 µs, with this 30.
func (e *endpoint) matches(r *http.Request, found *mux.RouteMatch) (ok bool) {
	found.Vars, ok = e.template.match(r.URL.Path)
	return ok
}

// methods lists the path's methods, among the operations that the client may call.
func (e *endpoint) methods(may func(*operation) bool) string {
	var list []string
	for _, op := range e.ops {
		if !may(op) {
			continue
		}
		if list = append(list, op.Method); op.Method == http.MethodGet {
			list = append(list, http.MethodHead)
		}
	}
	slices.Sort(list)
	return strings.Join(append(list, http.MethodOptions), ", ")
}

// ServeHTTP finds the operation, runs it and sends its response.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	c := w.(*requestContext)
	c.op = e.operation(hr.Method)
	switch {
	case c.op != nil && c.op.in != Sim && c.server.mayFail(hr):
		c.withFault(c.faultOfOperation(hr), hr, c.serve)
	case c.op != nil:
		c.serve(hr)
	case isPreflight(hr):
		if requested := e.operation(hr.Header.Get("Access-Control-Request-Method")); requested != nil && !c.allowed(hr, requested) {
			c.Header().Del("Access-Control-Allow-Origin") // browsers send a POST regardless of the methods
		}
		c.preflight(hr, e.methods(func(op *operation) bool { return c.allowed(hr, op) }))
	case hr.Method == http.MethodOptions:
		c.Header().Set("Allow", e.methods(anyOperation))
		c.WriteHeader(http.StatusNoContent)
	default:
		c.fail(methodNotAllowed(hr.Method, c.pathAsSent(hr.URL.Path), e.methods(anyOperation)), false)
	}
}

func anyOperation(*operation) bool { return true }

func (c *requestContext) serve(hr *http.Request) {
	r, err := c.enter(hr)
	if err == nil {
		err = c.reply(r)
	}
	if err != nil {
		c.fail(c.asError(err), c.op.in.ArrayErrors || c.dialect == schema.Upstream)
	}
}

// enter checks the client, its API key, the parameters and the body before the handler runs, cheapest first.
func (c *requestContext) enter(hr *http.Request) (*Request, error) {
	if err := c.checkClass(hr); err != nil {
		return nil, err
	}
	key, err := c.server.access.authenticate(c.Header(), hr, c.op)
	if err != nil {
		return nil, err
	}
	if err := key.checkInterface(c.op.in); err != nil {
		return nil, err
	}
	c.logIgnored(hr)
	r, err := c.read(hr)
	if err != nil {
		return nil, err
	}
	return r, key.checkNetworks(r)
}

// reply answers a request, from memory if the remembered response is still valid.
func (c *requestContext) reply(r *Request) error {
	status := c.op.status(c.dialect)
	if handle, done, err := c.indexed(r); err != nil || handle != nil {
		if err != nil {
			return err
		}
		defer done()
		answer, err := r.answer(handle)
		if err != nil {
			return err
		}
		return c.send(r.HTTP, status, answer)
	}
	key, lasts := c.cacheKey(r)
	if a, found := c.server.cache.answers.Get(key); lasts && found {
		c.keepAnswer(a, !c.op.Readable)
		c.sendEncoded(r.HTTP, status, c.op.readable(r.HTTP, a.body))
		return nil
	}
	answer, err := c.handle(r)
	if err != nil {
		return err
	}
	if !lasts {
		return c.send(r.HTTP, status, answer)
	}
	return c.sendJSON(r.HTTP, status, answer, func(body []byte) []byte {
		if a := c.server.cache.add(key, body); a.body != nil {
			c.keepAnswer(a, !c.op.Readable)
		}
		return c.op.readable(r.HTTP, body)
	})
}

// readable indents the body on request, and for curl unless curl asks for a certain type.
func (op *operation) readable(r *http.Request, body []byte) []byte {
	if !op.Readable {
		return body
	}
	wants, requested := r.URL.Query()["pretty"]
	accept := r.Header.Get("Accept")
	curl := strings.HasPrefix(r.UserAgent(), "curl/") && (accept == "" || accept == "*/*")
	if requested && wants[0] == "false" || !requested && !curl {
		return body
	}
	var b bytes.Buffer
	if json.Indent(&b, body, "", "  ") != nil {
		return body
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// answerTime bounds the time in which a client may read the response of a slow operation.
const answerTime = 2 * time.Minute

// handle calls the handler. It suspends the server's read and write timeouts while a slow operation works, because they would end its
// context.
func (c *requestContext) handle(r *Request) (any, error) {
	if c.op.Slow {
		deadlines := http.NewResponseController(c.ResponseWriter) // test writers have no deadlines
		_ = errors.Join(deadlines.SetReadDeadline(time.Time{}), deadlines.SetWriteDeadline(time.Time{}))
		defer func() { _ = deadlines.SetWriteDeadline(time.Now().Add(answerTime)) }()
	}
	record := c.server.opts.Record
	if record == nil || c.op.Class == permit.Read {
		return r.answer(c.op.Handle)
	}
	within, done := record(r.Context(), c.op.ID, c.op.Method, r.HTTP.URL.Path, r.raw)
	r.HTTP = r.HTTP.WithContext(within)
	answer, err := r.answer(c.op.Handle)
	done(answer, err != nil)
	return answer, err
}

// read parses the whole request.
func (c *requestContext) read(hr *http.Request) (*Request, error) {
	r := &Request{HTTP: hr, server: c.server, op: c.op, dialect: c.dialect, prefixed: c.prefixed}
	values, given, problems := c.op.parse(hr, c.server.opts.Alias)
	body, raw, wrong, err := c.op.readBody(c, hr)
	if err != nil {
		return nil, err
	}
	r.values, r.given, r.body, r.raw = values, given, body, raw
	problems = slices.Concat(problems, wrong, r.reversed())
	if len(problems) > 0 {
		return nil, BadRequest(problems...)
	}
	// A token is bound to the rest of the query, so it is checked only once the rest is valid.
	token := r.Text("pageToken")
	r.position, err = r.ResumeAt(token)
	r.resumed = token != ""
	return r, err
}

// Endpoint is one thing that the server serves, at one path or several.
type Endpoint struct {
	Interface  string   `json:"interface" doc:"data, metrics, sim or node."`
	Methods    []string `json:"methods" doc:"HTTP methods."`
	Paths      []string `json:"paths" doc:"The endpoint's paths, with {name} for variables."`
	Operations []string `json:"operations" doc:"Names of operations or JSON-RPC methods."`
}

// Lister is a mounted handler that can list its endpoints.
type Lister interface{ Endpoints() []Endpoint }

// pages lists a server's paths other than its operations.
var pages = []string{"/", "/docs", "/llms.txt", "/openapi.json", "/openrpc.json"}

// Endpoints lists everything that the server serves: operations, documentation, and the endpoints of mounted handlers.
func (s *Server) Endpoints() []Endpoint {
	var all []Endpoint
	for _, e := range s.routes.sorted() {
		for _, op := range e.ops {
			all = append(all, Endpoint{op.in.Name, []string{op.Method}, []string{op.Path}, []string{op.ID}})
		}
	}
	slices.SortStableFunc(all, func(a, b Endpoint) int {
		return cmp.Or(cmp.Compare(a.Interface, b.Interface), cmp.Compare(a.Paths[0], b.Paths[0]), cmp.Compare(a.Methods[0], b.Methods[0]))
	})
	all = append(all, Endpoint{Sim.Name, []string{http.MethodGet}, pages, []string{}})
	var listers []Lister
	for _, m := range s.mounts {
		if l, ok := m.handler.(Lister); ok && !slices.Contains(listers, l) {
			listers = append(listers, l)
			all = append(all, l.Endpoints()...)
		}
	}
	return all
}
