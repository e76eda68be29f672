package eth

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/rpc"
	"github.com/gorilla/websocket"

	"snowglobe/handlers/fault"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/handlers/node/stream"
	"snowglobe/handlers/rest"
)

// Bounds of a WebSocket connection. Those of time are go-ethereum's (rpc/websocket.go); go-ethereum bounds neither the requests
// under way nor the answers that a client does not read.
const (
	connectionRequests = 16 // under way; the next one is read when one of them was answered
	messageTimeout     = 10 * time.Second
	goodbyeTimeout     = time.Second
	pingInterval       = 30 * time.Second
	pongTimeout        = 30 * time.Second
	frameBytes         = 1024 // of the buffers
)

var upgrader = websocket.Upgrader{
	ReadBufferSize: frameBytes, WriteBufferSize: frameBytes, WriteBufferPool: new(sync.Pool), CheckOrigin: func(*http.Request) bool { return true },
}

// websocketHandler is the other way to a chain's methods, with subscriptions.
type websocketHandler struct {
	endpoint     *Endpoint
	capabilities *jsonrpc.Capabilities
}

// Capabilities are the methods of every namespace, and subscriptions.
func (h *websocketHandler) Capabilities() *jsonrpc.Capabilities { return h.capabilities }

func (h *websocketHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	socket, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has answered
	}
	socket.SetReadLimit(h.endpoint.maxBody)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	c := &connection{
		endpoint: h.endpoint, opened: r, socket: socket, cancel: cancel,
		requests: make(chan struct{}, connectionRequests), large: make(chan struct{}, 1),
	}
	c.serve(ctx)
}

// connection is a client's WebSocket connection. Each message is served like the body of a request over HTTP, several at a time,
// save subscriptions, which go-ethereum's server serves as long as the connection lasts. When the client leaves, what it
// asked for ends.
type connection struct {
	endpoint *Endpoint
	opened   *http.Request // by which the client is judged
	socket   *websocket.Conn
	cancel   context.CancelFunc
	requests chan struct{} // one for each under way
	large    chan struct{} // one for the only answer that may be large

	writing       sync.Mutex
	subscriptions *subscriptions // nil until there are some
}

// serve reads messages until the client leaves, does not read its answers, or the server stops.
func (c *connection) serve(ctx context.Context) {
	defer context.AfterFunc(ctx, c.close)()
	defer context.AfterFunc(c.endpoint.open, c.cancel)()
	c.socket.SetPongHandler(func(string) error { return c.alive() })
	go c.ping(ctx)
	var served sync.WaitGroup
	defer served.Wait()
	defer c.close()
	for ctx.Err() == nil {
		message, err := c.read()
		if err != nil {
			return
		}
		if err := json.Unmarshal(message, new(json.RawMessage)); err != nil {
			_ = c.write(parseError(err)) // the connection ends either way
			return
		}
		if problem := jsonrpc.CheckValues(message); problem != "" {
			if c.write(errorMessage(-32600, problem)) != nil {
				return
			}
			continue
		}
		select {
		case c.requests <- struct{}{}:
		case <-ctx.Done():
			return
		}
		served.Go(func() {
			c.answer(ctx, message)
			<-c.requests
		})
	}
}

// read waits for a message. A client that answers no ping is gone.
func (c *connection) read() ([]byte, error) {
	if err := c.alive(); err != nil {
		return nil, err
	}
	_, message, err := c.socket.ReadMessage()
	return message, err
}

func (c *connection) alive() error {
	return c.socket.SetReadDeadline(time.Now().Add(pingInterval + pongTimeout))
}

// ping keeps the connection from seeming idle to what is between it and the client, and finds out whether there is one.
func (c *connection) ping(ctx context.Context) {
	ticker := time.NewTicker(pingInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			_ = c.socket.WriteControl(websocket.PingMessage, nil, time.Now().Add(messageTimeout)) // reading finds out
		case <-ctx.Done():
			return
		}
	}
}

// close says goodbye, if the client listens, and ends everything that the client asked for.
func (c *connection) close() {
	c.cancel()
	goodbye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	_ = c.socket.WriteControl(websocket.CloseMessage, goodbye, time.Now().Add(goodbyeTimeout))
	_ = c.socket.Close()
}

// answer serves one message.
func (c *connection) answer(ctx context.Context, message []byte) {
	since, sent, answer := time.Now(), message, journal.Body{}
	plan := rest.MessageFault(c.opened.Context(), sent)
	record := sync.OnceFunc(func() {
		rest.RecordMessage(c.opened.Context(), c.endpoint.method(sent, json.Valid(sent)), sent, answer, since, plan)
	})
	defer record()
	if gate := c.endpoint.gate; gate != nil {
		within, leave, err := gate.Enter(ctx)
		if err != nil {
			return
		}
		defer leave()
		ctx = within
	}
	message = c.endpoint.admit(c.opened, firstItems(message))
	if plan != nil {
		if !c.wait(ctx, plan.Delay) || c.ends(plan.Whole) {
			return
		}
		message = failing(message, plan.Calls)
	}
	if subscribes(message) {
		answer = journal.Keep(c.subscribe(ctx, message))
		return
	}
	ctx, large := rest.WithLargeAnswer(ctx, c.large)
	defer large.Release()
	request := &http.Request{Method: http.MethodPost, URL: &url.URL{}, Header: http.Header{"Content-Type": {"application/json"}}}
	ctx, results := withResults(ctx, message)
	w := &messageWriter{connection: c, ctx: ctx, header: http.Header{}, large: large, results: results, answer: &answer, record: record}
	if plan != nil {
		w.altered = plan.Whole
	}
	c.endpoint.serve(w, request.WithContext(ctx), c.opened, message)
}

// wait lets the time of a fault pass. It is false when the client left meanwhile.
func (c *connection) wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// ends ends the connection if a fault wants that: reset, or closed as by a server that cannot answer for a while, as there is no
// status over WebSocket.
func (c *connection) ends(a *fault.Action) bool {
	switch {
	case a == nil:
		return false
	case a.Drop != "":
		fault.ResetConn(c.socket.NetConn())
	case a.Status != 0:
		goodbye := websocket.FormatCloseMessage(websocket.CloseTryAgainLater, http.StatusText(a.Status))
		_ = c.socket.WriteControl(websocket.CloseMessage, goodbye, time.Now().Add(goodbyeTimeout))
		_ = c.socket.Close()
	default:
		return false
	}
	c.cancel()
	return true
}

// write sends a message that is in memory.
func (c *connection) write(message []byte) error {
	return c.send(func(w io.Writer) error {
		_, err := w.Write(message)
		return err
	}, func() {})
}

// send sends a message that is written in frames of the buffer's size or larger, ending with a newline, as a node does; before the last of them
// it is taken down. A client that does not take it in time is given up.
func (c *connection) send(write func(io.Writer) error, record func()) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	err := c.socket.SetWriteDeadline(time.Now().Add(c.endpoint.patience))
	if err == nil {
		err = c.writeFrames(write, record)
	}
	if err != nil {
		c.cancel()
	}
	return err
}

func (c *connection) writeFrames(write func(io.Writer) error, record func()) error {
	w, err := c.socket.NextWriter(websocket.TextMessage)
	if err != nil {
		return err
	}
	if err := write(w); err != nil {
		return err
	}
	if _, err := w.Write(newline); err != nil {
		return err
	}
	record()
	return w.Close()
}

// messageWriter sends the answer to a message.
type messageWriter struct {
	*connection
	ctx     context.Context
	header  http.Header
	large   *rest.LargeAnswer
	results *stream.Results
	answer  *journal.Body // as the client gets it
	record  func()        // has the journal take it

	altered *fault.Action // nil for an answer as it is
}

func (m *messageWriter) Header() http.Header { return m.header }
func (m *messageWriter) WriteHeader(int)     {}

func (m *messageWriter) Write(answer []byte) (int, error) {
	held := len(answer)
	if m.results.Any() {
		_, parts := m.results.Measure(answer)
		held += parts
	}
	_, err := m.large.Send(m.ctx, held)
	switch {
	case err != nil:
		m.cancel() // who is not answered must not wait for it
	case m.altered != nil:
		var whole bytes.Buffer
		if err = m.results.Write(m.ctx, &whole, answer); err == nil {
			altered := m.altered.AlterMessage(whole.Bytes())
			err = m.send(func(w io.Writer) error {
				_, err := (&keptWriter{w, m.answer}).Write(altered)
				return err
			}, m.record)
		}
	default:
		err = m.send(func(w io.Writer) error {
			return m.results.Write(m.ctx, &keptWriter{w, m.answer}, answer)
		}, m.record)
	}
	return len(answer), err
}

// keptWriter writes what the journal keeps a part of.
type keptWriter struct {
	io.Writer
	kept *journal.Body
}

func (k *keptWriter) Write(part []byte) (int, error) {
	k.kept.Add(part)
	return k.Writer.Write(part)
}

// parseError answers what is not JSON.
func parseError(err error) []byte { return errorMessage(-32700, err.Error()) }

// errorMessage answers a message that is not read as a call.
func errorMessage(code int, why string) []byte {
	text, _ := json.Marshal(why) // a string always can be
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%s}}`, code, text)
}

// subscriptions are those of a connection. go-ethereum's server takes the requests for them from here, one at a time, and
// writes its answers and what there is to tell here.
type subscriptions struct {
	*connection
	requests *io.PipeReader
	pass     *io.PipeWriter
	asking   sync.Mutex
	answered chan []byte
}

// subscribes reports whether a message asks only to begin or end subscriptions, and wants an answer.
func subscribes(message []byte) bool {
	type call struct {
		ID     json.RawMessage
		Method string
	}
	var calls []call
	if !bytes.Contains(message, []byte("subscribe")) {
		return false
	}
	if !isBatch(message) {
		calls = make([]call, 1)
		if json.Unmarshal(message, &calls[0]) != nil {
			return false
		}
	} else if json.Unmarshal(message, &calls) != nil || len(calls) > batchItems {
		return false
	}
	for _, c := range calls {
		if c.ID == nil || !strings.HasSuffix(c.Method, "_subscribe") && !strings.HasSuffix(c.Method, "_unsubscribe") {
			return false
		}
	}
	return len(calls) > 0
}

// subscribe has go-ethereum's server answer a message, and gives what it answered.
func (c *connection) subscribe(ctx context.Context, message []byte) []byte {
	s := c.subscribed(ctx)
	s.asking.Lock()
	defer s.asking.Unlock()
	if _, err := s.pass.Write(message); err != nil {
		return nil
	}
	select {
	case answer := <-s.answered:
		return answer
	case <-ctx.Done():
		return nil
	}
}

func (c *connection) subscribed(ctx context.Context) *subscriptions {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.subscriptions == nil {
		s := &subscriptions{connection: c, answered: make(chan []byte, 1)}
		s.requests, s.pass = io.Pipe()
		context.AfterFunc(ctx, func() { _ = s.Close() })
		c.endpoint.register()
		go c.endpoint.server.ServeCodec(rpc.NewCodec(s), 0)
		c.subscriptions = s
	}
	return c.subscriptions
}

// Read is what go-ethereum's server reads requests by.
func (s *subscriptions) Read(b []byte) (int, error) { return s.requests.Read(b) }

// Write sends an answer, or what there is to tell: a call of eth_subscription.
func (s *subscriptions) Write(message []byte) (int, error) {
	err := s.write(bytes.TrimSuffix(message, newline))
	if !bytes.HasPrefix(message, []byte(`{"jsonrpc":"2.0","method":`)) {
		select {
		case s.answered <- bytes.Clone(message):
		default:
		}
	}
	return len(message), err
}

// Close ends the subscriptions, and the connection with them.
func (s *subscriptions) Close() error {
	s.cancel()
	return s.pass.Close()
}

// SetWriteDeadline does nothing: writing has its own deadline.
func (s *subscriptions) SetWriteDeadline(time.Time) error { return nil }
