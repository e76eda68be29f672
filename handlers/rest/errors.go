package rest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"snowglobe/fixtures/spelling"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

// Error is a failure that the client sees: a status, and sentences that it can act on.
type Error struct {
	Status   int
	Problems []string
	header   http.Header
	name     string // of the status, where it differs from net/http's
}

// Error joins the sentences.
func (e *Error) Error() string { return strings.Join(e.Problems, "; ") }

// ErrorAnswer is the body of every unsuccessful response.
type ErrorAnswer struct {
	Message    Message `json:"message" doc:"The error; an array where the interface allows one."`
	Error      string  `json:"error" doc:"The name of the status."`
	StatusCode int     `json:"statusCode" doc:"The HTTP status."`
}

// Message is one sentence, or several as an array.
type Message struct {
	Sentences []string
	Array     bool
}

func (m Message) MarshalJSON() ([]byte, error) {
	if m.Array {
		return json.Marshal(m.Sentences)
	}
	return json.Marshal(strings.Join(m.Sentences, "; "))
}

// Schema allows both forms.
func (Message) Schema(*schema.Schemas) *schema.Schema {
	return &schema.Schema{AnyOf: []*schema.Schema{{Type: "string"}, {Type: "array", Items: &schema.Schema{Type: "string"}}}}
}

// mostProblems bounds the sentences about one request.
const mostProblems = 100

// BadRequest lists the problems of a request: the parameter, the bad value and the allowed ones. If there are very many, it lists the
// first.
func BadRequest(problems ...string) *Error {
	if len(problems) > mostProblems {
		problems = append(problems[:mostProblems:mostProblems], "and more of that kind")
	}
	return &Error{Status: http.StatusBadRequest, Problems: problems}
}

// NotFound reports that something does not exist.
func NotFound(format string, args ...any) *Error {
	return sentence(http.StatusNotFound, fmt.Sprintf(format, args...))
}

// Unauthorized reports that an API key is missing or unknown.
func Unauthorized(text string) *Error { return sentence(http.StatusUnauthorized, text) }

// Forbidden reports why a known client may not do this.
func Forbidden(text string) *Error { return sentence(http.StatusForbidden, text) }

// Conflict reports that the world's state does not allow the request.
func Conflict(text string) *Error { return sentence(http.StatusConflict, text) }

// Unavailable reports that a request cannot be answered now.
func Unavailable(text string) *Error { return sentence(http.StatusServiceUnavailable, text) }

// Starting reports that something cannot be answered yet, and in how many seconds to retry.
func Starting(text string, seconds int) *Error {
	e := Unavailable(text)
	e.header = http.Header{"Retry-After": {strconv.Itoa(seconds)}}
	return e
}

// Refuse answers a request that no server takes, in the words of its interface; answer is nil for the REST interfaces.
func Refuse(w http.ResponseWriter, e *Error, answer any) {
	h := w.Header()
	maps.Copy(h, e.header)
	h["Access-Control-Allow-Origin"], h["Access-Control-Expose-Headers"] = anyOrigin, exposed
	h["X-Content-Type-Options"] = nosniff
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	if answer == nil {
		answer = e.answer(false)
	}
	body, err := json.Marshal(answer)
	if err != nil {
		body = []byte("{}")
	}
	w.WriteHeader(e.Status)
	_, _ = w.Write(body) // the client has gone
}

// TooMany tells the client to wait a number of seconds.
func TooMany(text string, seconds int64) *Error {
	e := sentence(http.StatusTooManyRequests, fmt.Sprintf("%s: try again in %d seconds", text, seconds))
	e.header = http.Header{"Retry-After": {strconv.FormatInt(seconds, 10)}}
	return e
}

func tooMuchHead(most int) *Error {
	return sentence(http.StatusRequestHeaderFieldsTooLarge, fmt.Sprintf("the path, query and headers are larger than %d bytes", most))
}

// headSize returns the size of the request before its body, without line ends.
func headSize(r *http.Request) int {
	size := len(r.RequestURI)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value)
		}
	}
	return size
}

func unsupportedMedia(got string) *Error {
	return sentence(http.StatusUnsupportedMediaType,
		fmt.Sprintf("content-type %q is not supported: expected application/json", schema.Shorten(got)))
}

func methodNotAllowed(method, path, allow string) *Error {
	e := sentence(http.StatusMethodNotAllowed, fmt.Sprintf("Cannot %s %s: allowed are %s", method, path, allow))
	e.header = http.Header{"Allow": {allow}}
	return e
}

func sentence(status int, text string) *Error {
	return &Error{Status: status, Problems: []string{text}}
}

// fail sends an error to the client.
func (c *requestContext) fail(e *Error, array bool) {
	if c.dialect == schema.Upstream {
		e = e.upstream(c.request)
	}
	h := c.Header()
	maps.Copy(h, e.header)
	if err := c.send(c.request, e.Status, e.answer(array)); err != nil {
		c.server.opts.Log.Error("sending an error failed", "id", c.id, "err", err)
	}
}

// asError converts a handler's error to one that the client may see. Anything but an Error or a world that refuses to change is the
// simulator's own failure, so it is logged and the client learns only where to look.
func (c *requestContext) asError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	switch {
	case errors.Is(err, store.ErrReadOnly):
		return Forbidden(store.ErrReadOnly.Error())
	case errors.Is(err, store.ErrDisk):
		return Unavailable(store.ErrDisk.Error())
	case c.request.Context().Err() != nil:
		return Unavailable("the client closed the connection before the response was ready")
	case sim.Overtaken(c.request.Context()):
		return Starting("the world was reverted during this request: try again", 1)
	}
	c.server.opts.Log.Error("request failed", "id", c.id, "operation", c.operation(), "err", err)
	return c.failure()
}

// failure returns all that a client learns about an internal failure.
func (c *requestContext) failure() *Error {
	return sentence(http.StatusInternalServerError, "the simulator failed; its log has the cause under request id "+c.id)
}

// answer makes the body of the error.
func (e *Error) answer(array bool) ErrorAnswer {
	name := cmp.Or(e.name, http.StatusText(e.Status))
	return ErrorAnswer{
		Message:    Message{Sentences: e.Problems, Array: array && e.Status == http.StatusBadRequest},
		Error:      name,
		StatusCode: e.Status,
	}
}

// upstream renders the error as NestJS, the live service's framework, does: a path without the method does not exist, and the framework has
// its own words for large requests.
func (e *Error) upstream(r *http.Request) *Error {
	switch e.Status {
	case http.StatusMethodNotAllowed:
		return cannot(r.Method, r.RequestURI)
	case http.StatusRequestEntityTooLarge:
		return &Error{Status: e.Status, Problems: []string{"request entity too large"}, name: "Payload Too Large"}
	}
	return e
}

// cannot reports that a path has no such method; NestJS includes the query.
func cannot(method, path string) *Error {
	return NotFound("Cannot %s %s", method, schema.Shorten(path))
}

// manyNear is the largest number of equally close operations to suggest.
const manyNear = 3

// suggest finds the operations whose paths are closest to an unknown one, with the client's own values filled in. It returns none if none
// is close or too many are.
func (t *routes) suggest(method, path string, as func(path string) string) string {
	requested := strings.Split(strings.Trim(path, "/"), "/")
	if len(path) > 1024 {
		return ""
	}
	var least []int
	var texts []string
	for _, e := range t.sorted() {
		for _, segments := range e.template.fitted(requested) {
			near, letters, ok := e.corrected(segments)
			if !ok {
				continue
			}
			allowed, methods := e.nearestMethod(method), 0
			if allowed != method {
				methods = 1
			}
			text := allowed + " " + as("/"+strings.Join(near, "/"))
			longer := len(segments) - len(requested)
			distance := []int{max(longer, -longer), letters, methods}
			if c := slices.Compare(distance, least); least == nil || c < 0 {
				least, texts = distance, []string{text}
			} else if c == 0 && !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	if len(texts) > manyNear {
		return ""
	}
	return strings.Join(texts, " or ")
}

// fitted returns the ways to give a path as many segments as the template: by inserting one of the template's, or by removing one.
func (t template) fitted(requested []string) (all [][]string) {
	switch len(t) - len(requested) {
	case 0:
		return [][]string{requested}
	case 1:
		for i, s := range t {
			all = append(all, slices.Insert(slices.Clone(requested), i, s.text))
		}
	case -1:
		for i := range requested {
			all = append(all, slices.Delete(slices.Clone(requested), i, i+1))
		}
	}
	return all
}

// corrected returns a path with the template's literals and the number of wrong letters. ok is false if a literal is a different word, or a
// variable's value does not fit its parameter.
func (e *endpoint) corrected(segments []string) (path []string, letters int, ok bool) {
	for i, s := range e.template {
		text := segments[i]
		switch {
		case text == s.text:
		case s.name != "":
			value, found := strings.CutSuffix(text, s.literal)
			if _, ok := e.ops[0].param(s.name).rule.Parse(value); !found || !ok {
				return nil, 0, false
			}
		default:
			wrong, near := spelling.Near(text, s.literal)
			if !near {
				return nil, 0, false
			}
			text, letters = s.literal, letters+wrong
		}
		path = append(path, text)
	}
	return path, letters, true
}

// nearestMethod returns the requested method if the path has it.
func (e *endpoint) nearestMethod(method string) string {
	if e.operation(method) != nil {
		return method
	}
	return e.ops[0].Method
}

// OperationNames lists the ids of all operations and the JSON-RPC methods of mounted handlers.
func (s *Server) OperationNames() []string {
	s.name.Do(func() {
		for _, e := range s.Endpoints() {
			s.names = append(s.names, e.Operations...)
		}
		slices.Sort(s.names)
		s.names = slices.Compact(s.names)
	})
	return s.names
}
