package eth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/event"

	"snowglobe/handlers/node/eth/marshal"
	"snowglobe/handlers/node/rpc"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/evm/txpool"
	"snowglobe/sim/miner"
	"snowglobe/sim/store"
)

// subscribeAPI implements the subscriptions of a node's eth namespace, over WebSocket only: coreth's eth/filters.FilterAPI.
type subscribeAPI struct {
	*api
	blocks  *broadcaster[*reader.BlockEvent]
	pending *broadcaster[[]*txpool.Transaction]
	head    atomic.Pointer[encodedHead]
}

// encodedHead caches a header's encoding for all subscribers.
type encodedHead struct {
	block *reader.Block
	json  json.RawMessage
}

func (a *subscribeAPI) encodeHead(b *reader.Block) json.RawMessage {
	if last := a.head.Load(); last != nil && last.block == b {
		return last.json
	}
	encoded := &encodedHead{b, marshal.NewHead(a.chain.Kind, b)}
	a.head.Store(encoded)
	return encoded.json
}

// NewHeads sends the header of every new block.
func (a *subscribeAPI) NewHeads(_ context.Context) (*rpc.Subscription, error) {
	return subscribe(a.blocks, func(e *reader.BlockEvent) ([]json.RawMessage, error) {
		if e.Replacing {
			return nil, nil
		}
		return []json.RawMessage{a.encodeHead(e.Block)}, nil
	})
}

// Logs sends every new log that matches the criteria.
func (a *subscribeAPI) Logs(_ context.Context, wanted filterCriteria) (*rpc.Subscription, error) {
	if err := wanted.watchable(); err != nil {
		return nil, err
	}
	return subscribe(a.blocks, func(e *reader.BlockEvent) ([]json.RawMessage, error) {
		var all []json.RawMessage
		for _, log := range e.Logs {
			if wanted.watches(log) {
				w := &marshal.Writer{}
				w.Log(log)
				all = append(all, w.JSON)
			}
		}
		return all, nil
	})
}

// NewPendingTransactions sends every transaction that becomes ready for a block, by hash or in full.
func (a *subscribeAPI) NewPendingTransactions(_ context.Context, full *bool) (*rpc.Subscription, error) {
	return subscribe(a.pending, func(fresh []*txpool.Transaction) ([]json.RawMessage, error) {
		var all []json.RawMessage
		for _, t := range fresh {
			if full != nil && *full {
				all = append(all, marshal.Pooled(t))
			} else {
				all = append(all, hashJSON(t.Hash().Bytes()))
			}
		}
		return all, nil
	})
}

// NewAcceptedTransactions sends every transaction in a new block, by hash or in full.
func (a *subscribeAPI) NewAcceptedTransactions(_ context.Context, full *bool) (*rpc.Subscription, error) {
	return subscribe(a.blocks, func(e *reader.BlockEvent) ([]json.RawMessage, error) {
		if full != nil && *full {
			return a.inFull(e)
		}
		var all []json.RawMessage
		for i := range e.Transactions {
			all = append(all, hashJSON(e.Transactions[i].Hash))
		}
		return all, nil
	})
}

// newerSubscribeAPI implements the subscriptions of the newest go-ethereum that a node of the network does not have.
type newerSubscribeAPI struct {
	*api
	blocks *broadcaster[*reader.BlockEvent]
}

// receiptsFilter selects transactions by hash; none selects all (go-ethereum eth/filters.TransactionReceiptsQuery).
type receiptsFilter struct {
	TransactionHashes []common.Hash
}

const maxReceiptHashes = 200 // in one subscription (go-ethereum eth/filters.maxTxHashes)

var errReceiptHashes = fmt.Errorf("exceed max number of transaction hashes allowed per transactionReceipts subscription: at most %d", maxReceiptHashes)

// TransactionReceipts sends the receipts of every new block's transactions, or of the named ones, as a list for each block that has any.
func (a *newerSubscribeAPI) TransactionReceipts(_ context.Context, wanted *receiptsFilter) (*rpc.Subscription, error) {
	hashes := map[common.Hash]bool{}
	if wanted != nil {
		if len(wanted.TransactionHashes) > maxReceiptHashes {
			return nil, errReceiptHashes
		}
		for _, hash := range wanted.TransactionHashes {
			hashes[hash] = true
		}
	}
	return subscribe(a.blocks, func(e *reader.BlockEvent) ([]json.RawMessage, error) {
		if e.Rewound || !slices.ContainsFunc(e.Transactions, func(t store.Transaction) bool { return len(hashes) == 0 || hashes[common.Hash(t.Hash)] }) {
			return nil, nil
		}
		receipts, err := a.chain.Receipts(context.Background(), e.Block)
		if err != nil {
			return nil, err
		}
		w := (&marshal.Writer{}).Open('[')
		for _, t := range receipts {
			if len(hashes) == 0 || hashes[t.Hash()] {
				w.Receipt(t)
			}
		}
		w.Close(']')
		return []json.RawMessage{w.JSON}, nil
	})
}

// Syncing sends false once: the chain is complete, and never starts to synchronize.
func (a *newerSubscribeAPI) Syncing(_ context.Context) (*rpc.Subscription, error) {
	never := func(*reader.BlockEvent) ([]json.RawMessage, error) { return nil, nil }
	return subscribe(a.blocks, never, json.RawMessage("false"))
}

func hashJSON(hash []byte) json.RawMessage {
	w := &marshal.Writer{}
	w.Bytes(hash)
	return w.JSON
}

func (a *subscribeAPI) inFull(e *reader.BlockEvent) ([]json.RawMessage, error) {
	transactions, err := a.chain.Transactions(context.Background(), e.Block)
	var all []json.RawMessage
	for _, t := range transactions {
		all = append(all, marshal.Transaction(t))
	}
	return all, err
}

var errBehind = errors.New("the subscriber fell too far behind")

// subscribe sends the first notifications, and those that tell makes of each event, until the client leaves, its connection ends, it falls too
// far behind or the world's file fails.
func subscribe[T any](b *broadcaster[T], tell func(T) ([]json.RawMessage, error), first ...json.RawMessage) (*rpc.Subscription, error) {
	events, err := b.subscribe()
	if err != nil {
		return nil, err
	}
	return rpc.Subscribe(func(ctx context.Context, notify func(any) error) error {
		defer b.unsubscribe(events)
		for _, message := range first {
			if notify(message) != nil {
				return nil
			}
		}
		for {
			select {
			case event, open := <-events:
				if !open {
					return errBehind
				}
				messages, err := tell(event)
				if store.Internal(err) {
					return err
				}
				if err != nil {
					continue // the event belongs to a history that a revert has undone
				}
				for _, message := range messages {
					if notify(message) != nil {
						return nil
					}
				}
			case <-ctx.Done():
				return nil
			}
		}
	}), nil
}

// executedBlocks passes on a chain's blocks once they are executed, which is at once unless a client made execution lag. Blocks that are undone
// meanwhile are never told of.
func executedBlocks(m *miner.Miner) func(chan<- *reader.BlockEvent) event.Subscription {
	return func(out chan<- *reader.BlockEvent) event.Subscription {
		in := make(chan *reader.BlockEvent, backlog)
		source := m.Chain.Subscribe(in)
		return event.NewSubscription(func(quit <-chan struct{}) error {
			defer source.Unsubscribe()
			var waiting []*reader.BlockEvent
			for {
				var moved, changed <-chan struct{}
				if len(waiting) > 0 {
					moved, changed = m.Moved(), m.FaultChanged()
				}
				last, err := m.LastExecuted(context.Background())
				for err == nil && len(waiting) > 0 && waiting[0].Block.Number <= last.Number {
					select {
					case out <- waiting[0]:
						waiting = waiting[1:]
					case <-quit:
						return nil
					}
				}
				select {
				case e := <-in:
					if e.Rewound {
						waiting = rewind(waiting, e)
					} else {
						waiting = append(waiting, e)
					}
				case <-moved:
				case <-changed:
				case <-quit:
					return nil
				}
			}
		})
	}
}

// rewind returns what is still to be told after a chain went back. Logs of blocks that nobody was told of are not removed.
func rewind(waiting []*reader.BlockEvent, e *reader.BlockEvent) []*reader.BlockEvent {
	kept := slices.DeleteFunc(slices.Clone(waiting), func(w *reader.BlockEvent) bool { return w.Block.Number > e.Block.Number })
	if len(kept) > 0 {
		return kept // the last of them is the head again
	}
	told := *e
	told.Logs = nil
	untold := uint64(math.MaxUint64)
	for _, w := range waiting {
		if w.Rewound {
			told.Logs = append(told.Logs, w.Logs...)
		} else {
			untold = min(untold, w.Block.Number)
		}
	}
	for _, log := range e.Logs {
		if log.BlockNumber < untold {
			told.Logs = append(told.Logs, log)
		}
	}
	return []*reader.BlockEvent{&told}
}

const (
	backlog        = 1_024 // blocks that a subscriber may lag behind: about a second of a busy client's work
	maxSubscribers = 2_000 // per chain
)

var errSubscribers = fmt.Errorf("too many subscriptions: at most %d; unsubscribe from some", maxSubscribers)

// broadcaster passes a chain's new blocks and pending transactions to its subscribers without letting a slow one delay a commit.
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

// subscribe starts a subscription. Its channel closes if the subscriber falls too far behind.
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
