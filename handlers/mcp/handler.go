package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"snowglobe/handlers/docs"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
)

// Path is where a world serves the protocol.
const Path = "/mcp"

const (
	mostBody   = 1 << 20          // bytes of a request
	mostValues = 20_000           // in a request; a decoded value takes a hundred times the memory of its text
	mostAtOnce = 16               // requests under way
	readTime   = 30 * time.Second // for a client to take its response
)

// Options configures a Handler.
type Options struct {
	API     http.Handler // serves all interfaces of a world
	Permit  *permit.Rule
	Manual  *docs.Manual
	Version string
	Log     *slog.Logger
}

// Handler serves the protocol over HTTP.
type Handler struct {
	options Options
	slots   chan struct{}
	index   *index
	serve   http.Handler
}

// NewHandler returns the handler of a world.
func NewHandler(o Options) *Handler {
	h := &Handler{options: o, slots: make(chan struct{}, mostAtOnce), index: &index{manual: o.Manual}}
	h.serve = sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		return newServer(&world{asker: &inside{o.API, r}, index: h.index}, o.Version, o.Log)
	}, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: mostBody, Logger: slog.New(slog.DiscardHandler),
		DisableLocalhostProtection: true, // it goes by the Host header; CheckPage checks the origin of pages, as for every other interface
	})
	return h
}

// Endpoints lists the handler's only endpoint.
func (h *Handler) Endpoints() []rest.Endpoint {
	return []rest.Endpoint{{Interface: rest.Sim.Name, Methods: []string{http.MethodPost}, Paths: []string{Path}, Operations: []string{}}}
}

// ServeHTTP answers one message. It refuses pages that may not control the world, whichever tool they call.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h.options.Permit.CheckPage(r, permit.Control); err != nil {
		rest.Refuse(w, rest.Forbidden(err.Error()), nil)
		return
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		w.Header().Set("Access-Control-Allow-Origin", origin)
		w.Header().Set("Vary", "Origin")
	}
	switch r.Method {
	case http.MethodOptions:
		w.Header().Set("Access-Control-Allow-Methods", http.MethodPost)
		w.Header().Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
		w.WriteHeader(http.StatusNoContent)
		return
	case http.MethodPost:
	default:
		w.Header().Set("Allow", "POST, OPTIONS")
		rest.Refuse(w, &rest.Error{Status: http.StatusMethodNotAllowed, Problems: []string{"the protocol's messages come by POST; there are no sessions and no streams"}}, nil)
		return
	}
	body, problem := readMessage(w, r)
	if problem != nil {
		rest.Refuse(w, problem, nil)
		return
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	default:
		rest.Refuse(w, rest.Starting("too many requests of the protocol are running: try again", 1), nil)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	deadlines := http.NewResponseController(w) // test writers have no deadlines
	_ = errors.Join(deadlines.SetReadDeadline(time.Time{}), deadlines.SetWriteDeadline(time.Time{}))
	answer := &recorder{Recorder: rest.NewRecorder()}
	h.serve.ServeHTTP(answer, r)
	maps.Copy(w.Header(), answer.Header())
	_ = deadlines.SetWriteDeadline(time.Now().Add(readTime))
	w.WriteHeader(answer.Status)
	_, _ = w.Write(answer.Body.Bytes()) // the client may be gone
}

// readMessage reads a message within bounds. The library's own parser doesn't bound the depth.
func readMessage(w http.ResponseWriter, r *http.Request) ([]byte, *rest.Error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	var large *http.MaxBytesError
	text := bytes.TrimSpace(body)
	switch {
	case errors.As(err, &large):
		return nil, &rest.Error{Status: http.StatusRequestEntityTooLarge, Problems: []string{"the body is larger than 1 MiB"}}
	case err != nil:
		return nil, rest.BadRequest("the body is incomplete")
	case len(text) > 0 && text[0] == '[':
		return nil, rest.BadRequest("the protocol has no batches since 2025-06-18")
	case !json.Valid(text):
		return nil, rest.BadRequest("the body is not JSON")
	case bytes.Count(text, []byte{','}) > mostValues || depth(text) > mostDepth:
		return nil, rest.BadRequest("the body has too many values or is nested too deeply")
	}
	return text, nil
}

const mostDepth = 100

// depth returns the nesting depth of a JSON text.
func depth(text []byte) (most int) {
	now, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			most = max(most, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return most
}
