package reader

import (
	"fmt"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/event"

	"snowglobe/sim/store"
)

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
