package mcp

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// drained is a transport that ends with its input once every call has its response. The library cancels calls under way when the input ends, so
// that a client that pipes its messages in would get no response to the last ones.
type drained struct{ sdk.Transport }

func (t drained) Connect(ctx context.Context) (sdk.Connection, error) {
	inner, err := t.Transport.Connect(ctx)
	c := &drainedConn{Connection: inner, open: map[jsonrpc.ID]bool{}}
	c.changed.L = &c.mu
	return c, err
}

type drainedConn struct {
	sdk.Connection
	mu      sync.Mutex
	changed sync.Cond
	open    map[jsonrpc.ID]bool // calls without a response
	closed  bool                // or broken: nobody gets responses
}

func (c *drainedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if call, ok := m.(*jsonrpc.Request); ok && call.IsCall() {
		c.open[call.ID] = true
	}
	for err != nil && len(c.open) > 0 && !c.closed {
		c.changed.Wait()
	}
	return m, err
}

func (c *drainedConn) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, ok := m.(*jsonrpc.Response); ok {
		delete(c.open, r.ID)
	}
	c.closed = c.closed || err != nil
	c.changed.Broadcast()
	return err
}

func (c *drainedConn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.changed.Broadcast()
	c.mu.Unlock()
	return c.Connection.Close()
}
