package eth

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/handlers/node/eth/marshal"
	"snowglobe/handlers/node/rpc"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/evm/txpool"
)

// Limits of the filters that clients create. A node does not limit their number.
const (
	maxFilters   = 1_000
	filterExpiry = 5 * time.Minute // since the last poll (coreth eth/filters.Config.withDefaults)
)

var errFilter = errors.New("filter not found")

// filterAPI implements the eth methods that poll for news: coreth's eth/filters.FilterAPI. A filter stores only its client's position;
// the news come from the blocks themselves.
type filterAPI struct {
	*api
	mu      sync.Mutex
	filters map[rpc.ID]*filter
}

type filterKind int

const (
	newBlocks filterKind = iota
	newTransactions
	newLogs
)

type filter struct {
	kind   filterKind
	wanted filterCriteria // by newLogs
	full   bool           // newTransactions tells them in full
	next   uint64         // the first block, or pending transaction, that the client has not seen
	asked  time.Time

	rewinds uint64       // the chain's rewinds that the filter knows of,
	removed []*types.Log // and the logs that they removed after the client saw them
}

// NewFilter watches for logs.
func (a *filterAPI) NewFilter(ctx context.Context, wanted filterCriteria) (rpc.ID, error) {
	if err := wanted.watchable(); err != nil {
		return "", err
	}
	return a.add(ctx, &filter{kind: newLogs, wanted: wanted})
}

// NewBlockFilter watches for blocks.
func (a *filterAPI) NewBlockFilter(ctx context.Context) (rpc.ID, error) {
	return a.add(ctx, &filter{kind: newBlocks})
}

// NewPendingTransactionFilter watches for transactions that blocks can take, by hash or in full.
func (a *filterAPI) NewPendingTransactionFilter(ctx context.Context, full *bool) (rpc.ID, error) {
	return a.add(ctx, &filter{kind: newTransactions, full: full != nil && *full})
}

func (a *filterAPI) add(ctx context.Context, f *filter) (rpc.ID, error) {
	b, err := a.miner.LastExecuted(ctx)
	if err != nil {
		return "", err
	}
	f.next, f.asked = b.Number+1, time.Now()
	_, f.rewinds = a.chain.Rewinds(math.MaxUint64)
	if f.kind == newTransactions {
		_, f.next = a.miner.Pool.Became(math.MaxUint64)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, old := range a.filters {
		if time.Since(old.asked) > filterExpiry {
			delete(a.filters, id)
		}
	}
	if len(a.filters) >= maxFilters {
		a.evictOldest()
	}
	id := rpc.NewID()
	a.filters[id] = f
	return id, nil
}

// evictOldest drops the filter that was polled least recently, so that one client's filters cannot lock others out.
func (a *filterAPI) evictOldest() {
	var oldest rpc.ID
	for id, f := range a.filters {
		if oldest == "" || f.asked.Before(a.filters[oldest].asked) {
			oldest = id
		}
	}
	delete(a.filters, oldest)
}

// UninstallFilter deletes a filter and reports whether it existed.
func (a *filterAPI) UninstallFilter(id rpc.ID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, known := a.filters[id]
	delete(a.filters, id)
	return known
}

// find returns a filter and the blocks that its client has not seen; reading marks them as seen.
func (a *filterAPI) find(id rpc.ID, top uint64, read bool) (f filter, first uint64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.filters[id]
	if known == nil {
		return filter{}, 0, errFilter
	}
	known.asked = time.Now()
	a.follow(known)
	f, first = *known, known.next
	if read && known.kind != newTransactions {
		known.next, known.removed = max(first, top+1), nil
	}
	return f, first, nil
}

// follow rewinds a filter with its chain. A client that had seen later blocks sees the new head as new, unless other blocks have replaced
// them.
func (a *filterAPI) follow(f *filter) {
	var all []*reader.Rewind
	all, f.rewinds = a.chain.Rewinds(f.rewinds)
	if f.kind == newTransactions {
		return
	}
	for _, r := range all {
		if f.next <= r.To+1 {
			continue
		}
		for _, log := range r.Logs {
			if f.kind == newLogs && log.BlockNumber < f.next && f.wanted.watches(log) {
				f.removed = append(f.removed, log)
			}
		}
		if f.next = r.To + 1; f.kind == newBlocks && !r.Replacing {
			f.next = r.To
		}
	}
}

// GetFilterChanges returns what is new since the last poll.
func (a *filterAPI) GetFilterChanges(ctx context.Context, id rpc.ID) (rpc.Result, error) {
	b, err := a.miner.LastExecuted(ctx)
	if err != nil {
		return rpc.Result{}, err
	}
	f, first, err := a.find(id, b.Number, true)
	if err != nil {
		return rpc.Result{}, err
	}
	switch f.kind {
	case newLogs:
		return a.newLogs(ctx, &f, first, b.Number)
	case newTransactions:
		return a.newPending(ctx, id)
	}
	w := &marshal.Writer{}
	w.Open('[')
	for number := first; number <= b.Number; number++ {
		b, err := a.chain.Block(ctx, number)
		if err != nil {
			return rpc.Result{}, err
		}
		w.Bytes(b.Hash[:])
	}
	w.Close(']')
	return rpc.Bytes(w.JSON), nil
}

// newPending returns the transactions that became pending since the last poll.
func (a *filterAPI) newPending(ctx context.Context, id rpc.ID) (rpc.Result, error) {
	a.mu.Lock()
	f := a.filters[id]
	if f == nil {
		a.mu.Unlock()
		return rpc.Result{}, errFilter
	}
	var hashes []common.Hash
	hashes, f.next = a.miner.Pool.Became(f.next)
	full := f.full
	a.mu.Unlock()
	w := &marshal.Writer{}
	if !full {
		w.Hashes(hashes)
		return rpc.Bytes(w.JSON), nil
	}
	w.Open('[')
	for _, hash := range hashes {
		t, err := a.wasPending(ctx, hash)
		if err != nil {
			return rpc.Result{}, err
		}
		if t != nil {
			w.Separate()
			w.JSON = append(w.JSON, marshal.Pooled(t)...)
		}
	}
	w.Close(']')
	return rpc.Bytes(w.JSON), nil
}

// wasPending returns a transaction that became pending, whether or not a block took it since; nil if it was dropped.
func (a *filterAPI) wasPending(ctx context.Context, hash common.Hash) (*txpool.Transaction, error) {
	if t := a.miner.Pool.Get(hash); t != nil {
		return t, nil
	}
	t, err := a.chain.Transaction(ctx, hash)
	if err != nil {
		return nil, OrNull(err)
	}
	return &txpool.Transaction{Transaction: t.Transaction, Sender: t.Sender}, nil
}

func (a *filterAPI) newLogs(ctx context.Context, f *filter, first, last uint64) (rpc.Result, error) {
	c := &f.wanted
	if c.from != nil && *c.from > 0 {
		first = max(first, uint64(*c.from))
	}
	if c.to != nil && *c.to >= 0 {
		last = min(last, uint64(*c.to))
	}
	return c.logs(ctx, a.api, first, last, f.removed)
}

// GetFilterLogs returns all logs that match a log filter, old and new (coreth eth/filters.FilterAPI.GetFilterLogs).
func (a *filterAPI) GetFilterLogs(ctx context.Context, id rpc.ID) (rpc.Result, error) {
	f, _, err := a.find(id, 0, false)
	if err != nil {
		return rpc.Result{}, err
	}
	if f.kind != newLogs {
		return rpc.Result{}, errFilter
	}
	return f.wanted.answer(ctx, a.api)
}
