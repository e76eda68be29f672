package rest

import (
	"bytes"
	"net/http"
)

// Recorder records the response to a request that the program makes of its own handler.
type Recorder struct {
	Status int
	Body   bytes.Buffer
	header http.Header
}

// NewRecorder returns a recorder with the status 200.
func NewRecorder() *Recorder { return &Recorder{Status: http.StatusOK, header: http.Header{}} }

// Header returns the response's headers.
func (w *Recorder) Header() http.Header { return w.header }

// WriteHeader records the status.
func (w *Recorder) WriteHeader(status int) { w.Status = status }

// Write records a part of the body.
func (w *Recorder) Write(b []byte) (int, error) { return w.Body.Write(b) }
