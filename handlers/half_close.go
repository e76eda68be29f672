package handlers

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// halfClosedTime bounds a request whose client has closed its side of the connection. TCP does not reveal whether such a client still waits
// for the response, as nc -N does, or has gone. So the server keeps working for this long and then gives up. A client that reset its
// connection, or that does not read, has certainly gone.
const halfClosedTime = 5 * time.Second

// halfCloseListener accepts connections whose clients may close their side before they have the response.
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

// halfCloseConn hides the end of the client's side from net/http for a while, because net/http would take it for the end of the client and
// cancel the request's context.
type halfCloseConn struct {
	*net.TCPConn
	waits  time.Duration
	mu     sync.Mutex
	waking chan struct{} // closed to wake a waiting read; nil if none waits
}

// Read reads from the client. During a request, net/http waits for the next one by reading a single byte. If that read meets the end of the
// stream, Read blocks until the response is complete (net/http then ends the read with a deadline in the past) or the time is up.
func (c *halfCloseConn) Read(b []byte) (int, error) {
	n, err := c.TCPConn.Read(b)
	if err != io.EOF || len(b) != 1 {
		return n, err
	}
	waking := make(chan struct{})
	c.mu.Lock()
	c.waking = waking
	c.mu.Unlock()
	// The deadline may have arrived between the read and the wait, so check again.
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

// SetReadDeadline wakes a waiting read once the deadline has passed.
func (c *halfCloseConn) SetReadDeadline(t time.Time) error {
	err := c.TCPConn.SetReadDeadline(t)
	c.wake(t)
	return err
}

// SetDeadline sets both deadlines; see SetReadDeadline.
func (c *halfCloseConn) SetDeadline(t time.Time) error {
	err := c.TCPConn.SetDeadline(t)
	c.wake(t)
	return err
}

// Close wakes a waiting read.
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
