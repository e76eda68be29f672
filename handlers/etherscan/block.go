package etherscan

import (
	"strconv"

	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

var blockActions = map[string]action{
	"block.getblockreward":    {handle: with((*request).block, blockReward)},
	"block.getblocknobytime":  {handle: blockAt},
	"block.getblockcountdown": {handle: countdown},
	"block.getblocktxnscount": {handle: with((*request).block, blockCounts)},
	"block.eth_block_number":  {handle: proxied("eth_blockNumber")}, // Blockscout's
}

type reward struct {
	BlockNumber          string   `json:"blockNumber"`
	TimeStamp            string   `json:"timeStamp"`
	BlockMiner           string   `json:"blockMiner"`
	BlockReward          string   `json:"blockReward"` // the fees, in wei
	Uncles               []string `json:"uncles"`
	UncleInclusionReward string   `json:"uncleInclusionReward"`
}

// blockno reads the parameter blockno, which must be there, and the chain's newest block.
func (r *request) blockno() (n uint64, head *reader.Block, err error) {
	if !r.values.given("blockno") {
		return 0, nil, errBlock
	}
	if n, err = r.values.block("blockno", 0); err == nil {
		head, err = r.head()
	}
	return n, head, err
}

// block finds the block that the parameter blockno names.
func (r *request) block() (*reader.Block, error) {
	n, head, err := r.blockno()
	if err != nil {
		return nil, err
	}
	if n > head.Number {
		return nil, errNoRecords
	}
	return r.chain.Block(r.Context(), n)
}

// blockReward shows who got a block's fees: all blocks burn them.
func blockReward(r *request, b *reader.Block) (any, error) {
	return reward{decimal(b.Number), strconv.FormatInt(b.Row.Time, 10), hexAddress(b.Header.Coinbase[:]), wei(b.Row.Fees), []string{}, "0"}, nil
}

// blockAt finds the last block up to a time, or the first from it on.
func blockAt(r *request) (any, error) {
	unix, ok := number(r.values["timestamp"])
	if !ok || unix > 1<<62 {
		return nil, refusal("Error! Invalid timestamp")
	}
	head, err := r.head()
	if err != nil {
		return nil, err
	}
	switch r.values["closest"] {
	case "before", "":
		n, err := r.db().FirstSince(r.Context(), r.chain.Row.ID, int64(unix)+1)
		if err != nil || n > 0 {
			return decimal(n - 1), err
		}
	case "after":
		n, err := r.db().FirstSince(r.Context(), r.chain.Row.ID, int64(unix))
		if err != nil || n <= head.Number {
			return decimal(n), err
		}
	default:
		return nil, refusal("Error! Invalid closest value: expected before or after")
	}
	return nil, refusal("Error! No closest block found")
}

type blockCountdown struct {
	CurrentBlock      string `json:"CurrentBlock"`
	CountdownBlock    string `json:"CountdownBlock"`
	RemainingBlock    string `json:"RemainingBlock"`
	EstimateTimeInSec string `json:"EstimateTimeInSec"`
}

// pace is over how many of the newest blocks a countdown takes the average time.
const pace = 100

// countdown estimates when a block will come, at the pace of the newest ones.
func countdown(r *request) (any, error) {
	n, head, err := r.blockno()
	if err != nil {
		return nil, err
	}
	if n <= head.Number {
		return nil, refusal("Error! Block number already pass")
	}
	before := min(pace, head.Number)
	earlier, err := r.chain.Block(r.Context(), head.Number-before)
	if err != nil {
		return nil, err
	}
	seconds := 0.0
	if before > 0 {
		seconds = float64(n-head.Number) * float64(head.Header.Time-earlier.Header.Time) / float64(before)
	}
	return blockCountdown{decimal(head.Number), decimal(n), decimal(n - head.Number), strconv.FormatFloat(seconds, 'f', 1, 64)}, nil
}

type counts struct {
	Block         uint64 `json:"block"`
	TxsCount      int    `json:"txsCount"`
	InternalCount int    `json:"internalTxsCount"`
	Erc20Count    int    `json:"erc20TxsCount"`
	Erc721Count   int    `json:"erc721TxsCount"`
	Erc1155Count  int    `json:"erc1155TxsCount"`
}

// blockCounts counts what happened in a block.
func blockCounts(r *request, b *reader.Block) (any, error) {
	calls, err := r.db().Calls(r.Context(), b.Row.ID)
	if err != nil {
		return nil, err
	}
	transfers, err := r.db().Transfers(r.Context(), b.Row.ID, b.Row.ID.End())
	if err != nil {
		return nil, err
	}
	c := counts{Block: b.Number, TxsCount: b.Row.Txs}
	for i := range calls {
		if calls[i].Type != "SELFDESTRUCT" {
			c.InternalCount++
		}
	}
	for i := range transfers {
		switch transfers[i].Standard {
		case store.ERC20:
			c.Erc20Count++
		case store.ERC721:
			c.Erc721Count++
		case store.ERC1155:
			c.Erc1155Count++
		}
	}
	return c, nil
}
