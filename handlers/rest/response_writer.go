package rest

import (
	"bufio"
	"bytes"
	"cmp"
	"net"
	"net/http"

	"snowglobe/handlers/journal"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/cache"
)

// responseWriter keeps the body for the journal. It holds back the end until the journal has the body, so that a client that has read a
// response finds it there, even one that does not wait for the final newline. It can send a whole response (answer.go).
type responseWriter struct {
	http.ResponseWriter
	status int
	last   [2]byte
	held   int // bytes of last that are still to be sent

	MountedRequest
	whole  bool // whether answer is the body before compression, so that writes do not count
	answer journal.Body

	tag string // etag of the body to send, if known
}

// keep records the response's body before compression; it must not change afterwards.
func (w *responseWriter) keep(body []byte) {
	if w.Recorded {
		w.answer, w.whole = journal.Keep(body), true
	}
}

// WriteWhole writes a response's whole body, which must not change afterwards: the journal keeps it as it is.
func WriteWhole(w http.ResponseWriter, body []byte) (int, error) {
	if c, ok := w.(*requestContext); ok && !c.whole {
		c.keep(body)
	}
	return w.Write(body)
}

// keepCopy records a body that may change afterwards.
func (w *responseWriter) keepCopy(body []byte) {
	if w.Recorded && !w.whole {
		w.keep(append(make([]byte, 0, min(len(body), journal.KeptBody)), body[:min(len(body), journal.KeptBody)]...))
		w.answer.Size = int64(len(body))
	}
}

// keepAnswer records a cached response, which is sent unchanged or not at all.
func (w *responseWriter) keepAnswer(a cachedAnswer, asItIs bool) {
	if w.keep(a.body); asItIs {
		w.tag = a.tag
	}
}

// keepNothing records that the client gets no body.
func (w *responseWriter) keepNothing() { w.answer, w.whole = journal.Body{}, true }

// keepPart records a body that is written in parts.
func (w *responseWriter) keepPart(b []byte) {
	if w.Recorded && !w.whole {
		w.answer.Add(b)
	}
}

// WriteHeader records the status for the access log.
func (w *responseWriter) WriteHeader(status int) {
	w.status = cmp.Or(w.status, status)
	w.ResponseWriter.WriteHeader(status)
}

// Write sends everything but the last byte, or the last two if the body ends with a newline; release sends these.
func (w *responseWriter) Write(b []byte) (int, error) {
	w.status = cmp.Or(w.status, http.StatusOK)
	if len(b) == 0 {
		return w.ResponseWriter.Write(b)
	}
	if err := w.release(); err != nil {
		return 0, err
	}
	n := len(b) - 1
	if n > 0 && b[n] == '\n' {
		n--
	}
	n, err := w.ResponseWriter.Write(b[:n])
	if err != nil {
		w.keepPart(b[:n])
		return n, err
	}
	w.held = copy(w.last[:], b[n:])
	w.keepPart(b)
	return len(b), nil
}

// release sends the end held back.
func (w *responseWriter) release() error {
	if w.held == 0 {
		return nil
	}
	_, err := w.ResponseWriter.Write(w.last[:w.held])
	w.held = 0
	return err
}

// Hijack lets a mounted handler use WebSocket.
func (w *responseWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.status = cmp.Or(w.status, http.StatusSwitchingProtocols)
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

// Flush lets a mounted handler stream.
func (w *responseWriter) Flush() {
	_ = w.release() // the client may be gone
	if f, ok := w.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// Unwrap serves http.ResponseController.
func (w *responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// keptURL bounds the URL of a cached response, which a client may make as long as it likes.
const keptURL = 1024

// cacheKey is everything that a response to a GET depends on.
type cacheKey struct {
	dialect      schema.Dialect
	base, target string
	revision     int64 // of the world
	unix         int64 // its clock
}

// responseCache keeps recent responses. A change of the world or of its clock changes the keys of the same requests, so a response never
// outlives its data.
//
// In one run of BenchmarkResponseCache (package handlers; median of 5) a list of ten transactions took 37 µs and 40 allocations with it,
// 103 µs and 107 allocations without; a block 25 µs and 42 allocations with it, 85 µs and 110 without.
type responseCache struct {
	answers *cache.Cache[cacheKey, cachedAnswer]
	group   cache.Group
}

// cachedAnswer is a body with its etag.
type cachedAnswer struct {
	body []byte
	tag  string
}

func newResponseCache() *responseCache {
	c := &responseCache{}
	c.answers = cache.New[cacheKey, cachedAnswer](&c.group)
	return c
}

// cacheKey returns the cache key of a request's response, and whether the response stays valid as long as the world does not change.
func (c *requestContext) cacheKey(r *Request) (cacheKey, bool) {
	o := &c.server.opts
	if o.Revision == nil || c.op.Live || c.op.Answer == nil || c.op.Method != http.MethodGet {
		return cacheKey{}, false
	}
	base := r.BaseURL()
	if len(base)+len(r.HTTP.URL.Path)+len(r.HTTP.URL.RawQuery) > keptURL {
		return cacheKey{}, false
	}
	return cacheKey{c.dialect, base, r.HTTP.URL.Path + "?" + r.HTTP.URL.RawQuery, o.Revision(), o.Clock.Unix()}, true
}

// add caches a copy of a body and returns it; nil if the body is too long.
func (c *responseCache) add(key cacheKey, body []byte) cachedAnswer {
	if len(body) > cache.Largest {
		return cachedAnswer{}
	}
	a := cachedAnswer{bytes.Clone(body), etag(body)}
	c.answers.Add(key, a)
	return a
}
