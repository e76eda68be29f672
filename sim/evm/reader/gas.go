package reader

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
)

// Rules of the price suggestions and the fee history.
const (
	tipBlocks     = 20 // blocks whose tips make the suggestion
	tipPercentile = 40
	maxTip        = 150_000_000_000 // wei; no suggestion is higher
	maxHistory    = 2_048           // blocks in one fee history, as in coreth
	maxPercentile = 100             // percentiles in one fee history
)

// NextBaseFee is the base fee of a block that would follow the head now: coreth's EstimateNextBaseFee.
func (c *Chain) NextBaseFee(ctx context.Context) (*big.Int, error) {
	head, err := c.Head(ctx)
	if err != nil {
		return nil, err
	}
	timeMS := head.Header.TimeMilliseconds
	if c.Now != nil {
		timeMS = max(timeMS, 1000*uint64(c.Now()))
	}
	config, _, err := c.FeeConfigAt(ctx, head)
	if err != nil {
		return nil, err
	}
	return evm.NextBaseFee(c.Kind, config, head.Header, timeMS), nil
}

// FeeConfigAt is the fee configuration after a block, and the block in which it last changed: zero when it never did.
func (c *Chain) FeeConfigAt(ctx context.Context, b *Block) (precompile.FeeConfig, *big.Int, error) {
	if !c.schedule.HasFeeManager(b.Header.Time) {
		return c.schedule.FeeConfig, new(big.Int), nil
	}
	states, err := c.State(ctx, b)
	if err != nil {
		return precompile.FeeConfig{}, nil, err
	}
	config, changed := precompile.StoredFeeConfig(states.GetState)
	return config, changed, states.Error()
}

// SuggestTip is the tip with which a transaction is taken: the 40th percentile of what the newest blocks' transactions
// paid, at least one wei.
func (c *Chain) SuggestTip(ctx context.Context) (*big.Int, error) {
	head, err := c.Head(ctx)
	if err != nil {
		return nil, err
	}
	if last := c.lastTip.Load(); last != nil && last.head == head.Hash {
		return new(big.Int).Set(last.tip), nil
	}
	var tips []*big.Int
	for number := head.Number; number > 0 && number+tipBlocks > head.Number; number-- {
		paid, err := c.tips(ctx, number)
		if err != nil {
			return nil, err
		}
		for i := range paid {
			tips = append(tips, paid[i].tip)
		}
	}
	tip := big.NewInt(1)
	if len(tips) > 0 {
		slices.SortFunc(tips, (*big.Int).Cmp)
		if usual := tips[(len(tips)-1)*tipPercentile/100]; usual.Cmp(tip) > 0 {
			tip = usual
		}
	}
	if limit := big.NewInt(maxTip); tip.Cmp(limit) > 0 {
		tip = limit
	}
	c.lastTip.Store(&tipSuggestion{head.Hash, tip})
	return new(big.Int).Set(tip), nil
}

// tipSuggestion is the tip that was found at a head.
type tipSuggestion struct {
	head common.Hash
	tip  *big.Int
}

// paidTip is what a transaction paid above the base fee for each unit of gas, and for how much gas.
type paidTip struct {
	tip *big.Int
	gas uint64
}

func (c *Chain) tips(ctx context.Context, number uint64) ([]paidTip, error) {
	b, err := c.Block(ctx, number)
	if err != nil {
		return nil, err
	}
	transactions, err := c.Transactions(ctx, b)
	if err != nil {
		return nil, err
	}
	paid := make([]paidTip, len(transactions))
	for i, t := range transactions {
		tip := new(big.Int).Sub(t.Price(), b.Header.BaseFee)
		paid[i] = paidTip{tip, t.Row.GasUsed}
	}
	return paid, nil
}

// FeeHistory is the answer of eth_feeHistory: one entry a block, oldest first.
type FeeHistory struct {
	Oldest   uint64
	BaseFees []*big.Int
	Used     []float64    // gas used as a part of the limit
	Rewards  [][]*big.Int // nil when no percentile was asked for
}

// FeeHistory goes back count blocks from the block with the given number.
func (c *Chain) FeeHistory(ctx context.Context, count, last uint64, percentiles []float64) (*FeeHistory, error) {
	if err := checkPercentiles(percentiles); err != nil || count == 0 {
		return &FeeHistory{}, err
	}
	head, err := c.Head(ctx)
	if err != nil {
		return nil, err
	}
	if last > head.Number {
		return nil, fmt.Errorf("request beyond head block: requested %d, head %d", last, head.Number)
	}
	count = min(count, maxHistory, last+1)
	h := &FeeHistory{Oldest: last + 1 - count}
	for number := h.Oldest; number <= last; number++ {
		b, err := c.Block(ctx, number)
		if err != nil {
			return nil, err
		}
		h.BaseFees = append(h.BaseFees, b.Header.BaseFee)
		h.Used = append(h.Used, float64(b.Header.GasUsed)/float64(b.Header.GasLimit))
		if len(percentiles) == 0 {
			continue
		}
		paid, err := c.tips(ctx, number)
		if err != nil {
			return nil, err
		}
		h.Rewards = append(h.Rewards, rewards(paid, b.Header.GasUsed, percentiles))
	}
	return h, nil
}

func checkPercentiles(percentiles []float64) error {
	if len(percentiles) > maxPercentile {
		return errors.New("too many reward percentiles")
	}
	for i, p := range percentiles {
		if !(p >= 0 && p <= 100) {
			return fmt.Errorf("invalid reward percentile: %f", p)
		}
		if i > 0 && p <= percentiles[i-1] {
			return fmt.Errorf("invalid reward percentile: #%d:%f >= #%d:%f", i-1, percentiles[i-1], i, p)
		}
	}
	return nil
}

// rewards are the tips at which each percentile of the block's gas was reached.
func rewards(paid []paidTip, used uint64, percentiles []float64) []*big.Int {
	slices.SortStableFunc(paid, func(a, b paidTip) int { return a.tip.Cmp(b.tip) })
	all := make([]*big.Int, len(percentiles))
	for i, p := range percentiles {
		all[i] = new(big.Int)
		threshold, sum := uint64(float64(used)*p/100), uint64(0)
		for j := range paid {
			all[i] = paid[j].tip
			if sum += paid[j].gas; sum >= threshold {
				break
			}
		}
	}
	return all
}
