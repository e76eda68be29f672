package rest

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"snowglobe/sim"
)

// Limits, for the process, of responses that may take many megabytes, such as the logs of a whole chain.
const (
	largeAnswers = 2                // generated at once; a batch may take 25 MB twice
	largeBytes   = 32 << 20         // of those generated and on their way to clients
	largeTimeout = 30 * time.Second // for a client to read one
	slowest      = 256 << 10        // bytes a second that a client must read of a response generated meanwhile, which holds little

	unexpected      = 256 << 10 // size from which an unexpectedly large response counts, such as a call's result
	unexpectedBytes = 48 << 20  // of those waiting to be sent; beyond that the client has to retry
)

var (
	largeMaking  = semaphore.NewWeighted(largeAnswers)
	largeSending = semaphore.NewWeighted(largeBytes)
	largeWaiting = semaphore.NewWeighted(unexpectedBytes)

	errTooManyLarge = errors.New("too many large responses are waiting for their clients")

	// ErrOvertaken ends a response that would mix two histories.
	ErrOvertaken = errors.New("the world was reverted during this request")
)

// LargeAnswer is the response to one request, which may turn out to be large. It waits for its turn, and passes the turn on only when its bytes
// fit into memory together with the responses that clients are still reading, so that slow clients cannot pile up responses.
type LargeAnswer struct {
	turn chan struct{} // for the responses of one connection; nil if a connection has one at a time anyway

	mu      sync.Mutex
	making  bool
	inTurn  bool
	sending int64
}

type largeKey struct{}

// WithLargeAnswer returns a context for one of several requests that a connection has running. Only the one that has put something into
// turn may have a large response. Call Release once the response was sent.
func WithLargeAnswer(ctx context.Context, turn chan struct{}) (context.Context, *LargeAnswer) {
	l := &LargeAnswer{turn: turn}
	return context.WithValue(ctx, largeKey{}, l), l
}

func largeAnswerOf(ctx context.Context) *LargeAnswer {
	if l, ok := ctx.Value(largeKey{}).(*LargeAnswer); ok {
		return l
	}
	if c, ok := ctx.Value(contextKey{}).(*requestContext); ok {
		return &c.large
	}
	return nil
}

// AwaitLargeAnswer waits until the response to a request may be large.
func AwaitLargeAnswer(ctx context.Context) error {
	l := largeAnswerOf(ctx)
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.making || l.sending > 0 {
		return nil
	}
	if l.turn != nil {
		select {
		case l.turn <- struct{}{}:
			l.inTurn = true
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := largeMaking.Acquire(ctx, 1); err != nil {
		l.endTurn()
		return err
	}
	l.making = true
	return nil
}

// Send waits until a response's bytes may be sent, and reports whether it may be large.
func (l *LargeAnswer) Send(ctx context.Context, size int) (large bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := min(int64(size), largeBytes)
	switch {
	case !l.making && l.sending > 0: // the next part of it
		return false, nil
	case !l.making:
		return l.sendUnexpected(ctx, held)
	}
	if err := largeSending.Acquire(ctx, held); err != nil {
		return true, err
	}
	largeMaking.Release(1)
	l.making, l.sending = false, l.sending+held
	return true, nil
}

// StreamAnswer waits until a response of a certain size may be sent that is generated as its client reads, with some bytes in memory all
// the time.
func StreamAnswer(ctx context.Context, size int64, held int) error {
	c, ok := ctx.Value(contextKey{}).(*requestContext)
	if !ok {
		return nil
	}
	if sim.Overtaken(ctx) {
		return ErrOvertaken
	}
	if _, err := c.large.Send(ctx, held); err != nil {
		return err
	}
	takes := largeTimeout + time.Duration(size/slowest)*time.Second
	_ = http.NewResponseController(c.ResponseWriter).SetWriteDeadline(time.Now().Add(takes)) // test writers have no deadlines
	return nil
}

// RefuseLarge responds that a large response cannot be sent now.
func RefuseLarge(w http.ResponseWriter, err error) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, err.Error()+"; try again", http.StatusServiceUnavailable)
}

// sendUnexpected does Send's work for a response that was generated without waiting.
func (l *LargeAnswer) sendUnexpected(ctx context.Context, size int64) (large bool, err error) {
	if size < unexpected {
		return false, nil
	}
	if !largeWaiting.TryAcquire(size) {
		return true, errTooManyLarge
	}
	defer largeWaiting.Release(size)
	if err := largeSending.Acquire(ctx, size); err != nil {
		return true, err
	}
	l.sending += size
	return true, nil
}

// Release makes room for other responses.
func (l *LargeAnswer) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.making {
		largeMaking.Release(1)
	}
	if l.sending > 0 {
		largeSending.Release(l.sending)
	}
	l.endTurn()
	l.making, l.sending = false, 0
}

func (l *LargeAnswer) endTurn() {
	if l.inTurn {
		<-l.turn
		l.inTurn = false
	}
}
