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

// WebSocket is the other door to the server's methods, with subscriptions.
func (s *Server) WebSocket() http.Handler { return websocketDoor{s} }

type websocketDoor struct{ server *Server }

// Capabilities are the methods of every namespace, and subscriptions.
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

// connection is a client's WebSocket connection. Messages are served several at a time. When the client leaves, what it asked for ends.
type connection struct {
	server   *Server
	opened   *http.Request // by which the client is judged
	socket   *websocket.Conn
	ctx      context.Context // ends with the connection
	cancel   context.CancelFunc
	requests chan struct{} // one for each under way
	large    chan struct{} // one for the only answer that may be large

	writing       sync.Mutex
	subscriptions subscriptions
}

// serve reads messages until the client leaves, does not read its answers, or the server stops.
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

// refuse answers a message that is not read as a call.
func (c *connection) refuse(message []byte, e *Error) error {
	since := time.Now()
	o := &output{}
	c.server.write(o, nil, &Result{}, e)
	rest.RecordMessage(c.opened.Context(), "unknown method", message, []journal.CallRecord{{Error: e.recorded()}}, journal.Keep(o.text), since, nil)
	return c.write(o.text)
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
	since, answer, opened := time.Now(), journal.Body{}, c.opened.Context()
	x := &exchange{Request: c.server.parse(message), from: c.opened, conn: c}
	plan := rest.MessageFault(opened, message, x.faultCalls)
	if rest.Recorded(opened) {
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
		if !fault.Sleep(ctx, plan.Delay) || c.ends(plan.Whole) {
			return
		}
		x.faults, altered = plan.Calls, plan.Whole
	}
	ctx, large := rest.WithLargeAnswer(ctx, c.large)
	defer large.Release()
	o := c.server.answer(ctx, x)
	defer func() {
		for _, begin := range x.begin {
			begin()
		}
	}()
	if o.empty() {
		return
	}
	_, held := o.measure()
	if _, err := large.Send(ctx, held); err != nil {
		c.cancel() // who is not answered must not wait for it
		return
	}
	_ = c.send(func(w io.Writer) error { return o.altered(ctx, &keptWriter{w, &answer}, altered) }, record)
}

// altered writes an answer as a fault alters it.
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

// keptWriter writes what the journal keeps a part of.
type keptWriter struct {
	io.Writer
	kept *journal.Body
}

func (k *keptWriter) Write(part []byte) (int, error) {
	k.kept.Add(part)
	return k.Writer.Write(part)
}

// subscribe gives a subscription its id, and returns what begins it.
func (c *connection) subscribe(id ID, namespace string, s *Subscription) (begin func()) {
	ctx, end := context.WithCancel(c.ctx)
	c.subscriptions.add(id, end)
	notify := func(event any) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		text, err := json.Marshal(notificationParams{id, event})
		if err != nil {
			return err
		}
		return c.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"%s_subscription","params":%s}`, namespace, text))
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
