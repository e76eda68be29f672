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

// GatewayBody imitates nginx's page for a gateway whose backend does not answer.
const GatewayBody = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n" +
	"<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"

// Wait sleeps and extends the response's write deadline by as much.
func Wait(ctx context.Context, w http.ResponseWriter, d time.Duration) bool {
	if d == 0 {
		return true
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(d + answerTime)) // test writers have no deadlines
	return Sleep(ctx, d)
}

// Sleep waits for a duration. It returns false if its context ends first.
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

// answerTime bounds the time in which a client may read a delayed response.
const answerTime = 2 * time.Minute

// Reset closes a request's connection so that the client sees it reset.
func Reset(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	ResetConn(c)
}

// ResetConn closes a connection so that the other side sees it reset.
func ResetConn(c net.Conn) {
	if tcp, ok := c.(interface{ SetLinger(int) error }); ok {
		_ = tcp.SetLinger(0) // closing reports the error
	}
	_ = c.Close()
}

// Alters reports whether the action changes a response after it is made.
func (a *Action) Alters() bool {
	return a != nil && a.Status == 0 && !a.aboutCall() && a.Drop.When != dropBefore && a.PageToken != "expired" && !a.ShortPage && len(a.things()) > 0
}

// Answerless reports whether a request is carried out but not answered.
func (a *Action) Answerless() bool { return a != nil && a.Drop.When == dropAfter }

// Plain strips a request of the headers that would compress its response or make it empty, so that the response can be altered.
func Plain(r *http.Request) *http.Request {
	c := *r
	c.Header = r.Header.Clone()
	for _, name := range []string{"Accept-Encoding", "If-None-Match", "Range"} {
		c.Header.Del(name)
	}
	return &c
}

// Writer buffers a response so that it can be altered.
type Writer struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (w *Writer) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *Writer) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// Unwrap serves http.ResponseController.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Send alters the response and sends it to a writer that may hold back its end for a while. Before sending, it passes the body as the
// client will get it to keep. It returns a function to call at the end instead of sending the rest, or nil.
func (w *Writer) Send(ctx context.Context, to http.ResponseWriter, a *Action, asked string, keep func(body []byte)) (end func()) {
	if a.Answerless() {
		keep(nil)
		Wait(ctx, w.ResponseWriter, time.Duration(a.Slow))
		return func() { Reset(w.ResponseWriter) }
	}
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
		changed = changed[:min(*a.Truncate, len(changed))] // net/http closes the connection when the response is shorter than announced
	case a.Drop.When == dropDuring:
		changed = changed[:len(changed)/2]
		end = func() { Reset(w.ResponseWriter) }
	}
	keep(changed)
	to.WriteHeader(max(w.status, http.StatusOK))
	if a.Slow > 0 {
		slowly(ctx, to, changed, time.Duration(a.Slow))
	} else {
		_, _ = to.Write(changed) // the client may be gone
	}
	if end != nil {
		_ = http.NewResponseController(to).Flush()
	}
	return end
}

// pieces is the number of parts in which a slow body arrives.
const pieces = 10

func slowly(ctx context.Context, to http.ResponseWriter, body []byte, over time.Duration) {
	for i := range pieces {
		if i > 0 {
			_ = http.NewResponseController(to).Flush()
			if !Wait(ctx, to, over/(pieces-1)) {
				return
			}
		}
		_, _ = to.Write(body[len(body)*i/pieces : len(body)*(i+1)/pieces]) // the client may be gone
	}
}

// AlterMessage applies the action to a WebSocket message.
func (a *Action) AlterMessage(message []byte) []byte {
	if a.Truncate != nil {
		return message[:min(*a.Truncate, len(message))]
	}
	return a.AlterBody(message, "")
}

// AlterBody applies the action to a body; asked is the request's page token.
func (a *Action) AlterBody(body []byte, asked string) []byte {
	withToken := func(text json.RawMessage) []byte {
		return edit(body, func(name string, value json.RawMessage) json.RawMessage {
			if name == "nextPageToken" {
				return text
			}
			return value
		})
	}
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
		return withToken(nil)
	case a.PageToken == "duplicate" && asked != "":
		return withToken(quoted(asked))
	}
	return body
}

// WithoutLogs removes a number of the newest logs from a list in JSON, or as many as there are. It leaves everything else unchanged.
func WithoutLogs(list []byte, n int) []byte {
	var all []json.RawMessage
	if json.Unmarshal(list, &all) != nil || len(all) == 0 || all[0][0] != '{' {
		return list
	}
	left, _ := json.Marshal(all[:max(len(all)-n, 0)]) // they were just decoded
	return left
}

// edit replaces members of a JSON object, or removes those without a new value. It leaves everything that is not an object unchanged.
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
