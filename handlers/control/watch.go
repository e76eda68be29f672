package control

import (
	"context"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/events"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/txs"
)

// NewBlock is the payload of a block event.
type NewBlock struct {
	Network      string `json:"network"`
	Chain        string `json:"chain"` // P, X, C or a blockchain id
	EVMChainID   uint64 `json:"evmChainId,omitempty"`
	Number       uint64 `json:"number"`
	Hash         string `json:"hash,omitempty"` // on EVM chains
	Time         int64  `json:"timestamp,omitempty"`
	Transactions *int   `json:"transactions,omitempty"` // on EVM chains
	Settles      uint64 `json:"settles,omitempty"`      // number of the last block whose results its header has, on a C-Chain since Helicon
}

// Watch publishes blocks and clock moves to the hub until the context ends.
func Watch(ctx context.Context, w *sim.World, name string, hub *events.Hub) {
	for _, c := range w.Chains {
		blocks := make(chan *reader.BlockEvent)
		subscription := c.Subscribe(blocks)
		defer subscription.Unsubscribe()
		go func() {
			for {
				select {
				case e := <-blocks:
					if e.Replacing {
						continue
					}
					hub.Publish(events.Block, name, func() any { return newBlock(c, e) })
				case <-subscription.Err():
					return
				}
			}
		}()
	}
	p := &primaryWatch{world: w, name: name, hub: hub, heights: map[primaryChain]uint64{}}
	for {
		committed, moved := w.Committed(), w.Clock.Moved()
		listening, begun := hub.Listening()
		if listening {
			p.look(ctx)
		} else {
			p.forget()
			committed, moved = nil, nil
		}
		select {
		case <-ctx.Done():
			return
		case <-begun:
		case <-committed:
		case <-moved:
		}
	}
}

func newBlock(c *reader.Chain, e *reader.BlockEvent) *NewBlock {
	b := &NewBlock{Network: c.Row.Network, Chain: "C", EVMChainID: c.Row.EVMID, Number: e.Block.Number, Hash: e.Block.Hash.Hex(),
		Time: int64(e.Block.Header.Time), Transactions: new(len(e.Transactions))}
	if e.Block.Header.Asynchronous() {
		b.Settles = e.Block.Settled()
	}
	if c.Kind == evm.KindL1 {
		b.Chain = ids.ID(c.Row.BlockchainID).String()
	}
	return b
}

type primaryChain struct {
	network string
	chain   txs.Chain
}

// primaryWatch detects changes on the P- and X-Chains and the clock by comparing them with its last look.
type primaryWatch struct {
	world   *sim.World
	name    string
	hub     *events.Hub
	heights map[primaryChain]uint64
	clock   int64
}

// forget discards the last look while nobody listens, so that nothing from that time is published later.
func (p *primaryWatch) forget() {
	clear(p.heights)
	p.clock = 0
}

func (p *primaryWatch) look(ctx context.Context) {
	for _, n := range p.world.Networks {
		for _, chain := range []txs.Chain{txs.PChain, txs.XChain} {
			head, err := n.DB.PrimaryHead(ctx, n.Chain(chain))
			if err != nil {
				continue // the client that reads it gets the error
			}
			key, height := primaryChain{n.Name, chain}, head.ID.Number()
			if last, known := p.heights[key]; known {
				p.tell(key, last, height)
			}
			p.heights[key] = height
		}
	}
	if now := p.world.Clock.UnixMilli(); now != p.clock {
		if p.clock != 0 {
			p.hub.Publish(events.Clock, p.name, func() any {
				at := p.world.Clock.Now()
				return map[string]any{"time": rfc3339(at.Unix()), "unix": at.Unix(), "milliseconds": at.UnixMilli()}
			})
		}
		p.clock = now
	}
}

// tell publishes the blocks above a height.
func (p *primaryWatch) tell(key primaryChain, last, height uint64) {
	for number := last + 1; number <= height; number++ {
		p.hub.Publish(events.Block, p.name, func() any {
			return &NewBlock{Network: key.network, Chain: key.chain.String(), Number: number}
		})
	}
}
