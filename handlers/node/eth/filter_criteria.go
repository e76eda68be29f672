package eth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/rest"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// largeRange is the number of blocks from which logs may make a large response.
const largeRange = 128

// filterCriteria selects logs (coreth eth/filters.FilterCriteria).
type filterCriteria struct {
	hash     *common.Hash
	from, to *BlockNumber
	filter   reader.LogFilter
}

var (
	errUnknownBlock = errors.New("unknown block")
	errRange        = errors.New("invalid block range params")
	errWatchedRange = errors.New("invalid from and to block combination: from > to")
	errBothRanges   = errors.New("cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other")
	errAddresses    = errors.New("invalid addresses in query")
	errTopic        = errors.New("invalid topic(s)")
)

// UnmarshalJSON reads one address or a list, and topics that are each null, one or a list.
func (c *filterCriteria) UnmarshalJSON(data []byte) error {
	type input struct {
		BlockHash *common.Hash `json:"blockHash"`
		FromBlock *BlockNumber `json:"fromBlock"`
		ToBlock   *BlockNumber `json:"toBlock"`
		Address   any          `json:"address"`
		Topics    []any        `json:"topics"`
	}
	var in input
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	if in.BlockHash != nil && (in.FromBlock != nil || in.ToBlock != nil) {
		return errBothRanges
	}
	c.hash, c.from, c.to = in.BlockHash, in.FromBlock, in.ToBlock
	if err := c.addresses(in.Address); err != nil {
		return err
	}
	for _, topic := range in.Topics {
		choices, err := topics(topic)
		if err != nil {
			return err
		}
		c.filter.Topics = append(c.filter.Topics, choices)
	}
	return nil
}

func (c *filterCriteria) addresses(one any) error {
	switch address := one.(type) {
	case nil:
	case string:
		if err := c.address(address); err != nil {
			return fmt.Errorf("invalid address: %w", err)
		}
	case []any:
		if len(address) > reader.MaxAddresses {
			return reader.ErrAddresses
		}
		for i, item := range address {
			text, ok := item.(string)
			if !ok {
				return fmt.Errorf("non-string address at index %d", i)
			}
			if err := c.address(text); err != nil {
				return fmt.Errorf("invalid address at index %d: %w", i, err)
			}
		}
	default:
		return errAddresses
	}
	return nil
}

func (c *filterCriteria) address(text string) error {
	data, err := bytesOf(text, common.AddressLength, "address")
	if err == nil {
		c.filter.Addresses = append(c.filter.Addresses, common.BytesToAddress(data))
	}
	return err
}

// topics reads the alternatives for one position; null among them means any.
func topics(one any) (choices []common.Hash, err error) {
	switch topic := one.(type) {
	case nil:
		return nil, nil
	case string:
		one = []any{topic}
	}
	items, ok := one.([]any)
	if !ok {
		return nil, errTopic
	}
	for _, item := range items {
		if item == nil {
			return nil, nil
		}
		text, ok := item.(string)
		if !ok {
			return nil, errTopic
		}
		data, err := bytesOf(text, common.HashLength, "topic")
		if err != nil {
			return nil, err
		}
		choices = append(choices, common.BytesToHash(data))
	}
	return choices, nil
}

// bytesOf reads a fixed number of bytes.
func bytesOf(text string, length int, what string) ([]byte, error) {
	data, err := hexutil.Decode(text)
	if err == nil && len(data) != length {
		err = fmt.Errorf("hex has invalid length %d after decoding; expected %d for %s", len(data), length, what)
	}
	return data, err
}

// watchable refuses ranges that no subscription or filter for new logs has (coreth eth/filters.EventSystem.SubscribeAcceptedLogs). It does
// not refuse too many topics: such a filter selects nothing.
func (c *filterCriteria) watchable() error {
	from, to := orLatest(c.from), orLatest(c.to)
	switch {
	case from >= 0 && to >= from, from >= 0 && to == Latest, from == Latest && to == Latest, from != settled && from != accepted && to == pending:
		return c.filter.Bounded()
	}
	return errWatchedRange
}

func orLatest(n *BlockNumber) BlockNumber {
	if n == nil {
		return Latest
	}
	return *n
}

// watches reports whether a filter for new logs selects one (coreth eth/filters.filterLogs).
func (c *filterCriteria) watches(log *types.Log) bool {
	from, to := orLatest(c.from), orLatest(c.to)
	return (from < 0 || uint64(from) <= log.BlockNumber) && (to < 0 || log.BlockNumber <= uint64(to)) && c.filter.Matches(log.Address, log.Topics)
}

// blockRange resolves the criteria's first and last block, in a node's order of checks (coreth eth/filters.Filter.Logs). The pending block
// has no logs: first is then after last.
func (c *filterCriteria) blockRange(ctx context.Context, a *api) (first, last uint64, err error) {
	if c.hash != nil {
		b, err := a.chain.BlockByHash(ctx, *c.hash)
		if errors.Is(err, store.ErrNotFound) {
			return 0, 0, errUnknownBlock
		}
		if err != nil {
			return 0, 0, err
		}
		return b.Number, b.Number, CheckExecuted(ctx, a.miner, b)
	}
	b, err := a.miner.LastExecuted(ctx)
	if err != nil {
		return 0, 0, err
	}
	from, to, head := orLatest(c.from), orLatest(c.to), BlockNumber(b.Number)
	for _, end := range []*BlockNumber{&from, &to} {
		if *end == settled {
			last, err := a.miner.LastSettled(ctx)
			if err != nil {
				return 0, 0, err
			}
			*end = BlockNumber(last.Number)
		}
	}
	switch {
	case from > head:
		return 0, 0, fmt.Errorf("requested from block %d after last accepted block %d", from, head)
	case to > head:
		return 0, 0, fmt.Errorf("requested to block %d after last accepted block %d", to, head)
	case from == pending && to == pending:
		return 1, 0, nil
	case from == pending:
		return 0, 0, errRange
	}
	first, last = b.Number, b.Number
	if from >= 0 {
		first = uint64(from)
	}
	if to >= 0 {
		last = uint64(to)
	}
	if first > last {
		return 0, 0, fmt.Errorf("begin block %d is greater than end block %d", first, last)
	}
	return first, last, nil
}

// answer finds the logs that match the criteria, within their range.
func (c *filterCriteria) answer(ctx context.Context, a *api) (rpc.Result, error) {
	first, last, err := c.blockRange(ctx, a)
	if err != nil {
		return rpc.Result{}, err
	}
	return c.logs(ctx, a, first, last, nil)
}

// logs finds the logs in a range of blocks, and puts them after the removed ones.
func (c *filterCriteria) logs(ctx context.Context, a *api, first, last uint64, removed []*types.Log) (rpc.Result, error) {
	found := newFoundLogs(a.chain, removed)
	if first > last {
		return found.result(), nil
	}
	if last-first >= largeRange {
		if err := rest.AwaitLargeAnswer(ctx); err != nil {
			return rpc.Result{}, err
		}
	}
	if err := a.chain.EachLog(ctx, &c.filter, first, last, found.add); err != nil {
		return rpc.Result{}, err
	}
	return found.result(), nil
}
