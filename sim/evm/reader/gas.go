package reader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"unsafe"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/store"
)

// Rules of the price suggestions (coreth eth/ethconfig.DefaultFullGPOConfig; since Helicon avalanchego vms/saevm/gasprice.DefaultConfig) and of
// the fee history (coreth eth/gasprice, the same as subnet-evm's).
const (
	asynchronousTipBlocks  = 20 // instead of tipBlocks and tipSeconds, on a C-Chain since Helicon
	asynchronousTipSeconds = 60

	tipBlocks      = 40 // blocks whose tips determine the suggestion
	tipSeconds     = 80 // their maximum age
	tipPercentile  = 40
	maxTip         = 150_000_000_000 // wei; upper bound of the suggestion
	maxHistory     = 2_048           // blocks in one fee history: DefaultMaxCallBlockHistory
	maxDepth       = 25_000          // how far it goes back from the head: DefaultMaxBlockHistory
	maxPercentiles = 100             // in one fee history: maxQueryLimit
	historyPart    = 64              // blocks read together
)

// NextHeader returns the header of the block that would follow a head at a time in Unix milliseconds, as far as it is known before
// execution.
func (c *Chain) NextHeader(ctx context.Context, head *Block, timeMS uint64, o evm.Override) (*evm.Header, error) {
	if c.Asynchronous(timeMS / 1000) {
		draft, err := c.next.Of(head.Hash, func() (*evm.Builder, error) {
			return c.NewDraft(context.Background(), head) // which later requests use
		})
		if err != nil {
			return nil, err
		}
		return draft.NextHeader(timeMS, o)
	}
	config, _, err := c.FeeConfigAt(ctx, head)
	if err != nil {
		return nil, err
	}
	return evm.ChildHeader(c.Kind, config, head.Header, head.Hash, timeMS, o)
}

// PriceBound returns the most that gas can cost after a block that was accepted before it was executed.
func (c *Chain) PriceBound(ctx context.Context, head *Block) (*evm.PriceBound, error) {
	settled, err := c.Block(ctx, head.Settled())
	if err != nil {
		return nil, err
	}
	bound := evm.NewPriceBound(settled.Header, settled.Results)
	for number := settled.Number + 1; number <= head.Number; number++ {
		b, err := c.Block(ctx, number)
		if err != nil {
			return nil, err
		}
		bound.Add(b.Header)
	}
	return bound, nil
}

// SettlesAt returns the first Unix millisecond at which a block after a head settles all transactions so far; false if they are settled. delay
// is in milliseconds from the execution of a block, 0 for the network's.
func (c *Chain) SettlesAt(ctx context.Context, head *Block, delay uint64) (uint64, bool, error) {
	for number := head.Number; number > head.Settled(); number-- {
		b, err := c.Block(ctx, number)
		if err != nil {
			return 0, false, err
		}
		if b.Row.Txs > 0 || len(b.Row.ExtData) > 0 {
			return b.Results.SettlesAt(b.Header, delay), true, nil
		}
	}
	return 0, false, nil
}

// Asynchronous reports whether a block at a time, in Unix seconds, is accepted before it is executed: on a C-Chain since Helicon.
func (c *Chain) Asynchronous(time uint64) bool {
	return c.Kind == evm.KindC && c.NetworkContext.HeliconAt(time)
}

// FeeConfigAt returns the fee configuration after a block, and the block in which it last changed: zero if it never did.
func (c *Chain) FeeConfigAt(ctx context.Context, b *Block) (precompile.FeeConfig, *big.Int, error) {
	if !c.schedule.HasFeeManager(b.Header.Time) {
		return c.schedule.FeeConfig, new(big.Int), nil
	}
	states, err := c.State(ctx, b)
	if err != nil {
		return precompile.FeeConfig{}, nil, err
	}
	config, changed := precompile.StoredFeeConfig(states.GetState)
	return config, changed, evm.Fault(states)
}

// SuggestTip returns a tip that gets a transaction accepted: the 40th percentile of the tips in the newest blocks, at least one wei. A node
// looks at blocks of the last 80 seconds and keeps its result when these paid nothing (coreth eth/gasprice.Oracle.suggestTip), so the
// seconds count back from the newest block with transactions.
func (c *Chain) SuggestTip(ctx context.Context) (*big.Int, error) {
	head, err := c.Head(ctx)
	if err != nil {
		return nil, err
	}
	last := c.lastTips.Load()
	if last == nil || len(last.blocks) == 0 || last.blocks[0].hash != head.Hash {
		if last, err = c.newTips(ctx, head, last); err != nil {
			return nil, err
		}
		c.lastTips.Store(last)
	}
	return new(big.Int).Set(last.suggested), nil
}

// recentTips holds the tips of the newest blocks, the newest first, and the tip that they suggest.
type recentTips struct {
	blocks    []blockTips
	suggested *big.Int
}

type blockTips struct {
	hash, parent common.Hash
	time         uint64
	tips         []*big.Int
}

// newTips returns the tips at a head and reads only the missing ones.
func (c *Chain) newTips(ctx context.Context, head *Block, known *recentTips) (*recentTips, error) {
	recent := &recentTips{suggested: big.NewInt(1)}
	hash := head.Hash
	var tips []*big.Int
	newest := uint64(0)
	most, age := tipBlocks, uint64(tipSeconds)
	if head.Header.Asynchronous() {
		most, age = asynchronousTipBlocks, asynchronousTipSeconds
	}
	for number := head.Number; number > 0 && len(recent.blocks) < most; number-- {
		block, err := c.blockTips(ctx, number, hash, known)
		if err != nil {
			return nil, err
		}
		if newest == 0 && len(block.tips) > 0 {
			newest = block.time
		}
		if block.time+age < newest {
			break
		}
		recent.blocks = append(recent.blocks, block)
		tips = append(tips, block.tips...)
		hash = block.parent
	}
	if len(tips) > 0 {
		slices.SortFunc(tips, (*big.Int).Cmp)
		if usual := tips[(len(tips)-1)*tipPercentile/100]; usual.Cmp(recent.suggested) > 0 {
			recent.suggested = usual
		}
	}
	if limit := big.NewInt(maxTip); recent.suggested.Cmp(limit) > 0 {
		recent.suggested = limit
	}
	return recent, nil
}

func (c *Chain) blockTips(ctx context.Context, number uint64, hash common.Hash, known *recentTips) (blockTips, error) {
	if known != nil {
		if i := slices.IndexFunc(known.blocks, func(b blockTips) bool { return b.hash == hash }); i >= 0 {
			return known.blocks[i], nil
		}
	}
	b, err := c.Block(ctx, number)
	if err != nil {
		return blockTips{}, err
	}
	paid, err := c.tips(ctx, b)
	if err != nil {
		return blockTips{}, err
	}
	tips := make([]*big.Int, len(paid))
	for i := range paid {
		tips[i] = paid[i].tip
	}
	return blockTips{b.Hash, b.Header.ParentHash, b.Header.Time, tips}, nil
}

// paidTip is a transaction's tip per unit of gas, and the gas it paid for.
type paidTip struct {
	tip *big.Int
	gas uint64
}

func (l *Ledger) tips(ctx context.Context, b *Block) ([]paidTip, error) {
	rows, err := l.transactionRows(ctx, b)
	if err != nil {
		return nil, err
	}
	return b.tips(rows)
}

// tips returns the tips that the block's transactions paid. Since Helicon a C-Chain's blocks accept gas limits at a bound of the price, so both
// count (avalanchego vms/saevm/gasprice).
func (b *Block) tips(rows []store.Transaction) ([]paidTip, error) {
	paid := make([]paidTip, len(rows))
	for i := range rows {
		t, err := b.transaction(&rows[i])
		if err != nil {
			return nil, err
		}
		paid[i] = paidTip{new(big.Int).Sub(t.Bound(), b.Header.BaseFee), t.Row.GasUsed}
		if b.Header.Asynchronous() {
			paid[i].gas = t.Gas()
		}
	}
	return paid, nil
}

// FeeHistory is the answer of eth_feeHistory: one entry per block, oldest first.
type FeeHistory struct {
	Oldest   uint64
	BaseFees []*big.Int   // since Helicon on a C-Chain one more, of the block after the last
	Used     []float64    // gas used as a fraction of the limit
	Rewards  [][]*big.Int // nil without percentiles
}

// HistoryRange chooses the blocks of a fee history.
type HistoryRange struct {
	Count   uint64
	Last    *uint64 // a block's number; nil for the head
	Pending bool    // the pending block counts, but the history has nothing of it
}

// Errors of coreth's eth/gasprice.
var (
	errPercentile  = errors.New("invalid reward percentile")
	errBeyondHead  = errors.New("request beyond head block")
	errBeyondDepth = errors.New("request beyond historical limit")
)

// resolve returns the first and the last of at most most blocks that lie at most depth blocks back from the head, the head included
// (coreth eth/gasprice.Oracle.resolveBlockRange). Without blocks, last is before first.
func (r HistoryRange) resolve(head, most, depth uint64) (first, last uint64, err error) {
	count := min(r.Count, most)
	if r.Pending {
		count--
	}
	last = head
	if count == 0 {
		return 1, 0, nil
	}
	if r.Last != nil {
		last = *r.Last
	}
	switch oldest := head - min(head, depth-1); {
	case last > head:
		return 0, 0, fmt.Errorf("%w: requested %d, head %d", errBeyondHead, last, head)
	case last < oldest:
		return 0, 0, fmt.Errorf("%w: requested %d, head %d", errBeyondDepth, last, head)
	default:
		return max(last+1-min(count, last+1), oldest), last, nil
	}
}

// FeeHistory returns the fees of a range of blocks (coreth eth/gasprice.Oracle.FeeHistory).
func (c *Chain) FeeHistory(ctx context.Context, r HistoryRange, percentiles []float64) (*FeeHistory, error) {
	if r.Count == 0 {
		return &FeeHistory{}, nil
	}
	if err := checkPercentiles(percentiles); err != nil {
		return nil, err
	}
	head, err := c.Head(ctx)
	if err != nil {
		return nil, err
	}
	oldest, last, err := r.resolve(head.Number, maxHistory, maxDepth)
	if err != nil || last < oldest {
		return &FeeHistory{}, err
	}
	h := &FeeHistory{Oldest: oldest}
	for first := oldest; first <= last; first += historyPart {
		if err := c.addHistory(ctx, h, first, min(first+historyPart-1, last), percentiles); err != nil {
			return nil, err
		}
	}
	if !c.Asynchronous(head.Header.Time) {
		return h, nil
	}
	next, err := c.baseFeeAfter(ctx, head, last)
	h.BaseFees = append(h.BaseFees, next)
	return h, err
}

// baseFeeAfter returns the base fee of the block after one: after the head, its bound.
func (c *Chain) baseFeeAfter(ctx context.Context, head *Block, number uint64) (*big.Int, error) {
	if number == head.Number {
		bound, err := c.PriceBound(ctx, head)
		if err != nil {
			return nil, err
		}
		return bound.Price(), nil
	}
	b, err := c.Block(ctx, number+1)
	if err != nil {
		return nil, err
	}
	return b.Header.BaseFee, nil
}

// addHistory adds some blocks. It reads the missing ones together, with their transactions.
func (l *Ledger) addHistory(ctx context.Context, h *FeeHistory, first, last uint64, percentiles []float64) error {
	all, err := l.blockFees(ctx, first, last, len(percentiles) > 0)
	if err != nil {
		return err
	}
	for _, f := range all {
		h.BaseFees, h.Used = append(h.BaseFees, f.baseFee), append(h.Used, float64(f.gasUsed)/float64(f.gasLimit))
		if len(percentiles) > 0 {
			h.Rewards = append(h.Rewards, rewards(f.paid, f.gasUsed, percentiles))
		}
	}
	return nil
}

// blockFees holds the fee history's values of a block. Wallets ask for the same blocks again after each new one.
type blockFees struct {
	baseFee           *big.Int
	gasUsed, gasLimit uint64
	paid              []paidTip // sorted by tip; nil until needed
}

// bytes returns the memory of the referenced data.
func (f *blockFees) bytes() int {
	const number = 48 // for numbers of 64 bits
	return int(unsafe.Sizeof(*f)) + number + len(f.paid)*(int(unsafe.Sizeof(paidTip{}))+number)
}

// blockFees returns the fees of some blocks, including the tips paid if requested.
func (l *Ledger) blockFees(ctx context.Context, first, last uint64, paid bool) ([]*blockFees, error) {
	all := make([]*blockFees, last+1-first)
	from, to := len(all), 0 // the range that covers all blocks to be read
	for i := range all {
		f, known := l.history.fees.Get(first + uint64(i))
		if known && (f.paid != nil || !paid) {
			all[i] = f
		} else {
			from, to = min(from, i), i+1
		}
	}
	if from >= to {
		return all, nil
	}
	rows, err := l.db.Blocks(ctx, l.Row.ID, first+uint64(from), first+uint64(to)-1)
	if err != nil {
		return nil, err
	}
	if len(rows) != to-from {
		return nil, store.ErrNotFound // the world was reverted
	}
	var transactions []store.Transaction
	if paid {
		if transactions, err = l.db.PaidBetween(ctx, rows[0].ID.Block(), rows[len(rows)-1].ID.End()); err != nil {
			return nil, err
		}
	}
	for i := range rows {
		b, err := l.block(&rows[i])
		if err != nil {
			return nil, err
		}
		f := &blockFees{baseFee: b.Header.BaseFee, gasUsed: b.Header.GasUsed, gasLimit: b.Header.GasLimit}
		if paid {
			own, _ := slices.BinarySearchFunc(transactions, b.position().End()+1, func(t store.Transaction, at store.Position) int { return cmp.Compare(t.ID, at) })
			if f.paid, err = b.tips(transactions[:own]); err != nil {
				return nil, err
			}
			slices.SortStableFunc(f.paid, func(a, b paidTip) int { return a.tip.Cmp(b.tip) })
			transactions = transactions[own:]
		}
		l.history.fees.Add(b.Number, f)
		all[from+i] = f
	}
	return all, nil
}

func checkPercentiles(percentiles []float64) error {
	if len(percentiles) > maxPercentiles {
		return fmt.Errorf("%w: over the query limit %d", errPercentile, maxPercentiles)
	}
	for i, p := range percentiles {
		if !(p >= 0 && p <= 100) {
			return fmt.Errorf("%w: %f", errPercentile, p)
		}
		if i > 0 && p <= percentiles[i-1] {
			return fmt.Errorf("%w: #%d:%f >= #%d:%f", errPercentile, i-1, percentiles[i-1], i, p)
		}
	}
	return nil
}

// rewards returns the tips at which each percentile of the block's gas was reached, given tips in ascending order.
func rewards(paid []paidTip, used uint64, percentiles []float64) []*big.Int {
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
