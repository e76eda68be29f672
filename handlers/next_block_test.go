// The base fee of the next block, in every interface that shows it.

package handlers_test

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// TestTheNextBaseFeeIsKnown sets the base fee of the next block. Everything that describes the block shows it, and filled-in transactions can be
// mined, with and without automine. With a base fee of 0 gas is free, even for an empty account.
func TestTheNextBaseFeeIsKnown(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	for _, chain := range []int{0, len(w.Chains) - 1} {
		d := newDevnet(t, w, w.Chains[chain])
		poor := common.Address{0xee}
		d.text("anvil_impersonateAccount", poor)
		for _, method := range []string{"anvil_setNextBlockBaseFeePerGas", "hardhat_setNextBlockBaseFeePerGas"} {
			for _, automine := range []bool{true, false} {
				d.text("evm_setAutomine", automine)
				for _, fee := range []int64{50e9, 0} {
					d.text(method, hexutil.EncodeBig(big.NewInt(fee)))
					d.toldOf(fee)
					calls := []map[string]any{{"from": d.from, "to": someone, "value": "0x1"}}
					if fee == 0 {
						calls = append(calls, map[string]any{"from": poor, "to": someone}, map[string]any{"from": poor, "to": someone, "gasPrice": "0x0"},
							map[string]any{"from": poor, "to": someone, "maxFeePerGas": "0x0"})
					}
					for _, call := range calls {
						if automine {
							d.text(method, hexutil.EncodeBig(big.NewInt(fee)))
						}
						d.text("eth_fillTransaction", call)
						var hash common.Hash
						d.call(&hash, "eth_sendTransaction", call)
						if !automine {
							d.text("anvil_mine")
							d.text(method, hexutil.EncodeBig(big.NewInt(fee)))
						}
						receipt, err := d.client.TransactionReceipt(t.Context(), hash)
						if err != nil || receipt.Status != 1 || d.head().BaseFee.Int64() != fee {
							t.Errorf("%s %d, automine %t, %v: %v %v", method, fee, automine, call, receipt, err)
						}
					}
				}
				d.text("anvil_mine")
			}
		}
		d.text("anvil_setNextBlockBaseFeePerGas", hexutil.EncodeBig(big.NewInt(50e9)))
		d.text("anvil_mine")
		d.text("evm_increaseTime", 3600)
		d.text("eth_sendTransaction", map[string]any{"from": d.from, "to": someone}) // with the next block's fees, not that one's
		d.text("anvil_mine")
		for want, call := range map[string]map[string]any{
			"gasPrice must be non-zero after london fork": {"from": poor, "to": someone, "gasPrice": "0x0"}, "maxFeePerGas must be non-zero": {"from": poor, "to": someone, "maxFeePerGas": "0x0"},
		} {
			if err := d.client.Client().CallContext(t.Context(), nil, "eth_sendTransaction", call); err == nil || err.Error() != want {
				t.Errorf("%v where gas costs something: %v", call, err)
			}
		}
		d.text("evm_setAutomine", true)
	}
	newDevnet(t, w, w.Chains[0]).verify()
}

// toldOf reads the base fee of the next block from every interface.
func (d *devnet) toldOf(fee int64) {
	d.Helper()
	var base, tip, price hexutil.Big
	d.call(&base, "eth_baseFee")
	d.call(&tip, "eth_maxPriorityFeePerGas")
	d.call(&price, "eth_gasPrice")
	var block struct{ BaseFeePerGas hexutil.Big }
	d.call(&block, "eth_getBlockByNumber", "pending", false)
	var info struct {
		Environment struct{ BaseFee, GasPrice hexutil.Big }
	}
	d.call(&info, "anvil_nodeInfo")
	sum := new(big.Int).Add(base.ToInt(), tip.ToInt())
	if base.ToInt().Int64() != fee || tip.ToInt().Sign() > 0 == (fee == 0) || price.ToInt().Cmp(sum) != 0 || block.BaseFeePerGas.ToInt().Int64() != fee ||
		info.Environment.BaseFee.ToInt().Int64() != fee || info.Environment.GasPrice.ToInt().Cmp(sum) != 0 {
		d.Errorf("asked for %d: %s", fee, fmt.Sprint(base.ToInt(), tip.ToInt(), price.ToInt(), block, info))
	}
}
