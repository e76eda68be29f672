package evm

import (
	"reflect"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// Block is a block of an EVM chain.
type Block struct {
	ChainID                    string `json:"chainId" format:"uint"`
	BlockNumber                string `json:"blockNumber" format:"uint"`
	BlockTimestamp             int64  `json:"blockTimestamp"`
	BlockTimestampMilliseconds uint64 `json:"blockTimestampMilliseconds"`
	BlockMinDelayExcess        uint64 `json:"blockMinDelayExcess"`
	BlockHash                  string `json:"blockHash" format:"hash"`
	TxCount                    int    `json:"txCount"`
	BaseFee                    string `json:"baseFee" format:"uint"`
	GasUsed                    string `json:"gasUsed" format:"uint"`
	GasLimit                   string `json:"gasLimit" format:"uint"`
	GasCost                    string `json:"gasCost" format:"uint"`
	ParentHash                 string `json:"parentHash" format:"hash"`
	FeesSpent                  string `json:"feesSpent" format:"uint"`
	CumulativeTransactions     string `json:"cumulativeTransactions" format:"uint"`
}

// blocks is the response of both lists, on one chain and across chains.
type blocks struct {
	NextPageToken string  `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Blocks        []Block `json:"blocks"`
}

func (a *chainAPI) blockOperations() []rest.Operation {
	return []rest.Operation{
		{ID: "listBlocks", Path: "/v1/chains/{chainId}/blocks", Summary: "List the latest blocks of a chain", Spec: "Blocks",
			Params: data.JoinParams(data.ChainParam, rest.Paging(10, 100)), Answer: reflect.TypeFor[blocks](), Handle: a.OnChain(a.listBlocks)},
		{ID: "getBlock", Path: "/v1/chains/{chainId}/blocks/{blockId}", Summary: "Get a block by its number or hash",
			Params: data.JoinParams(data.ChainParam, rest.Param{Name: "blockId", Kind: schema.KindBlock}), Answer: reflect.TypeFor[Block](),
			Handle: a.OnChain(a.getBlock)},
		{ID: "listAllBlocks", Path: "/v1/blocks", Summary: "List the latest blocks of all chains",
			Params: data.JoinParams(data.NetworkParam, rest.Paging(10, 100)), Answer: reflect.TypeFor[blocks](), Handle: a.listAllBlocks},
		{ID: "listAllLatestBlocks", Path: "/v1/chains/allBlocks", Summary: "The same, under its deprecated path", Deprecated: true,
			Params: data.JoinParams(data.NetworkParam, rest.Paging(10, 100)), Answer: reflect.TypeFor[blocks](), Handle: a.listAllBlocks},
	}
}

func (a *chainAPI) listBlocks(r *rest.Request, c *reader.Chain) (any, error) {
	high, low := data.Span(r, c)
	at, err := a.World.DB.BlockIDs(r.Context(), high, low, r.PageSize()+1)
	if err != nil {
		return nil, err
	}
	at, next := data.CutPage(r, at, data.Position)
	rows, err := a.blocks.blocksAt(r, c, at)
	return blocks{next, data.List(rows, func(f **blockFact) Block { return (*f).shown })}, err
}

func (a *chainAPI) getBlock(r *rest.Request, c *reader.Chain) (any, error) {
	row, err := a.blockRow(r, c)
	if err != nil {
		return nil, err
	}
	return a.blocks.block(c, row)
}

// blockRow returns the block that the request names by number or hash.
func (a *chainAPI) blockRow(r *rest.Request, c *reader.Chain) (row *store.Block, err error) {
	id := r.Block("blockId")
	if id.ByHash {
		row, err = a.World.DB.BlockByHash(r.Context(), c.Row.ID, id.Hash[:])
	} else {
		row, err = a.World.DB.Block(r.Context(), c.Row.ID, id.Number)
	}
	return row, data.OrNotFound(err, rest.NotFound("block %s does not exist on chain %d", id, c.Row.EVMID))
}
