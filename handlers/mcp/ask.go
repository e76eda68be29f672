package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"snowglobe/handlers/rest"
)

// asker makes requests of a world's interfaces.
type asker interface {
	// ask returns the status and the body of the response to a request for a path below the world's URL.
	ask(ctx context.Context, method, path, accept string, body []byte) (status int, answer []byte, err error)
	// base returns the world's URL, as the client knows it.
	base() string
}

const (
	mostAnswer = 4 << 20          // bytes of a response
	patience   = 60 * time.Second // for a response, except of operations without a time limit
)

var errClosed = errors.New("the connection closed before the response was complete")

var errLarge = fmt.Errorf("the response is larger than %d MiB: ask for less, such as with pageSize", mostAnswer>>20)

// inside asks a handler in this process, on behalf of the client that sent a request.
type inside struct {
	handler http.Handler
	from    *http.Request
}

// passedOn lists the headers that tell the interfaces who a client is and what it may do.
var passedOn = append([]string{"Origin", "Sec-Fetch-Site", "User-Agent", "Authorization"}, rest.ForwardedHeaders...)

// serve lets the handler answer, and reports whether it did. A handler ends a connection with a panic. net/http would recover it, but this runs on a
// goroutine of the protocol's library, which doesn't.
func (i *inside) serve(w http.ResponseWriter, r *http.Request) (complete bool) {
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler {
			panic(p)
		}
	}()
	i.handler.ServeHTTP(w, r)
	return true
}

func (i *inside) base() string { return rest.BaseURL(i.from) }

func (i *inside) ask(ctx context.Context, method, path, accept string, body []byte) (int, []byte, error) {
	within, cancel := context.WithCancel(i.from.Context()) // holds the path prefix of the world
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	r, err := http.NewRequestWithContext(within, method, path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, errPath
	}
	r.RemoteAddr, r.Host, r.TLS, r.RequestURI = i.from.RemoteAddr, i.from.Host, i.from.TLS, path
	for _, name := range passedOn {
		if v := i.from.Header[name]; v != nil {
			r.Header[name] = v
		}
	}
	if key := rest.KeyOf(i.from); key != "" {
		r.Header.Set("X-Service-Api-Key", key)
	}
	fill(r, accept, body)
	w := &recorder{Recorder: rest.NewRecorder()}
	complete := i.serve(w, r)
	if w.large {
		return 0, nil, errLarge
	}
	if err := errors.Join(ctx.Err(), within.Err()); err != nil {
		return 0, nil, slow(err)
	}
	if !complete {
		return 0, nil, errClosed
	}
	return w.Status, w.Body.Bytes(), nil
}

// fill sets the headers of a request: the type of its body, and the type it accepts.
func fill(r *http.Request, accept string, body []byte) {
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	if len(body) > 0 || r.Method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
}

// slow explains a request that ended early.
func slow(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no complete response came within %s", patience)
	}
	return err
}

// outside asks a server by its URL.
type outside struct{ url string }

func (o *outside) base() string { return o.url }

func (o *outside) ask(ctx context.Context, method, path, accept string, body []byte) (int, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, o.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, errPath
	}
	r.Header.Set("User-Agent", "snowglobe-mcp")
	fill(r, accept, body)
	answer, err := http.DefaultClient.Do(r)
	var dial *net.OpError
	switch {
	case errors.As(err, &dial) && dial.Op == "dial":
		return 0, nil, fmt.Errorf("no server answers at %s", o.url)
	case ctx.Err() != nil:
		return 0, nil, slow(ctx.Err())
	case err != nil:
		return 0, nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer+1))
	switch {
	case ctx.Err() != nil:
		return 0, nil, slow(ctx.Err())
	case err != nil:
		return 0, nil, err
	case len(text) > mostAnswer:
		return 0, nil, errLarge
	}
	return answer.StatusCode, text, nil
}

var errPath = errors.New("this is not a path: it must begin with / and be encoded as in a URL")

// recorder records a response, up to a size.
type recorder struct {
	*rest.Recorder
	large bool
}

func (w *recorder) Write(b []byte) (int, error) {
	if w.Body.Len()+len(b) > mostAnswer {
		w.large = true
		return 0, errLarge
	}
	return w.Recorder.Write(b)
}
