package handlers

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// halfClosedTime is for how long a request goes on whose client has ended its side of the connection. TCP does not say whether
// such a client still waits for the answer, as one does that sends a request and then the end of its input (nc -N), or has
// gone: so it is answered if that takes no longer than this, and the work is given up then. A client whose connection was
// reset, or that does not take what is written, has gone for sure.
const halfClosedTime = 5 * time.Second

// halfCloseListener accepts connections whose clients may end their side before they have the answer.
type halfCloseListener struct {
	net.Listener
	waits time.Duration // halfClosedTime
}

func (l halfCloseListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok && err == nil {
		return &halfCloseConn{TCPConn: tcp, waits: l.waits}, nil
	}
	return c, err
}

// halfCloseConn keeps the end of the client's side from net/http for a while, which would take it for the end of the client and
// cancel the request's context.
type halfCloseConn struct {
	*net.TCPConn
	waits  time.Duration
	mu     sync.Mutex
	waking chan struct{} // closed when a read that waits must end; nil when none waits
}

// Read reads from the client. While a request is answered, net/http waits for what comes next by reading a single byte; an end
// in that place waits, until the answer is there (net/http then has the read end by a deadline in the past) or for
// some time.
func (c *halfCloseConn) Read(b []byte) (int, error) {
	n, err := c.TCPConn.Read(b)
	if err != io.EOF || len(b) != 1 {
		return n, err
	}
	waking := make(chan struct{})
	c.mu.Lock()
	c.waking = waking
	c.mu.Unlock()
	// The deadline may have come between the read and the wait; asking again tells.
	if _, err := c.TCPConn.Read(b); err != io.EOF {
		return 0, err
	}
	timer := time.NewTimer(c.waits)
	defer timer.Stop()
	select {
	case <-waking:
		return 0, os.ErrDeadlineExceeded
	case <-timer.C:
		return 0, io.EOF
	}
}

// SetReadDeadline wakes a read that waits when the deadline has passed.
func (c *halfCloseConn) SetReadDeadline(t time.Time) error {
	err := c.TCPConn.SetReadDeadline(t)
	c.wake(t)
	return err
}

// SetDeadline does as SetReadDeadline, and for writes.
func (c *halfCloseConn) SetDeadline(t time.Time) error {
	err := c.TCPConn.SetDeadline(t)
	c.wake(t)
	return err
}

// Close wakes a read that waits.
func (c *halfCloseConn) Close() error {
	err := c.TCPConn.Close()
	c.wake(time.Unix(1, 0))
	return err
}

func (c *halfCloseConn) wake(deadline time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waking != nil && !deadline.IsZero() && !deadline.After(time.Now()) {
		close(c.waking)
		c.waking = nil
	}
}
