package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"snowglobe/handlers/fault"
	"snowglobe/handlers/rest"
)

const contentType = "application/json"

type readKey struct{}

// Read reads the calls in a request's body for fault rules, and returns a request that carries them.
func (s *Server) Read(r *http.Request, body []byte) (*http.Request, []fault.Call) {
	if s.tooMuch(body) != "" {
		return r, nil
	}
	request := s.parse(body)
	s.note(r.Context(), request)
	if m := rest.Mounted(r.Context()); m.Recorded {
		m.Calls = request.record()
	}
	return r.WithContext(context.WithValue(r.Context(), readKey{}, request)), request.faultCalls()
}

// ServeHTTP answers a request after reading all of it, within the limit.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, read := r.Context().Value(readKey{}).(*Request)
	if !read {
		body, whole := s.readBody(w, r)
		if !whole {
			return
		}
		request = s.parse(body)
		s.note(r.Context(), request)
	}
	if !s.accepts(w, r, request.body) {
		return
	}
	x := &exchange{Request: request, from: r, faults: fault.Failing(r.Context())}
	m := rest.Mounted(r.Context())
	if m.Recorded {
		x.records = request.record()
	}
	o := s.answer(r.Context(), x)
	m.Calls = x.records
	if !o.empty() {
		s.send(w, r.Context(), o)
	}
}

// note labels a request with its method, and logs each call at the level that shows every call.
func (s *Server) note(ctx context.Context, r *Request) {
	m := rest.Mounted(ctx)
	m.Operation = s.name(r)
	m.Log.Debug("API called", "method", m.Operation)
}

// readBody reads a whole request. If the request is too large or unreadable, readBody has already answered it.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.MaxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		http.Error(w, s.tooLong(r.ContentLength), http.StatusRequestEntityTooLarge)
		return nil, false
	}
	if err != nil {
		http.Error(w, "the request body could not be read", http.StatusBadRequest)
		return nil, false
	}
	rest.Mounted(r.Context()).KeepBody(body)
	if problem := s.tooMuch(body); problem != "" {
		http.Error(w, problem, http.StatusRequestEntityTooLarge)
		return nil, false
	}
	return body, true
}

// tooLong returns the refusal of a body beyond the limit; an EVM chain's has a node's words (avalanchego graft/evm/rpc.Server.validateRequest). The
// length is negative if the client does not say it.
func (s *Server) tooLong(length int64) string {
	if s.counted || length < 0 {
		return fmt.Sprintf("request body too large: the limit is %d bytes", s.MaxBody)
	}
	return fmt.Sprintf("content length too large (%d>%d)", length, s.MaxBody)
}

// tooMuch returns why a body is rejected unread, "" if it is not.
func (s *Server) tooMuch(body []byte) string {
	if int64(len(body)) > s.MaxBody {
		return s.tooLong(int64(len(body)))
	}
	if problem := checkValues(body); problem != "" {
		return problem
	}
	if s.counted {
		return checkTexts(body)
	}
	return ""
}

// send sends an answer.
func (s *Server) send(w http.ResponseWriter, ctx context.Context, o *output) {
	if !o.bare || !s.bare {
		o.text = append(o.text, '\n')
	}
	size, held := o.measure()
	if len(o.segments) > 0 { // one part is written as the client reads
		if err := rest.StreamAnswer(ctx, int64(size), held); err != nil {
			rest.RefuseLarge(w, err)
			return
		}
	}
	w.Header()["Content-Type"] = s.mediaType
	w.Header()["Content-Length"] = []string{strconv.Itoa(size)}
	if len(o.segments) == 0 {
		_, _ = rest.WriteWhole(w, o.text) // the client may be gone
		return
	}
	_ = o.writeTo(ctx, w) // net/http closes the connection if an answer is shorter than announced
}

// accepts answers what go-ethereum's server does not take for calls.
func (*positional) accepts(w http.ResponseWriter, r *http.Request, body []byte) bool {
	switch {
	case r.Method == http.MethodGet && len(body) == 0 && r.URL.RawQuery == "": // health checks
		w.WriteHeader(http.StatusOK)
		return false
	case r.Method == http.MethodPut || r.Method == http.MethodDelete:
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return false
	case r.Method != http.MethodOptions && !isJSON(r.Header.Get("Content-Type")):
		http.Error(w, "invalid content type, only "+contentType+" is supported", http.StatusUnsupportedMediaType)
		return false
	}
	w.Header()["Content-Type"] = plainJSON.mediaType
	return true
}

func isJSON(header string) bool {
	if header == contentType {
		return true
	}
	named, _, err := mime.ParseMediaType(header)
	return err == nil && (named == contentType || named == "application/json-rpc" || named == "application/jsonrequest")
}

// accepts answers requests that gorilla's server does not take for a call.
func (*named) accepts(w http.ResponseWriter, r *http.Request, _ []byte) bool {
	refuse := func(status int, text string) bool {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text) // the client may be gone
		return false
	}
	named, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch {
	case r.Method != http.MethodPost:
		return refuse(http.StatusMethodNotAllowed, "rpc: POST method required, received "+r.Method)
	case strings.ToLower(named) != contentType:
		return refuse(http.StatusUnsupportedMediaType, "rpc: unrecognized Content-Type: "+named)
	}
	return true
}

// refusedBody bounds the part of a rejected call that is read to find its id.
const refusedBody = 1 << 20

// Refuse answers a request that no server takes, with a JSON-RPC error if it is a call to the node.
func Refuse(w http.ResponseWriter, r *http.Request, e *rest.Error) {
	refuseUnread(w, r, e, &Error{Code: codeDefault, Message: e.Error()})
}

// Fail answers a request that failed for a reason inside the simulator, before any server could take it.
func Fail(w http.ResponseWriter, r *http.Request) {
	refuseUnread(w, r, &rest.Error{Status: http.StatusInternalServerError, Problems: []string{"the simulator failed; its log has the cause"}}, errInternal)
}

func refuseUnread(w http.ResponseWriter, r *http.Request, e *rest.Error, asCall *Error) {
	if r.Method != http.MethodPost || !strings.Contains(r.URL.Path+"/", "/ext/") {
		rest.Refuse(w, e, nil)
		return
	}
	id := null
	if body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, refusedBody)); err == nil {
		if request := readPositional(body); !request.batch && len(request.Calls) == 1 && request.Calls[0].ID != nil {
			id = request.Calls[0].ID
		}
	}
	rest.Refuse(w, e, map[string]any{"jsonrpc": "2.0", "id": id, "error": asCall})
}
