package rest

import (
	"context"
	"io"
	"net/http"
	"snowglobe/sim"
	"strings"
	"time"

	"snowglobe/handlers/rest/schema"
)

// File is an answer that may be too large for memory: it is read as the client takes it. Clients may ask for parts of it.
type File struct {
	Type string // the content type
	Name string // under which browsers save it
	Tag  string // stands for the content: another content has another

	// Open answers the content as it is, or in gzip's form.
	Open func(zipped bool) (io.ReadSeeker, error)
}

// fileTimeout is how long a client may take for one piece of a file. The whole may take any time.
const fileTimeout = 2 * time.Minute

// sendFile sends a file, compressed if the client likes that and wants the whole.
func (c *requestContext) sendFile(r *http.Request, f *File) error {
	r = withByteRange(r)
	zipped := acceptsGzip(r.Header.Get("Accept-Encoding")) && r.Header.Get("Range") == ""
	content, err := f.Open(zipped)
	if err != nil {
		return err
	}
	h := c.Header()
	h["Vary"], h["Cache-Control"], h["Etag"] = vary, noCache, []string{variant(f.Tag, zipped)}
	if unchanged(r.Header["If-None-Match"], f.Tag) {
		c.WriteHeader(http.StatusNotModified)
		return nil
	}
	h["Content-Type"] = []string{f.Type}
	h.Set("Content-Disposition", `attachment; filename="`+f.Name+`"`)
	if zipped {
		h["Content-Encoding"] = gzipped
	}
	paced := &pacedReader{ReadSeeker: content, client: c}
	http.ServeContent(&fileWriter{requestContext: c}, r, "", time.Time{}, paced)
	if paced.failed != nil {
		c.server.opts.Log.Error("file could not be read", "id", c.id, "operation", c.operation(), "err", paced.failed)
		panic(http.ErrAbortHandler) // the client must not take what it got for the whole
	}
	return nil
}

// withByteRange is a request without a range that does not count bytes: one in a unit that is not known counts as none.
// Units come in any case.
func withByteRange(r *http.Request) *http.Request {
	unit, ranges, given := strings.Cut(r.Header.Get("Range"), "=")
	r = r.Clone(r.Context())
	if r.Header.Del("Range"); given && strings.EqualFold(unit, "bytes") {
		r.Header.Set("Range", "bytes="+ranges)
	}
	return r
}

// pacedReader gives the client new time for every piece that is read for it.
type pacedReader struct {
	io.ReadSeeker
	client *requestContext
	failed error
}

// Read reads the next piece.
func (p *pacedReader) Read(b []byte) (int, error) {
	// Where there is no deadline, none has to be moved.
	_ = http.NewResponseController(p.client).SetWriteDeadline(p.client.server.opts.Now().Add(fileTimeout))
	n, err := p.ReadSeeker.Read(b)
	if err != nil && err != io.EOF {
		p.failed = err
	}
	return n, err
}

// fileWriter gives refusals the shape that all errors have.
type fileWriter struct {
	*requestContext
	refused bool
}

// WriteHeader begins the answer, or gives the whole of one that refuses.
func (w *fileWriter) WriteHeader(status int) {
	switch {
	case status == http.StatusRequestedRangeNotSatisfiable:
		w.refuse(status, "the range "+schema.Shorten(w.request.Header.Get("Range"))+" is not in the file")
	case status == http.StatusPreconditionFailed:
		w.refuse(status, "the file is another than If-Match names")
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

// Write writes a piece of the file.
func (w *fileWriter) Write(b []byte) (int, error) {
	if w.refused {
		return len(b), nil
	}
	return w.requestContext.Write(b)
}

// Stream is an answer that is made as things happen.
type Stream struct {
	Type string // the content type

	// Send writes until there is nothing more to tell, or the client has left, which ends the context and fails write.
	Send func(ctx context.Context, write func([]byte) error) error
}

// sendStream gives the client time for every piece of a stream; the whole may take any time.
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
		_ = http.NewResponseController(c).SetWriteDeadline(c.server.opts.Now().Add(fileTimeout)) // where there is none, none has to be moved
		_, err := c.Write(piece)
		c.Flush()
		return err
	})
	if err != nil {
		panic(http.ErrAbortHandler) // it has begun: no error can be answered
	}
	return nil
}
