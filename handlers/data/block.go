package data

import (
	"math/big"
	"reflect"
	"strconv"

	"snowglobe/handlers"
	"snowglobe/sim/evm"
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

// blocks is also the answer of the list across chains.
type blocks struct {
	NextPageToken string  `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Blocks        []Block `json:"blocks"`
}

// blockFacts is what other answers show of a block, decoded once.
type blockFacts struct {
	number   string
	time     int64
	millis   uint64
	excess   uint64
	hash     string
	baseFee  *big.Int
	gasLimit uint64
	gasCost  *big.Int
	parent   string
}

func (a *api) blockOperations() []handlers.Operation {
	return []handlers.Operation{
		{ID: "listBlocks", Path: "/v1/chains/{chainId}/blocks", Summary: "List the latest blocks of a chain", Spec: "Blocks",
			Params: with(chainParam, handlers.Paging(10, 100)), Answer: reflect.TypeFor[blocks](), Handle: a.onChain(a.listBlocks)},
		{ID: "getBlock", Path: "/v1/chains/{chainId}/blocks/{blockId}", Summary: "Get a block by its number or hash",
			Params: with(chainParam, handlers.Param{Name: "blockId", Kind: handlers.KindBlock}), Answer: reflect.TypeFor[Block](),
			Handle: a.onChain(a.getBlock)},
		{ID: "listAllBlocks", Path: "/v1/blocks", Summary: "List the latest blocks of all chains",
			Params: with(networkParam, handlers.Paging(10, 100)), Answer: reflect.TypeFor[blocks](), Handle: a.listAllBlocks},
		{ID: "listAllLatestBlocks", Path: "/v1/chains/allBlocks", Summary: "The same under its deprecated path", Deprecated: true,
			Params: with(networkParam, handlers.Paging(10, 100)), Answer: reflect.TypeFor[blocks](), Handle: a.listAllBlocks},
	}
}

// facts decodes a block's header, or remembers it.
func (a *api) facts(at store.Position, kind evm.Kind, hashed []byte, header []byte) (*blockFacts, error) {
	at = at.Block()
	if f, ok := a.memory.headers.Get(at); ok {
		return f, nil
	}
	h, err := evm.DecodeHeader(kind, header)
	if err != nil {
		return nil, err
	}
	f := &blockFacts{
		number: h.Number.String(), time: int64(h.Time), millis: h.TimeMilliseconds, excess: h.MinDelayExcess, hash: hash(hashed),
		baseFee: h.BaseFee, gasLimit: h.GasLimit, gasCost: h.BlockGasCost, parent: h.ParentHash.Hex(),
	}
	a.memory.headers.Add(at, f)
	return f, nil
}

func (a *api) block(c *evm.Chain, row *store.Block) (Block, error) {
	f, err := a.facts(row.ID, c.Kind, row.Hash, row.Header)
	if err != nil {
		return Block{}, err
	}
	return Block{
		ChainID: strconv.FormatUint(c.Row.EVMID, 10), BlockNumber: f.number, BlockTimestamp: row.Time,
		BlockTimestampMilliseconds: f.millis, BlockMinDelayExcess: f.excess, BlockHash: f.hash, TxCount: row.Txs,
		BaseFee: f.baseFee.String(), GasUsed: strconv.FormatUint(row.GasUsed, 10), GasLimit: strconv.FormatUint(f.gasLimit, 10),
		GasCost: f.gasCost.String(), ParentHash: f.parent, FeesSpent: amount(row.Fees),
		CumulativeTransactions: strconv.FormatInt(row.AllTxs, 10),
	}, nil
}

// blockFact is a block as it is shown.
type blockFact struct {
	at    store.Position
	shown Block
}

func (a *api) listBlocks(r *handlers.Request, c *evm.Chain) (any, error) {
	high, low := span(r, c)
	at, err := a.world.DB.BlockIDs(r.Context(), high, low, r.PageSize()+1)
	if err != nil {
		return nil, err
	}
	at, next := cut(r, at, position)
	rows, err := a.blocksAt(r, c, at)
	return blocks{next, list(rows, func(f **blockFact) Block { return (*f).shown })}, err
}

func (a *api) blocksAt(r *handlers.Request, c *evm.Chain, at []store.Position) ([]*blockFact, error) {
	return remember(at, a.memory.blocks, func(high, low store.Position, limit int) ([]store.Block, error) {
		return a.world.DB.BlocksDown(r.Context(), high, low, limit)
	}, func(b *store.Block) (store.Position, *blockFact, error) {
		shown, err := a.block(c, b)
		return b.ID, &blockFact{b.ID, shown}, err
	})
}

func (a *api) getBlock(r *handlers.Request, c *evm.Chain) (any, error) {
	row, err := a.blockRow(r, c)
	if err != nil {
		return nil, err
	}
	return a.block(c, row)
}

// blockRow is the block that the request names by its number or hash.
func (a *api) blockRow(r *handlers.Request, c *evm.Chain) (row *store.Block, err error) {
	id := r.Block("blockId")
	if id.ByHash {
		row, err = a.world.DB.BlockByHash(r.Context(), c.Row.ID, id.Hash[:])
	} else {
		row, err = a.world.DB.Block(r.Context(), c.Row.ID, id.Number)
	}
	return row, or(err, handlers.NotFound("block %s does not exist on chain %d", id, c.Row.EVMID))
}
