package rest

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Bounds of the answers that may take many megabytes, such as the logs of a whole chain, for the process.
const (
	largeAnswers = 2                // that are made at once; a batch may take 25 MB twice
	largeBytes   = 32 << 20         // of those that are made and on their way to clients
	largeTimeout = 30 * time.Second // for a client to take one
)

var (
	largeMaking  = semaphore.NewWeighted(largeAnswers)
	largeSending = semaphore.NewWeighted(largeBytes)
)

// LargeAnswer is the answer to one request, which may turn out to be large. It waits for its turn to be made, and gives that
// turn to others only when there is room for its bytes among those that clients are still taking, so that slow clients
// cannot make answers pile up.
type LargeAnswer struct {
	turn chan struct{} // for the answers of one connection; nil if a connection has one at a time anyway

	mu      sync.Mutex
	making  bool
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
	if !l.making {
		return false, nil
	}
	held := min(int64(size), largeBytes)
	if err := largeSending.Acquire(ctx, held); err != nil {
		return true, err
	}
	largeMaking.Release(1)
	l.making, l.sending = false, l.sending+held
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
	if l.making || l.sending > 0 {
		l.endTurn()
	}
	l.making, l.sending = false, 0
}

func (l *LargeAnswer) endTurn() {
	if l.turn != nil {
		<-l.turn
	}
}
