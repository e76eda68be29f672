package reader

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/event"
	"github.com/ethereum/go-ethereum/params"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/store"
)

// Chain reads one EVM chain of a world. Beside the file it holds the head and caches only. It is safe for concurrent use.
type Chain struct {
	Row         store.Chain
	Kind        evm.Kind
	Genesis     *evm.Genesis
	Limits      Limits
	Now         func() int64 // the world's clock, Unix seconds; nil: the time of the head
	WarpContext evm.WarpContext

	db          *store.DB
	chainConfig *params.ChainConfig
	schedule    *precompile.Upgrades
	signer      types.Signer

	head    atomic.Pointer[Block]
	feed    event.FeedOf[*BlockEvent]
	lastTip atomic.Pointer[tipSuggestion]
	history *history
	changes atomic.Uint64 // of the state without a block, since the process began
}

// NewChain is the reading side of a chain.
func NewChain(db *store.DB, row store.Chain) (*Chain, error) {
	genesis, err := evm.ParseGenesis(evm.Kind(row.Kind), row.Genesis, row.Upgrades)
	if err != nil {
		return nil, fmt.Errorf("chain %d: %w", row.ID, err)
	}
	c := &Chain{Row: row, Kind: genesis.Kind, Genesis: genesis, Limits: DefaultLimits(), db: db, chainConfig: genesis.ChainConfig(), schedule: &genesis.Precompiles}
	c.signer = types.LatestSigner(c.chainConfig)
	c.history = newHistory()
	return c, nil
}

// Restore makes the builder that continues the chain from its newest block.
func Restore(ctx context.Context, c *Chain) (*evm.Builder, error) {
	return evm.RestoreBuilder(ctx, c.db, c.Row.ID, c.Genesis, c.WarpContext)
}

// BlockEvent is a block that was just committed, with what eth_subscribe sends: head, transactions, logs.
type BlockEvent struct {
	Block        *Block
	Transactions []store.Transaction
	Logs         []*types.Log
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

// logsOf are the logs of a block that was just made.
func logsOf(d *store.Delta) (all []*types.Log) {
	for i := range d.Logs {
		row := &d.Logs[i]
		all = append(all, logOf(&store.LogView{Log: *row, BlockHash: d.Block.Hash, TxHash: d.Transactions[row.Tx].Hash}))
	}
	return all
}

// Subscribe delivers every block that is committed from now on. Committing waits for the channel, so its reader must
// never wait for a client.
func (c *Chain) Subscribe(ch chan<- *BlockEvent) event.Subscription { return c.feed.Subscribe(ch) }
