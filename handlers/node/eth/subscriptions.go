package eth

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/rpc"
)

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
