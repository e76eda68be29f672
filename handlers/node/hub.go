package node

import (
	"fmt"
	"sync"

	"github.com/ethereum/go-ethereum/event"

	"snowglobe/sim/evm"
)

const (
	backlog        = 64    // blocks that a subscriber may lag behind before it is given up
	maxSubscribers = 2_000 // of one chain
)

var errSubscribers = fmt.Errorf("too many subscriptions: at most %d; unsubscribe from those that are not needed", maxSubscribers)

// hub takes the news of a chain and hands it to the subscribers, so that no slow client holds up a commit.
type hub struct {
	source event.Subscription
	news   chan *evm.News
	quit   chan struct{}
	once   sync.Once

	mu          sync.Mutex
	subscribers map[chan *evm.News]struct{}
}

func newHub(chain *evm.Chain) *hub {
	h := &hub{news: make(chan *evm.News, backlog), quit: make(chan struct{}), subscribers: map[chan *evm.News]struct{}{}}
	h.source = chain.Subscribe(h.news)
	go h.run()
	return h
}

func (h *hub) run() {
	for {
		select {
		case news := <-h.news:
			h.spread(news)
		case <-h.quit:
			return
		}
	}
}

func (h *hub) spread(news *evm.News) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for subscriber := range h.subscribers {
		select {
		case subscriber <- news:
		default:
			delete(h.subscribers, subscriber)
			close(subscriber)
		}
	}
}

// join starts a subscription. Its channel is closed when it falls too far behind.
func (h *hub) join() (chan *evm.News, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.subscribers) >= maxSubscribers {
		return nil, errSubscribers
	}
	subscriber := make(chan *evm.News, backlog)
	h.subscribers[subscriber] = struct{}{}
	return subscriber, nil
}

func (h *hub) leave(subscriber chan *evm.News) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.subscribers, subscriber)
}

func (h *hub) close() {
	h.once.Do(func() {
		h.source.Unsubscribe()
		close(h.quit)
	})
}
