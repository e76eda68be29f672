package reader

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/event"
	"github.com/ethereum/go-ethereum/params"

	"snowglobe/sim/cache"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/store"
)

// Chain reads one EVM chain of a world, and executes on its states. Beside the file it holds the head and caches only. It is safe for
// concurrent use.
type Chain struct {
	Ledger
	Genesis     *evm.Genesis
	Limits      Limits
	WarpContext evm.WarpContext

	// Changes counts those of the state at the head without a block, since the process began. Whoever commits one counts it, once the commit
	// stands.
	Changes atomic.Uint64

	chainConfig *params.ChainConfig
	schedule    *precompile.Upgrades
	signer      types.Signer

	feed     event.FeedOf[*BlockEvent]
	lastTips atomic.Pointer[recentTips]
	gone     cache.Derived[int64, []byte] // the addresses of accounts that ceased to exist, by the commits of the file

	rewindsLock sync.Mutex
	rewinds     []*Rewind // the latest
	rewound     uint64    // how often the chain went back since the process began
}

// NewChain is the reading side of a chain.
func NewChain(db *store.DB, row store.Chain) (*Chain, error) {
	genesis, err := evm.ParseGenesis(evm.Kind(row.Kind), row.Genesis, row.Upgrades)
	if err != nil {
		return nil, fmt.Errorf("chain %d: %w", row.ID, err)
	}
	c := &Chain{
		Ledger:  Ledger{Row: row, Kind: genesis.Kind, db: db, history: newHistory(db.Caches())},
		Genesis: genesis, Limits: DefaultLimits(), chainConfig: genesis.ChainConfig(), schedule: &genesis.Precompiles,
	}
	c.signer = types.LatestSigner(c.chainConfig)
	return c, nil
}

// Restore makes the builder that continues the chain from its newest block. When the chain went back, before is the one that it had.
func Restore(ctx context.Context, c *Chain, before *evm.Builder) (*evm.Builder, error) {
	return evm.RestoreBuilder(ctx, c.db, c.Row.ID, c.Genesis, c.WarpContext, before)
}

// BlockEvent is a block that was just committed, with what eth_subscribe sends: head, transactions, logs. When the chain went back, it is
// the block that is the newest again, and the logs are those that are removed.
type BlockEvent struct {
	Block        *Block
	Transactions []store.Transaction
	Logs         []*types.Log

	Replacing bool // others follow at once that replace the blocks after it, so that it is the newest for nobody
}

// Publish makes a committed block the head for readers and sends it to the subscribers. Whoever commits a block calls it,
// once the commit stands.
func (c *Chain) Publish(d *store.Delta) error {
	b, err := c.block(&d.Block)
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	c.head.Store(b)
	c.feed.Send(&BlockEvent{Block: b, Transactions: d.Transactions, Logs: logsOf(d)})
	return nil
}

// Rewind is that the chain went back.
type Rewind struct {
	To   uint64       // the number of the block that is the newest again
	Logs []*types.Log // that were undone, in their order

	Replacing bool // as that of a BlockEvent
}

const (
	rewindsKept    = 16     // for clients that ask what is new from time to time
	maxRemovedLogs = 10_000 // that subscribers are told of
)

// RemovedLogs are the logs of the blocks after one, as they are told when those are undone.
func (c *Chain) RemovedLogs(ctx context.Context, after uint64) (all []*types.Log, err error) {
	last := store.At(c.Row.ID, store.MaxNumber, store.MaxIndex)
	for next := store.At(c.Row.ID, after+1, 0); len(all) < maxRemovedLogs; {
		page, err := c.db.LogViewsBetween(ctx, next, last, logPage)
		if err != nil {
			return nil, err
		}
		for i := range page {
			log := logOf(&page[i])
			log.Removed = true
			all = append(all, log)
			next = page[i].ID + 1
		}
		if len(page) < logPage {
			break
		}
	}
	return all, nil
}

// Rewound reads the head anew, since the world went back, and tells the subscribers. removed are the logs that were undone; replacing says that
// other blocks follow at once.
func (c *Chain) Rewound(ctx context.Context, removed []*types.Log, replacing bool) error {
	row, err := c.db.Head(ctx, c.Row.ID)
	if err != nil {
		return err
	}
	head, err := c.block(row)
	if err != nil {
		return err
	}
	before := c.head.Load()
	c.Changes.Add(1)
	c.rewindsLock.Lock()
	c.rewinds = append(c.rewinds, &Rewind{head.Number, removed, replacing})
	c.rewinds = c.rewinds[max(0, len(c.rewinds)-rewindsKept):]
	c.rewound++
	c.head.Store(head)
	c.rewindsLock.Unlock()
	if before == nil || before.Hash != head.Hash {
		c.feed.Send(&BlockEvent{Block: head, Logs: removed, Replacing: replacing})
	}
	return nil
}

// Rewinds are those after so many, as far as they are remembered, and how many there were.
func (c *Chain) Rewinds(after uint64) ([]*Rewind, uint64) {
	c.rewindsLock.Lock()
	defer c.rewindsLock.Unlock()
	return slices.Clone(c.rewinds[max(0, len(c.rewinds)-int(c.rewound-after)):]), c.rewound
}

// logsOf are the logs of a block that was just made.
func logsOf(d *store.Delta) (all []*types.Log) {
	for i := range d.Logs {
		row := &d.Logs[i]
		all = append(all, logOf(&store.LogView{Log: *row, BlockHash: d.Block.Hash, TxHash: d.Transactions[row.Tx].Hash}))
	}
	return all
}

// Caches are those of what is read of the chain's file.
func (l *Ledger) Caches() *cache.Group { return l.db.Caches() }

// Subscribe delivers every block that is committed from now on. Committing waits for the channel, so its reader must
// never wait for a client.
func (c *Chain) Subscribe(ch chan<- *BlockEvent) event.Subscription { return c.feed.Subscribe(ch) }
