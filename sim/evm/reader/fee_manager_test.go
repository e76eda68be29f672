package reader_test

import (
	"context"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
	"snowglobe/sim/verify"
)

// change calls the fee manager to set a configuration.
func (c *permissioned) change(f precompile.FeeConfig) *types.Receipt {
	c.t.Helper()
	return c.send(c.admin, &precompile.FeeManager.Address, 400_000, precompile.PackInput(precompile.SetFeeConfig, f.Words()...))
}

// TestFeesFollowTheManager: a change takes effect from the next block on, and a later builder finds it.
func TestFeesFollowTheManager(t *testing.T) {
	c := newPermissioned(t)
	ctx := context.Background()
	before, changed := c.fees(t)
	if changed.Sign() != 0 || before.MinBaseFee.Cmp(big.NewInt(1)) != 0 {
		t.Fatalf("the chain begins with %+v, changed in %d", before, changed)
	}
	want := precompile.NewFeeConfig(9_000_000, 7_000, 50_000)
	receipt := c.change(want)
	if receipt.Status != types.ReceiptStatusSuccessful || len(receipt.Logs) != 1 || len(receipt.Logs[0].Data) != 16*32 {
		t.Fatalf("setFeeConfig: %+v", receipt)
	}
	head, err := c.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if head.Header.GasLimit != 15_000_000 {
		t.Errorf("the block of the change has the new gas limit already")
	}
	config, changed := c.fees(t)
	if config.GasLimit.Cmp(want.GasLimit) != 0 || config.TargetGas.Cmp(want.TargetGas) != 0 || changed.Uint64() != head.Number {
		t.Errorf("after the change: %+v in block %d", config, changed)
	}
	if next, err := c.NextHeader(ctx, head, 1000*(c.time+10), evm.Override{}); err != nil || next.BaseFee.Cmp(want.MinBaseFee) < 0 || next.GasLimit != want.GasLimit.Uint64() {
		t.Errorf("next header %+v, %v", next, err)
	}
	restored, err := reader.Restore(ctx, c.Chain, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []*evm.Builder{c.builder, restored} {
		p, err := b.Open(1000 * (c.time + 10))
		if err != nil {
			t.Fatal(err)
		}
		if h := p.Header(); h.GasLimit != 9_000_000 || h.BaseFee.Cmp(want.MinBaseFee) != 0 {
			t.Errorf("the next block has gas limit %d and base fee %d", h.GasLimit, h.BaseFee)
		}
	}
	c.send(c.outsider, &forwarder, 100_000, nil)
	if err := verify.VerifyChain(ctx, c.db, c.Chain, func(*store.Delta) {}); err != nil {
		t.Errorf("verify: %v", err)
	}
}

func (c *permissioned) fees(t *testing.T) (precompile.FeeConfig, *big.Int) {
	t.Helper()
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	config, changed, err := c.FeeConfigAt(t.Context(), head)
	if err != nil {
		t.Fatal(err)
	}
	return config, changed
}

// TestImpossibleFeesAreRefused: a fee manager may set fees that no account can pay; blocks are still built.
func TestImpossibleFeesAreRefused(t *testing.T) {
	c := newPermissioned(t)
	bad := precompile.NewFeeConfig(0, 1, 1)
	if receipt := c.change(bad); receipt.Status != types.ReceiptStatusFailed || receipt.GasUsed != 400_000 {
		t.Errorf("a gas limit of zero: %+v", receipt)
	}
	if _, err := c.callHead(c.admin, &precompile.FeeManager.Address, precompile.PackInput(precompile.SetFeeConfig, bad.Words()...)); err == nil || !strings.Contains(err.Error(), "gasLimit cannot be less than or equal to 0") {
		t.Errorf("asked: %v", err)
	}
	if _, err := c.callHead(c.outsider, &precompile.FeeManager.Address, precompile.PackInput(precompile.SetFeeConfig, bad.Words()...)); err == nil || !strings.HasPrefix(err.Error(), "non-enabled cannot change fee config: 0x") {
		t.Errorf("an outsider asked: %v", err)
	}
	vast := precompile.NewFeeConfig(1, 1, 1)
	vast.MinBaseFee = common.MaxHash.Big()
	vast.GasLimit, vast.TargetGas, vast.BaseFeeChangeDenominator = common.MaxHash.Big(), common.MaxHash.Big(), big.NewInt(1)
	if receipt := c.change(vast); receipt.Status != types.ReceiptStatusSuccessful {
		t.Fatalf("vast fees: %+v", receipt)
	}
	for _, seconds := range []uint64{2, 10, 1_000_000} {
		p, err := c.builder.Open(1000 * (c.time + seconds))
		if err != nil || p.Header().BaseFee.Cmp(vast.MinBaseFee) != 0 {
			t.Errorf("after %d seconds: %v", seconds, err)
		}
	}
	if _, err := c.callHead(c.admin, &precompile.FeeManager.Address, precompile.PackInput("getFeeConfig()")); err != nil {
		t.Errorf("getFeeConfig: %v", err)
	}
}
