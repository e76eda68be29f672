package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"snowglobe/handlers/fault"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/rest"
)

// Limits of a WebSocket connection. The times are go-ethereum's (rpc/websocket.go); go-ethereum limits neither running requests nor answers
// that a client does not read.
const (
	connectionRequests = 16 // running; the next is read when one of them was answered
	messageTimeout     = 10 * time.Second
	goodbyeTimeout     = time.Second
	pingInterval       = 30 * time.Second
	pongTimeout        = 30 * time.Second
	frameBytes         = 1024 // of each buffer
)

var upgrader = websocket.Upgrader{
	ReadBufferSize: frameBytes, WriteBufferSize: frameBytes, WriteBufferPool: new(sync.Pool), CheckOrigin: func(*http.Request) bool { return true },
}

// WebSocket serves the same methods over WebSocket, with subscriptions.
func (s *Server) WebSocket() http.Handler { return websocketDoor{s} }

type websocketDoor struct{ server *Server }

// Capabilities returns the methods of every namespace, and subscriptions.
func (d websocketDoor) Capabilities() *Capabilities { return d.server.subscribing }

func (d websocketDoor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	socket, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has answered
	}
	socket.SetReadLimit(d.server.MaxBody)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	c := &connection{
		server: d.server, opened: r, socket: socket, ctx: ctx, cancel: cancel,
		requests: make(chan struct{}, connectionRequests), large: make(chan struct{}, 1),
	}
	c.serve(ctx)
}

// connection is a client's WebSocket connection. It serves several messages at a time. When the client leaves, its calls and subscriptions
// end.
type connection struct {
	server   *Server
	opened   *http.Request // whose client is judged
	socket   *websocket.Conn
	ctx      context.Context // ends with the connection
	cancel   context.CancelFunc
	requests chan struct{} // one for each running request
	large    chan struct{} // one for the only answer that may be large

	writing       sync.Mutex
	subscriptions subscriptions
}

// serve reads messages until the client leaves, stops reading its answers, or the server stops.
func (c *connection) serve(ctx context.Context) {
	defer context.AfterFunc(ctx, c.close)()
	defer context.AfterFunc(c.server.open, c.cancel)()
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
		if err := checkJSON(message); err != nil {
			c.refuse(message, &Error{Code: codeParse, Message: err.Error()})
			return
		}
		if problem := checkValues(message); problem != "" {
			if c.refuse(message, &Error{Code: codeInvalid, Message: problem}) != nil {
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

// refuse answers a message that cannot be read as a call.
func (c *connection) refuse(message []byte, e *Error) error {
	since := time.Now()
	o := &output{}
	c.server.write(o, nil, &Result{}, e)
	rest.RecordMessage(c.opened.Context(), "unknown method", message, []journal.CallRecord{{Error: e.recorded()}}, journal.Keep(o.text), since, nil)
	return c.write(o.text)
}

// read waits for a message. A client that does not answer pings is gone.
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

// ping keeps the connection from looking idle to proxies, and finds out whether the client is still there.
func (c *connection) ping(ctx context.Context) {
	ticker := time.NewTicker(pingInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			_ = c.socket.WriteControl(websocket.PingMessage, nil, time.Now().Add(messageTimeout)) // reading notices a failure
		case <-ctx.Done():
			return
		}
	}
}

// close sends a close message, if the client still reads, and ends everything that it started.
func (c *connection) close() {
	c.cancel()
	goodbye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	_ = c.socket.WriteControl(websocket.CloseMessage, goodbye, time.Now().Add(goodbyeTimeout))
	_ = c.socket.Close()
}

// answer serves one message.
func (c *connection) answer(ctx context.Context, message []byte) {
	since, answer, opened := time.Now(), journal.Body{}, c.opened.Context()
	x := &exchange{Request: c.server.parse(message), from: c.opened, conn: c}
	plan := rest.MessageFault(opened, message, x.faultCalls)
	if rest.Mounted(opened).Recorded {
		x.records = x.record()
	}
	record := sync.OnceFunc(func() {
		rest.RecordMessage(opened, c.server.name(x.Request), message, x.records, answer, since, plan)
	})
	defer record()
	if enter := c.server.Enter; enter != nil {
		within, leave, err := enter(ctx)
		if err != nil {
			return
		}
		defer leave()
		ctx = within
	}
	var altered *fault.Action
	if plan != nil {
		if !fault.Sleep(ctx, plan.Delay) {
			return
		}
		x.faults, altered = plan.Calls, plan.Whole
		if (altered == nil || !altered.Answerless()) && c.ends(altered) {
			return
		}
	}
	ctx, large := rest.WithLargeAnswer(ctx, c.large)
	defer large.Release()
	o := c.server.answer(ctx, x)
	defer func() {
		for _, begin := range x.begin {
			begin()
		}
	}()
	if plan != nil && plan.After != nil {
		var whole bytes.Buffer
		if err := o.writeTo(ctx, &whole); err != nil {
			return
		}
		o = &output{text: whole.Bytes()}
		plan.After(ctx)
	}
	if o.empty() || altered.Answerless() && fault.Sleep(ctx, time.Duration(altered.Slow)) && c.ends(altered) {
		return
	}
	_, held := o.measure()
	if _, err := large.Send(ctx, held); err != nil {
		c.cancel() // a client without an answer must not wait for it
		return
	}
	_ = c.send(func(w io.Writer) error { return o.altered(ctx, &keptWriter{w, &answer}, altered) }, record)
}

// altered sends an answer altered by a fault.
func (o *output) altered(ctx context.Context, w io.Writer, a *fault.Action) error {
	if a == nil {
		return o.writeTo(ctx, w)
	}
	var whole bytes.Buffer
	if err := o.writeTo(ctx, &whole); err != nil {
		return err
	}
	_, err := w.Write(a.AlterMessage(whole.Bytes()))
	return err
}

// ends closes the connection if a fault demands it: with a reset, or with the code of a temporarily unavailable server, because WebSocket has
// no status.
func (c *connection) ends(a *fault.Action) bool {
	switch {
	case a == nil:
		return false
	case a.Drop.When != "":
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

// send sends a message in frames of at least the buffer's size, ending with a newline, as a node does. The journal records it before the
// last frame. send gives up on a client that does not read in time.
func (c *connection) send(write func(io.Writer) error, record func()) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	err := c.socket.SetWriteDeadline(time.Now().Add(c.server.patience))
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
	if _, err := w.Write([]byte{'\n'}); err != nil {
		return err
	}
	record()
	return w.Close()
}

// keptWriter passes writes on and keeps the part that the journal remembers.
type keptWriter struct {
	io.Writer
	kept *journal.Body
}

func (k *keptWriter) Write(part []byte) (int, error) {
	k.kept.Add(part)
	return k.Writer.Write(part)
}

// subscribe assigns a subscription's id and returns the function that starts it. The kind is the name in its call, such as logs.
func (c *connection) subscribe(id ID, namespace, kind string, s *Subscription) (begin func()) {
	ctx, end := context.WithCancel(c.ctx)
	c.subscriptions.add(id, end)
	out := &stream{conn: c, id: id, kind: kind}
	notify := func(event any) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		text, err := json.Marshal(event)
		if err != nil {
			return err
		}
		params, err := json.Marshal(notificationParams{id, json.RawMessage(text)})
		if err != nil {
			return err
		}
		return out.pass(ctx, text, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"%s_subscription","params":%s}`, namespace, params))
	}
	return func() {
		go func() {
			if s.run(ctx, notify) != nil && ctx.Err() == nil {
				c.cancel()
			}
		}()
	}
}

type notificationParams struct {
	Subscription ID  `json:"subscription"`
	Result       any `json:"result"`
}
