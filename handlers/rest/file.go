package rest

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
)

// File is a response that may be too large for memory: it is read as fast as the client takes it. Clients may request ranges of it.
type File struct {
	Type    string // the content type
	Name    string // file name under which browsers save it
	Tag     string // identifies the content: other content has another tag
	Content io.ReadSeeker
}

// fileTimeout bounds the time for one piece of a file. The whole file may take any time.
const fileTimeout = 2 * time.Minute

// sendFile sends a file, compressed if the client accepts that and wants the whole.
func (c *requestContext) sendFile(r *http.Request, f *File) {
	r = withByteRange(r)
	zipped := acceptsGzip(r.Header.Get("Accept-Encoding")) && r.Header.Get("Range") == ""
	h := c.Header()
	h["Vary"], h["Cache-Control"], h["Etag"] = vary, noCache, []string{variant(f.Tag, zipped)}
	if unchanged(r.Header["If-None-Match"], f.Tag) {
		c.WriteHeader(http.StatusNotModified)
		return
	}
	h["Content-Type"] = []string{f.Type}
	h.Set("Content-Disposition", `attachment; filename="`+f.Name+`"`)
	if zipped {
		h["Content-Encoding"] = gzipped // so ServeContent sets no length
	}
	paced := &pacedReader{ReadSeeker: f.Content, client: c}
	w := &fileWriter{requestContext: c, zipped: zipped}
	http.ServeContent(w, r, "", time.Time{}, paced)
	if paced.failed != nil {
		c.server.opts.Log.Error("file could not be read", "id", c.id, "operation", c.operation(), "err", paced.failed)
		panic(http.ErrAbortHandler) // the client must not take the part for the whole
	}
	w.end()
}

// withByteRange drops a range in a unit other than bytes, which counts as no range. Units are case-insensitive.
func withByteRange(r *http.Request) *http.Request {
	unit, ranges, given := strings.Cut(r.Header.Get("Range"), "=")
	r = r.Clone(r.Context())
	if r.Header.Del("Range"); given && strings.EqualFold(unit, "bytes") {
		r.Header.Set("Range", "bytes="+ranges)
	}
	return r
}

// pacedReader extends the client's deadline with every piece read.
type pacedReader struct {
	io.ReadSeeker
	client *requestContext
	failed error
}

// Read reads the next piece.
func (p *pacedReader) Read(b []byte) (int, error) {
	// Without a deadline there is none to move.
	_ = http.NewResponseController(p.client).SetWriteDeadline(p.client.server.opts.Now().Add(fileTimeout))
	n, err := p.ReadSeeker.Read(b)
	if err != nil && err != io.EOF {
		p.failed = err
	}
	return n, err
}

// fileWriter compresses the file if the client accepts gzip, and gives rejections the format of all errors.
type fileWriter struct {
	*requestContext
	zipped  bool
	zip     *gzip.Writer // nil before the first byte
	refused bool
}

// WriteHeader begins the response, or sends the whole of a rejection.
func (w *fileWriter) WriteHeader(status int) {
	switch {
	case status == http.StatusRequestedRangeNotSatisfiable:
		w.refuse(status, "the range "+schema.Shorten(w.request.Header.Get("Range"))+" is not in the file")
	case status == http.StatusPreconditionFailed:
		w.refuse(status, "the file does not match If-Match")
	default:
		w.requestContext.WriteHeader(status)
	}
}

func (w *fileWriter) refuse(status int, text string) {
	h := w.Header()
	for _, name := range []string{"Content-Disposition", "Content-Encoding", "Content-Length", "Etag"} {
		h.Del(name)
	}
	w.refused = true
	w.fail(sentence(status, text), false)
}

func (w *fileWriter) Write(b []byte) (int, error) {
	if w.refused {
		return len(b), nil
	}
	if !w.zipped {
		return w.requestContext.Write(b)
	}
	if w.zip == nil {
		w.zip = gzips.Get().(*gzip.Writer)
		w.zip.Reset(w.requestContext)
	}
	return w.zip.Write(b)
}

// end writes the rest of the compressed data.
func (w *fileWriter) end() {
	if w.zip != nil {
		_ = w.zip.Close() // the client may be gone
		gzips.Put(w.zip)
	}
}

// Stream is a response that is written as things happen.
type Stream struct {
	Type string // the content type

	// Send writes until there is nothing more to send, or the client has left, which ends the context and fails write.
	Send func(ctx context.Context, write func([]byte) error) error
}

// sendStream extends the client's deadline with every piece; the whole stream may take any time.
func (c *requestContext) sendStream(r *http.Request, s *Stream) error {
	h := c.Header()
	h["Content-Type"], h["Cache-Control"] = []string{s.Type}, []string{"no-store"}
	c.keepNothing()
	c.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	c.Flush()
	sim.Leave(r.Context())
	err := s.Send(r.Context(), func(piece []byte) error {
		_ = http.NewResponseController(c).SetWriteDeadline(c.server.opts.Now().Add(fileTimeout)) // without a deadline there is none to move
		_, err := c.Write(piece)
		c.Flush()
		return err
	})
	if err != nil {
		panic(http.ErrAbortHandler) // the response has begun, so no error can be sent
	}
	return nil
}
