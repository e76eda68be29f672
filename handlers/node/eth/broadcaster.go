package eth

import (
	"fmt"
	"sync"

	"github.com/ethereum/go-ethereum/event"

	"snowglobe/sim/evm/reader"
)

const (
	backlog        = 64    // blocks that a subscriber may lag behind before it is given up
	maxSubscribers = 2_000 // of one chain
)

var errSubscribers = fmt.Errorf("too many subscriptions: at most %d; unsubscribe from those that are not needed", maxSubscribers)

// broadcaster hands the new blocks of a chain to its subscribers, so that no slow client holds up a commit.
type broadcaster struct {
	source event.Subscription
	events chan *reader.BlockEvent
	quit   chan struct{}
	once   sync.Once

	mu          sync.Mutex
	subscribers map[chan *reader.BlockEvent]struct{}
}

func newBroadcaster(chain *reader.Chain) *broadcaster {
	b := &broadcaster{events: make(chan *reader.BlockEvent, backlog), quit: make(chan struct{}), subscribers: map[chan *reader.BlockEvent]struct{}{}}
	b.source = chain.Subscribe(b.events)
	go b.run()
	return b
}

func (b *broadcaster) run() {
	for {
		select {
		case e := <-b.events:
			b.broadcast(e)
		case <-b.quit:
			return
		}
	}
}

func (b *broadcaster) broadcast(e *reader.BlockEvent) {
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
func (b *broadcaster) subscribe() (chan *reader.BlockEvent, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.subscribers) >= maxSubscribers {
		return nil, errSubscribers
	}
	subscriber := make(chan *reader.BlockEvent, backlog)
	b.subscribers[subscriber] = struct{}{}
	return subscriber, nil
}

func (b *broadcaster) unsubscribe(subscriber chan *reader.BlockEvent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.subscribers, subscriber)
}

func (b *broadcaster) close() {
	b.once.Do(func() {
		b.source.Unsubscribe()
		close(b.quit)
	})
}
