package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"runtime/debug"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"snowglobe/handlers/docs"
)

// world is a world as tools see it: its interfaces and their documentation.
type world struct {
	asker
	index *index
}

const instructions = "A whole Avalanche-style network for tests: P-Chain, X-Chain, C-Chain and L1s of two networks, with a generated history in which personas and nodes " +
	"stand for edge cases. Begin with describe_world; find looks for cases and ids; search_documentation finds the operation or method for a task, read_documentation explains it. " +
	"Its time stands still until move_clock moves it. Take a snapshot before you change the world, and revert to it afterwards."

// Serve serves the protocol over streams for the world of the server at a URL, until the input ends and the last calls have their responses, or the
// context is cancelled.
func Serve(ctx context.Context, url string, manual *docs.Manual, version string, log *slog.Logger, in io.ReadCloser, out io.Writer) error {
	s := newServer(&world{asker: &outside{strings.TrimSuffix(url, "/")}, index: &index{manual: manual}}, version, log)
	err := s.Run(ctx, drained{&sdk.IOTransport{Reader: in, Writer: keptOpen{out}, MaxLineLength: mostBody}})
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

// keptOpen keeps the program's output open when the session ends.
type keptOpen struct{ io.Writer }

func (keptOpen) Close() error { return nil }

// newServer makes a server with all tools and resources of a world.
func newServer(w *world, version string, log *slog.Logger) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "snowglobe", Title: "Snowglobe", Version: version}, &sdk.ServerOptions{
		Instructions: instructions, Logger: slog.New(slog.DiscardHandler),
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{}}, // neither list ever changes
	})
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (result sdk.Result, err error) {
			defer func() { // a panic on the library's goroutine would end the process
				if p := recover(); p != nil {
					log.Error("a message of an agent failed", "method", method, "panic", p, "stack", string(debug.Stack()))
					result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the simulator failed; its log has the cause"}
				}
			}()
			if method == "subscriptions/listen" { // it would never end, and there is nothing to announce
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "there are no subscriptions"}
			}
			return next(ctx, method, r)
		}
	})
	for i := range tools {
		t := &tools[i]
		s.AddTool(t.tool(), func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			text, err := t.call(ctx, w, r.Params.Arguments)
			failed := err != nil
			if failed {
				text = err.Error()
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: shorten(text)}}, IsError: failed}, nil
		})
	}
	for _, t := range w.index.manual.Topics() {
		w.addResource(s, &sdk.Resource{URI: scheme + "manual/" + t.Name, Name: t.Name, Title: t.Title, Description: t.Opening(), MIMEType: "text/markdown"}, "/docs/"+t.Name+".md")
	}
	w.addResource(s, &sdk.Resource{URI: scheme + "openapi", Name: "openapi", Title: "OpenAPI", Description: "The Data API, the Metrics API and the simulator's own operations.", MIMEType: "application/json"}, "/openapi.json")
	w.addResource(s, &sdk.Resource{URI: scheme + "openrpc", Name: "openrpc", Title: "OpenRPC", Description: "The node's JSON-RPC, with an example of each method.", MIMEType: "application/json"}, "/openrpc.json")
	for _, kind := range []struct{ name, title, path string }{
		{"operations", "One operation of REST, as OpenAPI", "/openapi.json?operation="}, {"methods", "One JSON-RPC method, as OpenAPI", "/docs/methods/"},
	} {
		s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: scheme + kind.name + "/{name}", Name: kind.name, Title: kind.title, MIMEType: "application/json"},
			func(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				name := strings.TrimPrefix(r.Params.URI, scheme+kind.name+"/")
				return w.read(ctx, r.Params.URI, "application/json", kind.path+url.PathEscape(name))
			})
	}
	return s
}

// scheme starts the URIs of resources.
const scheme = "snowglobe://"

func (w *world) addResource(s *sdk.Server, resource *sdk.Resource, path string) {
	s.AddResource(resource, func(ctx context.Context, _ *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return w.read(ctx, resource.URI, resource.MIMEType, path)
	})
}

// read reads a resource at a path of the world.
func (w *world) read(ctx context.Context, uri, kind, path string) (*sdk.ReadResourceResult, error) {
	ctx, cancel := within(ctx)
	defer cancel()
	text, err := w.get(ctx, path)
	if failed := new(refusal); errors.As(err, &failed) && failed.status == 404 {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	if err != nil {
		return nil, err
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: kind, Text: text}}}, nil
}

// mostText bounds the text of a tool's result, in bytes.
const mostText = 64 << 10

// shorten cuts text that would fill an agent's context.
func shorten(text string) string {
	if len(text) <= mostText {
		return text
	}
	return strings.ToValidUTF8(text[:mostText], "") + fmt.Sprintf("\n… %d bytes more are left out: ask for less, such as with pageSize, a section or a filter", len(text)-mostText)
}
