package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// tool is one action that agents can take.
type tool struct {
	name, title, doc string
	reads            bool // changes nothing
	undoes           bool // may destroy something
	lasts            bool // takes as long as it needs
	arguments        reflect.Type
	run              func(ctx context.Context, w *world, arguments any) (string, error)

	schema func() (*jsonschema.Schema, *jsonschema.Resolved)
}

// newTool declares a tool. The type of its arguments gives their names in JSON, and their meaning in the tag jsonschema.
func newTool[In any](name, title, doc string, run func(context.Context, *world, *In) (string, error)) tool {
	t := tool{name: name, title: title, doc: doc, arguments: reflect.TypeFor[In](),
		run: func(ctx context.Context, w *world, arguments any) (string, error) {
			return run(ctx, w, arguments.(*In))
		}}
	t.schema = sync.OnceValues(func() (*jsonschema.Schema, *jsonschema.Resolved) {
		s, err := jsonschema.For[In](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
			reflect.TypeFor[object](): {Type: "object"}, reflect.TypeFor[value](): {},
		}})
		var resolved *jsonschema.Resolved
		if err == nil {
			resolved, err = s.Resolve(nil)
		}
		if err != nil {
			panic(fmt.Sprintf("tool %s: %v", name, err)) // a test lists all tools
		}
		return s, resolved
	})
	return t
}

// object and value are JSON as the agent wrote it, which keeps every digit of numbers.
type (
	object struct{ json.RawMessage }
	value  struct{ json.RawMessage }
)

// reading marks a tool that changes nothing.
func reading(t tool) tool {
	t.reads = true
	return t
}

// undoing marks a tool that may destroy something.
func undoing(t tool) tool {
	t.undoes = true
	return t
}

// lasting marks a tool that takes as long as it needs.
func lasting(t tool) tool {
	t.lasts = true
	return t
}

// posting runs a tool that sends its arguments to a path.
func posting[In any](path string) func(context.Context, *world, *In) (string, error) {
	return func(ctx context.Context, w *world, in *In) (string, error) {
		return w.send(ctx, http.MethodPost, path, in)
	}
}

func (t *tool) tool() *sdk.Tool {
	schema, _ := t.schema()
	return &sdk.Tool{Name: t.name, Title: t.title, Description: t.doc, InputSchema: schema,
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: t.reads, DestructiveHint: &t.undoes, OpenWorldHint: new(bool)}}
}

// call checks the arguments and runs the tool.
func (t *tool) call(ctx context.Context, w *world, raw json.RawMessage) (string, error) {
	if len(bytes.TrimSpace(raw)) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	schema, resolved := t.schema()
	raw = quoted(raw, schema)
	var loose any
	if err := json.Unmarshal(raw, &loose); err != nil {
		return "", fmt.Errorf("the arguments are not JSON: %w", err)
	}
	if err := resolved.Validate(loose); err != nil {
		return "", fmt.Errorf("the arguments of %s do not match its schema: %w", t.name, err)
	}
	arguments := reflect.New(t.arguments).Interface()
	if err := json.Unmarshal(raw, arguments); err != nil {
		return "", fmt.Errorf("the arguments of %s do not match its schema: %w", t.name, err)
	}
	if !t.lasts {
		var cancel context.CancelFunc
		ctx, cancel = within(ctx)
		defer cancel()
	}
	return t.run(ctx, w, arguments)
}

// quoted turns numbers into strings where the schema wants strings: agents write amounts and chain ids either way.
func quoted(raw json.RawMessage, s *jsonschema.Schema) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return raw
	}
	for name, member := range members {
		if p := s.Properties[name]; p != nil && p.Type == "string" && (member[0] == '-' || member[0] >= '0' && member[0] <= '9') {
			members[name] = json.RawMessage(`"` + string(member) + `"`)
		}
	}
	if again, err := json.Marshal(members); err == nil {
		return again
	}
	return raw
}

// refusal is the response of an interface that refuses a request.
type refusal struct {
	status int
	text   string
}

func (e *refusal) Error() string { return e.text }

// request makes a request and returns the body of a success.
func (w *world) request(ctx context.Context, method, path, accept string, body []byte) (string, error) {
	status, answer, err := w.ask(ctx, method, path, accept, body)
	if err != nil {
		return "", err
	}
	if status >= http.StatusBadRequest {
		told := struct{ Message any }{}
		if json.Unmarshal(answer, &told) == nil && told.Message != nil {
			return "", &refusal{status, fmt.Sprintf("%d: %v", status, told.Message)}
		}
		return "", &refusal{status, fmt.Sprintf("%d: %s", status, strings.TrimSpace(string(answer)))}
	}
	if status == http.StatusNoContent {
		return "{}", nil
	}
	return string(answer), nil
}

// within bounds the time of a call that should be quick.
func within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, patience, context.DeadlineExceeded)
}

// get reads a path.
func (w *world) get(ctx context.Context, path string) (string, error) {
	return w.request(ctx, http.MethodGet, path, "", nil)
}

// send sends a value to a path and returns the response.
func (w *world) send(ctx context.Context, method, path string, body any) (string, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	return w.request(ctx, method, path, "", raw)
}

// rpc calls a JSON-RPC method and returns its result.
func (w *world) rpc(ctx context.Context, path, method string, params json.RawMessage) (string, error) {
	if len(params) == 0 {
		params = json.RawMessage("[]")
		if strings.Contains(method, ".") { // services of avalanchego take an object
			params = json.RawMessage("{}")
		}
	}
	text, err := w.send(ctx, http.MethodPost, path, map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return "", err
	}
	var answer struct {
		Result json.RawMessage
		Error  json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return "", fmt.Errorf("the response is not JSON-RPC: %.300s", text)
	}
	if len(answer.Error) > 0 && string(answer.Error) != "null" {
		return "", errors.New("JSON-RPC error: " + string(answer.Error))
	}
	return string(answer.Result), nil
}
