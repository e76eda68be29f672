package fault

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"time"
)

// GatewayBody is what a gateway says whose backend does not answer, in the form of nginx.
const GatewayBody = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n" +
	"<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"

// Wait is Sleep for an answer, which may be sent for longer then.
func Wait(ctx context.Context, w http.ResponseWriter, d time.Duration) bool {
	if d == 0 {
		return true
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(d + answerTime)) // tests have writers without deadlines
	return Sleep(ctx, d)
}

// Sleep lets time pass. It is false when its context ended meanwhile.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// answerTime is how long a client may take for an answer that was delayed.
const answerTime = 2 * time.Minute

// Reset ends the connection of a request without another word, so that the client's system sees it reset.
func Reset(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	ResetConn(c)
}

// ResetConn ends a connection so that the other side sees it reset.
func ResetConn(c net.Conn) {
	if tcp, ok := c.(interface{ SetLinger(int) error }); ok {
		_ = tcp.SetLinger(0) // closing says what is wrong
	}
	_ = c.Close()
}

// Alters says whether the answer is made, and then altered.
func (a *Action) Alters() bool {
	return a != nil && a.Status == 0 && !a.aboutCall() && a.Drop != "before" && len(a.things()) > 0
}

// Plain is a request whose answer can be altered: without what would compress it or make it empty.
func Plain(r *http.Request) *http.Request {
	c := *r
	c.Header = r.Header.Clone()
	for _, name := range []string{"Accept-Encoding", "If-None-Match", "Range"} {
		c.Header.Del(name)
	}
	return &c
}

// Writer keeps an answer back, to alter it.
type Writer struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// WriteHeader keeps the status.
func (w *Writer) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write keeps a part of the body.
func (w *Writer) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// Unwrap is for http.ResponseController.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Send alters the answer and sends it to who keeps its end back for a while. It gives the body as the client gets it to keep before it sends
// that, and what is to be done at the end instead of sending the rest, nil for nothing.
func (w *Writer) Send(ctx context.Context, to http.ResponseWriter, a *Action, asked string, keep func(body []byte)) (end func()) {
	body, h := w.body.Bytes(), w.Header()
	changed := a.AlterBody(body, asked)
	if !bytes.Equal(changed, body) {
		h.Del("Etag")
	}
	if a.ContentType != "" {
		h.Set("Content-Type", a.ContentType)
	}
	h.Set("Content-Length", strconv.Itoa(len(changed)))
	switch {
	case a.Truncate != nil:
		changed = changed[:min(*a.Truncate, len(changed))] // net/http ends the connection of an answer that is shorter than it says
	case a.Drop == "during":
		changed = changed[:len(changed)/2]
		end = func() { Reset(w.ResponseWriter) }
	}
	keep(changed)
	to.WriteHeader(max(w.status, http.StatusOK))
	if a.Slow > 0 {
		slowly(ctx, to, changed, time.Duration(a.Slow))
	} else {
		_, _ = to.Write(changed) // a client that has gone away needs no answer
	}
	if end != nil {
		_ = http.NewResponseController(to).Flush()
	}
	return end
}

// pieces is how many a slow body comes in.
const pieces = 10

func slowly(ctx context.Context, to http.ResponseWriter, body []byte, over time.Duration) {
	for i := range pieces {
		if i > 0 {
			_ = http.NewResponseController(to).Flush()
			if !Wait(ctx, to, over/(pieces-1)) {
				return
			}
		}
		_, _ = to.Write(body[len(body)*i/pieces : len(body)*(i+1)/pieces]) // a client that has gone away needs no answer
	}
}

// AlterMessage is a message over WebSocket as the action alters it.
func (a *Action) AlterMessage(message []byte) []byte {
	if a.Truncate != nil {
		return message[:min(*a.Truncate, len(message))]
	}
	return a.AlterBody(message, "")
}

// AlterBody is a body as the action alters it; asked is the page token that the request had.
func (a *Action) AlterBody(body []byte, asked string) []byte {
	switch {
	case a.InvalidJSON:
		return body[:len(body)/2]
	case a.EmptyPage:
		return edit(body, func(_ string, value json.RawMessage) json.RawMessage {
			if value[0] == '[' {
				return json.RawMessage("[]")
			}
			return value
		})
	case a.PageToken == "missing":
		return edit(body, func(name string, value json.RawMessage) json.RawMessage {
			if name == "nextPageToken" {
				return nil
			}
			return value
		})
	case a.PageToken == "duplicate" && asked != "":
		return edit(body, func(name string, value json.RawMessage) json.RawMessage {
			if name == "nextPageToken" {
				return quoted(asked)
			}
			return value
		})
	}
	return body
}

// edit puts other values in the place of the members of a JSON object, or takes them away where there is none. What is no object
// stays as it is.
func edit(body []byte, change func(name string, value json.RawMessage) json.RawMessage) []byte {
	members := json.NewDecoder(bytes.NewReader(body))
	if t, err := members.Token(); err != nil || t != json.Delim('{') {
		return body
	}
	out := []byte{'{'}
	for members.More() {
		name, err := members.Token()
		var value json.RawMessage
		if err != nil || members.Decode(&value) != nil {
			return body
		}
		text, _ := name.(string)
		if value = change(text, value); value == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, quoted(text)...), ':'), value...)
	}
	return append(out, '}')
}
