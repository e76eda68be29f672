package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/ava-labs/avalanchego/graft/coreth/consensus/dummy"
	"github.com/ava-labs/avalanchego/graft/coreth/core"
	"github.com/ava-labs/avalanchego/graft/coreth/eth"
	"github.com/ava-labs/avalanchego/graft/coreth/params"
	"github.com/ava-labs/avalanchego/graft/coreth/params/extras"
	"github.com/ava-labs/avalanchego/graft/coreth/plugin/evm/atomic"
	"github.com/ava-labs/avalanchego/graft/coreth/plugin/evm/customheader"
	"github.com/ava-labs/avalanchego/graft/coreth/plugin/evm/customtypes"
	"github.com/ava-labs/avalanchego/graft/evm/constants"
	"github.com/ava-labs/avalanchego/snow"
	"github.com/ava-labs/avalanchego/upgrade"
	"github.com/ava-labs/libevm/common"
	"github.com/ava-labs/libevm/common/hexutil"
	"github.com/ava-labs/libevm/core/types"
	"github.com/ava-labs/libevm/rlp"
	"github.com/ava-labs/libevm/trie"

	"snowglobe/testdata/server"
)

// chain is a C-Chain: the context of its rules, and the findings about it.
type chain struct {
	server.Chain
	config  *params.ChainConfig
	extra   *extras.ChainConfig
	snow    *snow.Context
	node    *eth.Ethereum
	machine *core.BlockChain
	parent  *types.Header // of the block that is looked at
	now     time.Time     // the world's
	most    uint64        // as many blocks are executed, from the genesis on
	seen    seen
}

func newChain(url string, network uint32, most uint64) *chain {
	extra := &extras.ChainConfig{NetworkUpgrades: extras.GetNetworkUpgrades(upgrade.GetConfig(network))}
	config := params.WithExtra(&params.ChainConfig{
		ChainID: new(big.Int), HomesteadBlock: new(big.Int), EIP150Block: new(big.Int), EIP155Block: new(big.Int), EIP158Block: new(big.Int),
		ByzantiumBlock: new(big.Int), ConstantinopleBlock: new(big.Int), PetersburgBlock: new(big.Int), IstanbulBlock: new(big.Int),
		BerlinBlock: new(big.Int), LondonBlock: new(big.Int), ShanghaiTime: extra.DurangoBlockTimestamp, CancunTime: extra.EtnaTimestamp,
	}, extra)
	return &chain{Chain: server.Chain(url), most: most, config: config, extra: extra, seen: seen{byCheck: map[string]int{}}}
}

// checkBlocks looks at every block after the first.
func (c *chain) checkBlocks(ctx context.Context) error {
	var head hexutil.Uint64
	if err := c.Call(ctx, &head, "eth_blockNumber"); err != nil {
		return err
	}
	newest, err := c.block(ctx, uint64(head))
	if err != nil {
		return err
	}
	c.now = time.UnixMilli(int64(customtypes.HeaderTimeMilliseconds(newest.Header())))
	for number := uint64(0); number <= uint64(head); number++ {
		b, err := c.block(ctx, number)
		if err == nil && number < c.most {
			err = c.execute(b)
		}
		if err != nil {
			return fmt.Errorf("block %d: %w", number, err)
		}
		if c.parent != nil {
			if number < c.most {
				c.seen.executed++
			}
			c.checkBlock(b)
			c.seen.header(c.parent, b.Header())
		}
		c.parent = b.Header()
	}
	if err := c.checkEstimate(ctx); err != nil || uint64(head) >= c.most {
		return err
	}
	return c.compare(ctx)
}

func (c *chain) block(ctx context.Context, number uint64) (*types.Block, error) {
	var raw hexutil.Bytes
	if err := c.Call(ctx, &raw, "debug_getRawBlock", hexutil.EncodeUint64(number)); err != nil {
		return nil, err
	}
	b := new(types.Block)
	return b, rlp.DecodeBytes(raw, b)
}

// checkBlock runs coreth's checks of a block before its execution: its engine's VerifyHeader, and the parts of the virtual machine's syntactic
// and semantic verification.
func (c *chain) checkBlock(b *types.Block) {
	h, number := b.Header(), b.NumberU64()
	for _, check := range []struct {
		name string
		of   func() error
	}{
		{"VerifyGasLimit", func() error { return customheader.VerifyGasLimit(c.extra, c.parent, h) }},
		{"VerifyExtraPrefix", func() error { return customheader.VerifyExtraPrefix(c.extra, c.parent, h) }},
		{"VerifyExtra", func() error { return customheader.VerifyExtra(c.extra.GetAvalancheRules(h.Time), h.Extra) }},
		{"BaseFee", func() error { return c.checkBaseFee(h) }},
		{"VerifyGasUsed", func() error { return customheader.VerifyGasUsed(c.extra, c.parent, h) }},
		{"VerifyMinDelayExcess", func() error { return customheader.VerifyMinDelayExcess(c.extra, c.parent, h) }},
		{"VerifyTime", func() error { return customheader.VerifyTime(c.extra, c.parent, h, c.now) }},
		{"BlockGasCost", func() error { return checkGasCost(c.extra, c.parent, h) }},
		{"VerifyHeader", func() error { return dummy.NewFaker().VerifyHeader(reader{c}, h) }},
		{"ExtData", func() error { return checkExtData(b) }},
		{"intrinsic gas", func() error { return c.checkIntrinsicGas(b) }},
		{"well-formed", func() error { return checkForm(b) }},
	} {
		c.seen.note(number, check.name, check.of())
	}
}

func (c *chain) checkBaseFee(h *types.Header) error {
	want, err := customheader.BaseFee(c.extra, c.parent, customtypes.HeaderTimeMilliseconds(h))
	if err == nil && want.Cmp(h.BaseFee) != 0 {
		err = fmt.Errorf("have %d, want %d", h.BaseFee, want)
	}
	return err
}

func checkGasCost(config *extras.ChainConfig, parent, h *types.Header) error {
	if have, want := customtypes.GetHeaderExtra(h).BlockGasCost, customheader.BlockGasCost(config, parent, h.Time); have == nil || have.Cmp(want) != 0 {
		return fmt.Errorf("have %d, want %d", have, want)
	}
	return nil
}

// checkExtData compares the header with the block's atomic transactions: their hash, their gas, and that they burn their fee.
func checkExtData(b *types.Block) error {
	raw := customtypes.BlockExtData(b)
	extra := customtypes.GetHeaderExtra(b.Header())
	if want := customtypes.CalcExtDataHash(raw); extra.ExtDataHash != want {
		return fmt.Errorf("hash %s, want %s", extra.ExtDataHash, want)
	}
	txs, err := atomic.ExtractAtomicTxs(raw, true, atomic.Codec)
	if err != nil {
		return err
	}
	gas := uint64(0)
	for _, tx := range txs {
		used, err := tx.GasUsed(true)
		if err != nil {
			return err
		}
		if _, err := atomic.CalculateDynamicFee(used, b.BaseFee()); err != nil {
			return err
		}
		gas += used
	}
	if extra.ExtDataGasUsed == nil || !extra.ExtDataGasUsed.IsUint64() || extra.ExtDataGasUsed.Uint64() != gas {
		return fmt.Errorf("gas %d, want %d", extra.ExtDataGasUsed, gas)
	}
	return nil
}

func (c *chain) checkIntrinsicGas(b *types.Block) error {
	const merged = true
	rules, sum := c.config.Rules(b.Number(), merged, b.Time()), uint64(0)
	for _, tx := range b.Transactions() {
		gas, err := core.IntrinsicGas(tx.Data(), tx.AccessList(), tx.To() == nil, rules)
		if err != nil {
			return fmt.Errorf("transaction %s: %w", tx.Hash(), err)
		}
		if sum += gas; tx.GasFeeCap().Cmp(b.BaseFee()) < 0 {
			return fmt.Errorf("transaction %s pays %d at most", tx.Hash(), tx.GasFeeCap())
		}
	}
	if sum > b.GasUsed() {
		return fmt.Errorf("have %d, intrinsic gas is %d", b.GasUsed(), sum)
	}
	return nil
}

var errForm = errors.New("not well-formed")

func checkForm(b *types.Block) error {
	h := b.Header()
	zero := uint64(0)
	for what, holds := range map[string]bool{
		"difficulty":   h.Difficulty.Cmp(common.Big1) == 0,
		"nonce":        h.Nonce.Uint64() == 0,
		"mixDigest":    h.MixDigest == common.Hash{},
		"version":      customtypes.BlockVersion(b) == 0,
		"transactions": types.DeriveSha(b.Transactions(), trie.NewStackTrie(nil)) == h.TxHash,
		"uncles":       len(b.Uncles()) == 0 && types.CalcUncleHash(b.Uncles()) == h.UncleHash,
		"coinbase":     h.Coinbase == constants.BlackholeAddr,
		"blob gas":     h.BlobGasUsed != nil && *h.BlobGasUsed == zero && h.ExcessBlobGas != nil && *h.ExcessBlobGas == zero,
		"beacon root":  h.ParentBeaconRoot != nil && *h.ParentBeaconRoot == common.Hash{},
		"not empty":    len(b.Transactions()) > 0 || len(customtypes.BlockExtData(b)) > 0,
	} {
		if !holds {
			return fmt.Errorf("%w: %s", errForm, what)
		}
	}
	return nil
}

// checkEstimate compares the base fee that the server estimates for the next block, at the world's time.
func (c *chain) checkEstimate(ctx context.Context) error {
	var fee hexutil.Big
	if err := c.Call(ctx, &fee, "eth_baseFee"); err != nil {
		return err
	}
	want, err := customheader.EstimateNextBaseFee(c.extra, c.parent, uint64(c.now.UnixMilli()))
	if err == nil && fee.ToInt().Cmp(want) > 0 { // the world's clock stands at the newest block or later
		err = fmt.Errorf("have %d, at most %d", fee.ToInt(), want)
	}
	c.seen.note(c.parent.Number.Uint64(), "EstimateNextBaseFee", err)
	return nil
}

// reader is the chain as coreth's engine sees it: all that it asks for is the parent.
type reader struct{ c *chain }

func (r reader) Config() *params.ChainConfig                 { return r.c.config }
func (r reader) CurrentHeader() *types.Header                { return r.c.parent }
func (r reader) GetHeaderByNumber(n uint64) *types.Header    { return nil }
func (r reader) GetHeaderByHash(h common.Hash) *types.Header { return nil }

func (r reader) GetHeader(hash common.Hash, number uint64) *types.Header {
	if r.c.parent.Hash() == hash && r.c.parent.Number.Uint64() == number {
		return r.c.parent
	}
	return nil
}
