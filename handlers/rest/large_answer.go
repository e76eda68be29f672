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

// Bounds of the answers that may take many megabytes, such as the logs of a whole chain, for the process.
const (
	largeAnswers = 2                // that are made at once; a batch may take 25 MB twice
	largeBytes   = 32 << 20         // of those that are made and on their way to clients
	largeTimeout = 30 * time.Second // for a client to take one
	slowest      = 256 << 10        // bytes that it has to take in a second of one that is made meanwhile, which holds little

	unexpected      = 256 << 10 // size from which an answer is large although nobody knew: what a call returns, say
	unexpectedBytes = 48 << 20  // of those that wait to be on their way; when there are more, the client has to ask again
)

var (
	largeMaking  = semaphore.NewWeighted(largeAnswers)
	largeSending = semaphore.NewWeighted(largeBytes)
	largeWaiting = semaphore.NewWeighted(unexpectedBytes)

	errTooManyLarge = errors.New("too many large answers wait for their clients")

	// ErrOvertaken ends an answer that would be of two histories.
	ErrOvertaken = errors.New("the world went back while this was answered")
)

// LargeAnswer is the answer to one request, which may turn out to be large. It waits for its turn to be made, and gives that
// turn to others only when there is room for its bytes among those that clients are still taking, so that slow clients
// cannot make answers pile up.
type LargeAnswer struct {
	turn chan struct{} // for the answers of one connection; nil if a connection has one at a time anyway

	mu      sync.Mutex
	making  bool
	inTurn  bool
	sending int64
}

type largeKey struct{}

// WithLargeAnswer is a context for one of several requests that a connection has under way, of which one at a time, the one
// that has put something into turn, may be large. Release its answer when it was sent.
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

// AwaitLargeAnswer waits until the answer to a request may be large.
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

// Send waits until the bytes of an answer may be sent, and reports whether it is one that may be large.
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

// StreamAnswer waits until the answer to a request may be sent that is of such a size and is made while its client takes it, with some bytes
// in memory all the time.
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
	_ = http.NewResponseController(c.ResponseWriter).SetWriteDeadline(time.Now().Add(takes)) // tests have writers without deadlines
	return nil
}

// RefuseLarge answers that a large answer cannot be sent now.
func RefuseLarge(w http.ResponseWriter, err error) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, err.Error()+"; ask again", http.StatusServiceUnavailable)
}

// sendUnexpected is Send for an answer that was made without waiting.
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

// Release makes room for other answers.
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
