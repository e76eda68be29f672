package eth

import (
	"context"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/common/math"

	"snowglobe/sim/evm/reader"
)

// gasAPI implements the eth methods about prices: coreth's internal/ethapi.EthereumAPI.
type gasAPI struct{ *api }

// BaseFee returns the next block's base fee (coreth eth/gasprice.Oracle.EstimateBaseFee); on a C-Chain since Helicon, the most that it can be.
func (a *gasAPI) BaseFee(ctx context.Context) (*hexutil.Big, error) {
	fee, _, err := a.miner.PriceBound(ctx)
	return (*hexutil.Big)(fee), err
}

// MaxPriorityFeePerGas returns the suggested tip.
func (a *gasAPI) MaxPriorityFeePerGas(ctx context.Context) (*hexutil.Big, error) {
	_, tip, err := a.miner.Prices(ctx)
	return (*hexutil.Big)(tip), err
}

// GasPrice returns the next block's base fee plus the suggested tip.
func (a *gasAPI) GasPrice(ctx context.Context) (*hexutil.Big, error) {
	_, tip, err := a.miner.Prices(ctx)
	if err != nil {
		return nil, err
	}
	_, fee, err := a.miner.PriceBound(ctx)
	if err != nil {
		return nil, err
	}
	return (*hexutil.Big)(tip.Add(tip, fee)), nil
}

// feeHistory is the result of FeeHistory. Unlike Ethereum, the network lists one base fee for each block and none for the next, but on a
// C-Chain since Helicon.
type feeHistory struct {
	OldestBlock   hexutil.Uint64   `json:"oldestBlock"`
	Reward        [][]*hexutil.Big `json:"reward,omitempty"`
	BaseFeePerGas []*hexutil.Big   `json:"baseFeePerGas,omitempty"`
	GasUsedRatio  []float64        `json:"gasUsedRatio"`
}

// FeeHistory returns the fees of the latest blocks. Clients send null to get no rewards.
func (a *gasAPI) FeeHistory(ctx context.Context, count math.HexOrDecimal64, last BlockNumber, percentiles *[]float64) (*feeHistory, error) {
	if percentiles == nil {
		percentiles = new([]float64)
	}
	blocks := reader.HistoryRange{Count: uint64(count), Pending: last == pending}
	if number := uint64(last); last >= 0 {
		blocks.Last = &number
	}
	if last == settled {
		b, err := a.miner.LastSettled(ctx)
		if err != nil {
			return nil, err
		}
		blocks.Last = &b.Number
	}
	if last == Latest || last == pending {
		b, err := a.miner.LastExecuted(ctx)
		if err != nil {
			return nil, err
		}
		if b.Header.Asynchronous() { // which has nothing pending
			blocks.Last, blocks.Pending = &b.Number, false
		}
	}
	h, err := a.chain.FeeHistory(ctx, blocks, *percentiles)
	if err != nil {
		return nil, err
	}
	if n := len(h.Used); n < len(h.BaseFees) && n > 0 {
		head, err := a.chain.Head(ctx)
		if err == nil && head.Number == h.Oldest+uint64(n)-1 {
			h.BaseFees[n], _, err = a.miner.PriceBound(ctx) // which a client may have set
		}
		if err != nil {
			return nil, err
		}
	}
	answer := &feeHistory{OldestBlock: hexutil.Uint64(h.Oldest), GasUsedRatio: h.Used, BaseFeePerGas: bigs(h.BaseFees)}
	for _, rewards := range h.Rewards {
		answer.Reward = append(answer.Reward, bigs(rewards))
	}
	return answer, nil
}

func bigs(numbers []*big.Int) []*hexutil.Big {
	hexes := make([]*hexutil.Big, len(numbers))
	for i, n := range numbers {
		hexes[i] = (*hexutil.Big)(n)
	}
	return hexes
}

// priceAPI implements methods that only a C-Chain has.
type priceAPI struct{ *api }

// The three speeds of eth_suggestPriceOptions (coreth plugin/evm/config.NewDefaultConfig).
const (
	slowPercent = 95
	fastPercent = 105
	maxSpeedTip = 20_000_000_000 // wei; not for the fastest
)

type priceOption struct {
	MaxPriorityFeePerGas *hexutil.Big `json:"maxPriorityFeePerGas"`
	MaxFeePerGas         *hexutil.Big `json:"maxFeePerGas"`
}

type priceOptions struct {
	Slow   priceOption `json:"slow"`
	Normal priceOption `json:"normal"`
	Fast   priceOption `json:"fast"`
}

// SuggestPriceOptions returns fees for three speeds: a tip a little below or above the usual one, on top of twice the base fee (coreth
// internal/ethapi.EthereumAPI.SuggestPriceOptions).
func (a *priceAPI) SuggestPriceOptions(ctx context.Context) (*priceOptions, error) {
	fee, tip, err := a.miner.Prices(ctx)
	if err != nil {
		return nil, err
	}
	head, err := a.chain.Head(ctx)
	if err != nil {
		return nil, err
	}
	if head.Header.Asynchronous() {
		if fee, _, err = a.miner.PriceBound(ctx); err != nil {
			return nil, err
		}
		return unboundedPriceOptions(fee, tip), nil
	}
	return priceOptionsOf(fee, tip), nil
}

// unboundedPriceOptions follows what a C-Chain's node does since Helicon: no speed has an upper bound, and each is at least the one before
// (avalanchego vms/saevm/sae/rpc.NewPriceOptions).
func unboundedPriceOptions(fee, tip *big.Int) *priceOptions {
	slow := larger(percentOf(tip, slowPercent), common.Big1)
	normal := larger(tip, slow)
	return &priceOptions{priceOptionOf(fee, slow), priceOptionOf(fee, normal), priceOptionOf(fee, larger(percentOf(tip, fastPercent), normal))}
}

// priceOptionsOf follows coreth's internal/ethapi.calculateFeeSpeeds: the bounds do not apply to the fastest.
func priceOptionsOf(fee, tip *big.Int) *priceOptions {
	normal := tip
	if limit := big.NewInt(maxSpeedTip); tip.Cmp(limit) > 0 {
		normal = limit
	}
	slow := larger(percentOf(normal, slowPercent), common.Big1)
	return &priceOptions{priceOptionOf(fee, slow), priceOptionOf(fee, normal), priceOptionOf(fee, percentOf(tip, fastPercent))}
}

func larger(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return b
	}
	return a
}

func priceOptionOf(fee, tip *big.Int) priceOption {
	maxFee := new(big.Int).Lsh(fee, 1)
	return priceOption{(*hexutil.Big)(tip), (*hexutil.Big)(maxFee.Add(maxFee, tip))}
}

func percentOf(n *big.Int, percent int64) *big.Int {
	part := new(big.Int).Mul(n, big.NewInt(percent))
	return part.Div(part, big.NewInt(100))
}
