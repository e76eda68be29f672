package reader

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/event"
	"github.com/ethereum/go-ethereum/params"

	"snowglobe/fixtures"
	"snowglobe/sim/cache"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/secp256k1"
	"snowglobe/sim/store"
)

// Chain reads one EVM chain of a world, and executes on its states. In memory it holds only the head and caches. It is safe for concurrent use.
type Chain struct {
	Ledger
	Genesis        *evm.Genesis
	Limits         Limits
	Upgrades       fixtures.Upgrades // of its network
	NetworkContext evm.NetworkContext

	// Changes counts the state changes at the head without a block, since the process began. Committing one counts it, once the commit has
	// succeeded.
	Changes atomic.Uint64

	// HeadChanged, if set, is called whenever another block becomes the head. It must not wait.
	HeadChanged func()

	chainConfig *params.ChainConfig
	schedule    *precompile.Upgrades
	precompiles evm.ActivePrecompiles
	signer      types.Signer

	feed     event.FeedOf[*BlockEvent]
	lastTips atomic.Pointer[recentTips]
	gone     cache.Derived[int64, []byte]             // addresses of deleted accounts, by the file's commits
	next     cache.Derived[common.Hash, *evm.Builder] // a draft on the head of this hash, never opened: no state change alters the next header

	rewindsLock sync.Mutex
	rewinds     []*Rewind // the newest ones
	rewound     uint64    // how many times the chain was reverted since the process began
}

// NewChain returns the reading side of a chain.
func NewChain(db *store.DB, row store.Chain) (*Chain, error) {
	genesis, err := evm.ParseGenesis(evm.Kind(row.Kind), row.Genesis, row.Upgrades)
	if err != nil {
		return nil, fmt.Errorf("chain %d: %w", row.ID, err)
	}
	c := &Chain{
		Ledger:  Ledger{Row: row, Kind: genesis.Kind, db: db, history: newHistory(db.Caches())},
		Genesis: genesis, Limits: DefaultLimits(), chainConfig: genesis.ChainConfig(), schedule: &genesis.Precompiles,
	}
	c.signer = secp256k1.LatestSigner(c.chainConfig)
	return c, nil
}

// Restore makes the builder that continues the chain from its newest block. After a revert, before is the previous builder.
func Restore(ctx context.Context, c *Chain, before *evm.Builder) (*evm.Builder, error) {
	return evm.RestoreBuilder(ctx, c.db, c.Row.ID, c.Genesis, c.NetworkContext, before)
}

// PrecompileNames returns the addresses of the precompiles at a time, by name.
func (c *Chain) PrecompileNames(time uint64) map[string]common.Address {
	return new(evm.ActivePrecompiles).At(c.Kind, c.chainConfig.Rules(new(big.Int), true, time), c.schedule, time).Names()
}

// BlockEvent carries what eth_subscribe sends for a committed block: head, transactions, logs. After a revert, it carries the block that is
// newest again, and the removed logs.
type BlockEvent struct {
	Block        *Block
	Transactions []store.Transaction
	Logs         []*types.Log
	Console      []int // transactions that may have logged to the console, by index

	Rewound   bool // the block became the head again, and the logs are those that were removed
	Replacing bool // replacement blocks follow at once, so this one is never announced as the newest
}

// Publish makes a committed block the head for readers and sends it to the subscribers. Call it once the commit has succeeded.
func (c *Chain) Publish(d *store.Delta) error {
	b, err := c.block(&d.Block)
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	c.setHead(b)
	c.feed.Send(&BlockEvent{Block: b, Transactions: d.Transactions, Logs: logsOf(d), Console: d.Console})
	return nil
}

func (c *Chain) setHead(b *Block) {
	c.head.Store(b)
	if c.HeadChanged != nil {
		c.HeadChanged()
	}
}

// Rewind records a revert of the chain.
type Rewind struct {
	To   uint64       // the block that is the newest again
	Logs []*types.Log // the removed logs, in their order

	Replacing bool // as in BlockEvent
}

const (
	rewindsKept    = 16     // for clients that poll
	maxRemovedLogs = 10_000 // sent to subscribers
)

// RemovedLogs returns the logs of the blocks after one, in the form subscribers get when a revert removes them.
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

// Rewound reads the head again after a revert, and notifies the subscribers. removed lists the removed logs; replacing means that other blocks
// follow at once.
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
	c.setHead(head)
	c.rewindsLock.Unlock()
	if before == nil || before.Hash != head.Hash {
		c.feed.Send(&BlockEvent{Block: head, Logs: removed, Rewound: true, Replacing: replacing})
	}
	return nil
}

// Rewinds returns the reverts after the first n, as far as they are remembered, and the total number.
func (c *Chain) Rewinds(after uint64) ([]*Rewind, uint64) {
	c.rewindsLock.Lock()
	defer c.rewindsLock.Unlock()
	return slices.Clone(c.rewinds[max(0, len(c.rewinds)-int(c.rewound-after)):]), c.rewound
}

func logsOf(d *store.Delta) (all []*types.Log) {
	for i := range d.Logs {
		row := &d.Logs[i]
		all = append(all, logOf(&store.LogView{Log: *row, BlockHash: d.Block.Hash, TxHash: d.Transactions[row.Tx].Hash}))
	}
	return all
}

// Caches holds the caches over the chain's file.
func (l *Ledger) Caches() *cache.Group { return l.db.Caches() }

// Subscribe delivers every block committed from now on. Committing waits for the channel, so its reader must never wait for a client.
func (c *Chain) Subscribe(ch chan<- *BlockEvent) event.Subscription { return c.feed.Subscribe(ch) }
