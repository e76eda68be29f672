package node

import (
	"sync"

	"github.com/ethereum/go-ethereum/event"

	"snowglobe/sim/evm"
)

// backlog is how many blocks a subscriber may lag behind before it is given up.
const backlog = 256

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
func (h *hub) join() chan *evm.News {
	subscriber := make(chan *evm.News, backlog)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.subscribers[subscriber] = struct{}{}
	return subscriber
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
