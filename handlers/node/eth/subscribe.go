package eth

import (
	"context"
	"encoding/json"

	"github.com/ethereum/go-ethereum/rpc"

	"snowglobe/sim/evm/reader"
)

// subscribeAPI has the subscriptions of the eth namespace, over WebSocket only: go-ethereum's eth/filters.FilterAPI.
type subscribeAPI struct {
	*api
	broadcaster *broadcaster
}

// NewHeads sends the header of every new block.
func (a *subscribeAPI) NewHeads(ctx context.Context) (*rpc.Subscription, error) {
	return a.subscribe(ctx, func(_ context.Context, e *reader.BlockEvent) ([]json.RawMessage, error) {
		return []json.RawMessage{newHeadJSON(a.chain.Kind, e.Block)}, nil
	})
}

// Logs sends every new log that the criteria choose, whatever their range.
func (a *subscribeAPI) Logs(ctx context.Context, wanted filterCriteria) (*rpc.Subscription, error) {
	if err := wanted.filter.Check(); err != nil {
		return nil, err
	}
	return a.subscribe(ctx, func(_ context.Context, e *reader.BlockEvent) ([]json.RawMessage, error) {
		var all []json.RawMessage
		for _, log := range e.Logs {
			if wanted.filter.Matches(log.Address, log.Topics) {
				w := &jsonWriter{}
				w.log(log)
				all = append(all, w.json)
			}
		}
		return all, nil
	})
}

// NewPendingTransactions sends every new transaction, by hash or in full. Here they are in a block already.
func (a *subscribeAPI) NewPendingTransactions(ctx context.Context, full *bool) (*rpc.Subscription, error) {
	return a.transactions(ctx, full)
}

// NewAcceptedTransactions sends every transaction in a new block, by hash or in full.
func (a *subscribeAPI) NewAcceptedTransactions(ctx context.Context, full *bool) (*rpc.Subscription, error) {
	return a.transactions(ctx, full)
}

func (a *subscribeAPI) transactions(ctx context.Context, full *bool) (*rpc.Subscription, error) {
	return a.subscribe(ctx, func(ctx context.Context, e *reader.BlockEvent) ([]json.RawMessage, error) {
		if full != nil && *full {
			return a.inFull(ctx, e)
		}
		var all []json.RawMessage
		for i := range e.Transactions {
			w := &jsonWriter{}
			w.bytes(e.Transactions[i].Hash)
			all = append(all, w.json)
		}
		return all, nil
	})
}

func (a *subscribeAPI) inFull(ctx context.Context, e *reader.BlockEvent) ([]json.RawMessage, error) {
	transactions, err := a.chain.Transactions(ctx, e.Block)
	var all []json.RawMessage
	for _, t := range transactions {
		all = append(all, transactionJSON(t))
	}
	return all, err
}

// subscribe sends what tell makes of each block until the client leaves, its connection ends or it falls too far behind.
func (a *subscribeAPI) subscribe(ctx context.Context, tell func(context.Context, *reader.BlockEvent) ([]json.RawMessage, error)) (*rpc.Subscription, error) {
	notifier, supported := rpc.NotifierFromContext(ctx)
	if !supported {
		return nil, rpc.ErrNotificationsUnsupported
	}
	events, err := a.broadcaster.subscribe()
	if err != nil {
		return nil, err
	}
	subscription := notifier.CreateSubscription()
	go func() {
		defer a.broadcaster.unsubscribe(events)
		for {
			select {
			case block, open := <-events:
				if !open || !notify(notifier, subscription.ID, block, tell) {
					return
				}
			case <-subscription.Err():
				return
			}
		}
	}()
	return subscription, nil
}

// notify says whether the client still listens.
func notify(notifier *rpc.Notifier, id rpc.ID, e *reader.BlockEvent, tell func(context.Context, *reader.BlockEvent) ([]json.RawMessage, error)) bool {
	messages, err := tell(context.Background(), e)
	if err != nil {
		return false
	}
	for _, message := range messages {
		if notifier.Notify(id, message) != nil {
			return false
		}
	}
	return true
}
