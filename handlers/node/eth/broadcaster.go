package eth

import (
	"fmt"
	"sync"

	"github.com/ethereum/go-ethereum/event"
)

const (
	backlog        = 1_024 // blocks that a subscriber may lag behind before it is given up: about a second of a busy client's
	maxSubscribers = 2_000 // of one chain
)

var errSubscribers = fmt.Errorf("too many subscriptions: at most %d; unsubscribe from those that are not needed", maxSubscribers)

// broadcaster hands what is new on a chain, blocks or pending transactions, to its subscribers, so that no slow client holds up
// a commit.
type broadcaster[T any] struct {
	source event.Subscription
	events chan T
	quit   chan struct{}
	once   sync.Once

	mu          sync.Mutex
	subscribers map[chan T]struct{}
}

func newBroadcaster[T any](subscribe func(chan<- T) event.Subscription) *broadcaster[T] {
	b := &broadcaster[T]{events: make(chan T, backlog), quit: make(chan struct{}), subscribers: map[chan T]struct{}{}}
	b.source = subscribe(b.events)
	go b.run()
	return b
}

func (b *broadcaster[T]) run() {
	for {
		select {
		case e := <-b.events:
			b.broadcast(e)
		case <-b.quit:
			return
		}
	}
}

func (b *broadcaster[T]) broadcast(e T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for subscriber := range b.subscribers {
		select {
		case subscriber <- e:
		default:
			delete(b.subscribers, subscriber)
			close(subscriber)
		}
	}
}

// subscribe starts a subscription. Its channel is closed when it falls too far behind.
func (b *broadcaster[T]) subscribe() (chan T, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.subscribers) >= maxSubscribers {
		return nil, errSubscribers
	}
	subscriber := make(chan T, backlog)
	b.subscribers[subscriber] = struct{}{}
	return subscriber, nil
}

func (b *broadcaster[T]) unsubscribe(subscriber chan T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.subscribers, subscriber)
}

func (b *broadcaster[T]) close() {
	b.once.Do(func() {
		b.source.Unsubscribe()
		close(b.quit)
	})
}
