package primary

import (
	"strconv"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/sim/store"
)

func (a *primaryAPI) listAtomicBlocks(r *rest.Request, c *primaryChain, high, low store.Position) (any, error) {
	at, err := c.DB.BlockIDs(r.Context(), high, low, r.PageSize()+1)
	if err != nil {
		return nil, err
	}
	at, next := data.CutPage(r, at, data.Position)
	return blockPage(c, at, next, func(p store.Position) (data.RawJSON, error) { return a.atomicBlock(r, c, p.Number()) })
}

// atomicBlock returns a C-Chain block in the primary network's shape as JSON, from the cache if it can.
func (a *primaryAPI) atomicBlock(r *rest.Request, c *primaryChain, number uint64) (data.RawJSON, error) {
	at := store.At(c.blocks(), number, 0)
	if text, ok := a.cBlocks.Get(at); ok {
		return text, nil
	}
	b, err := c.evm.Block(r.Context(), number)
	if err != nil {
		return nil, err
	}
	raw, err := c.evm.RawBlock(r.Context(), b)
	if err != nil {
		return nil, err
	}
	within := store.At(c.number(), number, 0)
	names, err := c.DB.PrimaryTxHashes(r.Context(), within, within.End())
	if err != nil {
		return nil, err
	}
	shown := &PrimaryBlock{
		BlockNumber: strconv.FormatUint(number, 10), BlockHash: data.Hash(b.Row.Hash), ParentHash: b.Header.ParentHash.Hex(),
		BlockTimestamp: b.Row.Time, BlockType: "Standard", TxCount: len(names),
		Transactions: data.List(names, func(n *store.PrimaryTxHash) string { return data.CB58(n.Hash) }), BlockSizeBytes: len(raw),
	}
	if number == 0 {
		shown.BlockType = "Genesis"
	}
	text, err := data.Marshal(shown)
	if err == nil {
		a.cBlocks.Add(at, text)
	}
	return text, err
}

func (a *primaryAPI) getAtomicBlock(r *rest.Request, c *primaryChain) (any, error) {
	id := r.Block("blockId")
	number := id.Number
	if id.ByHash {
		row, err := c.DB.BlockByHash(r.Context(), c.blocks(), id.Hash[:])
		if err != nil {
			return nil, data.OrNotFound(err, noBlock(id, c))
		}
		number = row.ID.Number()
	}
	last, err := c.height(r.Context())
	if err != nil {
		return nil, err
	}
	if number > last {
		return nil, noBlock(id, c)
	}
	return a.atomicBlock(r, c, number)
}
