package primary

import (
	"context"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// ChainInfo names the primary chain of a list.
type ChainInfo struct {
	ChainName string `json:"chainName" enum:"p-chain,x-chain,c-chain"`
	Network   string `json:"network" enum:"mainnet,fuji,testnet"`
}

// primaryChain is one of the three primary chains of a network.
type primaryChain struct {
	*sim.Network
	kind txs.Chain
	evm  *reader.Chain // C-Chain only
}

// onPrimary turns a handler for one primary chain into one that finds the chain first.
func (a *primaryAPI) onPrimary(handle func(*rest.Request, *primaryChain) (any, error)) func(*rest.Request) (any, error) {
	return a.OnNetwork(func(r *rest.Request, n *sim.Network) (any, error) {
		name := r.Text("blockchainId")
		for _, kind := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
			if name == data.ChainNames[kind] || name == n.Rules.BlockchainID(kind).String() {
				c := &primaryChain{Network: n, kind: kind}
				if kind == txs.CChain {
					c.evm = n.CChain()
				}
				return handle(r, c)
			}
		}
		return nil, rest.NotFound("blockchain %s is not on network %s", name, n.Name)
	})
}

// number returns the file's number of the chain's UTXOs.
func (c *primaryChain) number() int { return c.Chain(c.kind) }

// blocks returns the file's number of the chain's blocks.
func (c *primaryChain) blocks() int {
	if c.evm != nil {
		return c.evm.Row.ID
	}
	return c.number()
}

// more returns the fields of a page other than its items.
func (c *primaryChain) more() map[string]any { return map[string]any{"chainInfo": c.info()} }

func (c *primaryChain) info() ChainInfo { return ChainInfo{data.ChainNames[c.kind], c.Name} }

func (c *primaryChain) height(ctx context.Context) (uint64, error) {
	if c.evm != nil {
		head, err := c.evm.Head(ctx)
		if err != nil {
			return 0, err
		}
		return head.Row.ID.Number(), nil
	}
	head, err := c.DB.PrimaryHead(ctx, c.number())
	return head.ID.Number(), err
}

// since returns the height of the first block at or after a time, or the next height if there is none.
func (c *primaryChain) since(ctx context.Context, unix int64) (uint64, error) {
	if c.evm != nil {
		return c.DB.FirstSince(ctx, c.blocks(), unix)
	}
	return c.DB.FirstPrimarySince(ctx, c.blocks(), unix)
}

// span returns the part of the chain that a page may cover, from its newest position down to the oldest.
func (c *primaryChain) span(r *rest.Request, number int) (high, low store.Position, err error) {
	high, low, err = c.times(r, number)
	if n, resumed := r.PositionNumber(); resumed {
		high = min(high, store.First(number)+store.Position(n)-1)
	}
	return high, low, err
}

// times returns the part of the chain that the request's time range allows.
func (c *primaryChain) times(r *rest.Request, number int) (high, low store.Position, err error) {
	high, low = store.Last(number), store.First(number)
	if r.Given("startTimestamp") {
		first, err := c.since(r.Context(), r.Int("startTimestamp"))
		if err != nil {
			return 0, 0, err
		}
		low = store.At(number, first, 0)
	}
	if r.Given("endTimestamp") {
		end, err := c.since(r.Context(), r.Int("endTimestamp"))
		if err != nil {
			return 0, 0, err
		}
		high = store.At(number, end, 0) - 1
	}
	return high, low, nil
}
