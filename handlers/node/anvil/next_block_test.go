package anvil_test

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/node/nodetest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/verify/verifytest"
)

var someone = common.HexToAddress("0x50e50e")

// TestTheNextBaseFeeIsKnown sets the base fee of the next block. Everything that describes the block shows it, and filled-in transactions can be
// mined, with and without automine. With a base fee of 0 gas is free, even for an empty account.
func TestTheNextBaseFeeIsKnown(t *testing.T) {
	w := seedtest.Copy(t, 1)
	for _, chain := range []int{0, len(w.Chains) - 1} {
		d := nodetest.Open(t, w, w.Chains[chain])
		poor := common.Address{0xee}
		d.Text("anvil_impersonateAccount", poor)
		for _, method := range []string{"anvil_setNextBlockBaseFeePerGas", "hardhat_setNextBlockBaseFeePerGas"} {
			for _, automine := range []bool{true, false} {
				d.Text("evm_setAutomine", automine)
				for _, fee := range []int64{50e9, 0} {
					d.Text(method, hexutil.EncodeBig(big.NewInt(fee)))
					toldOf(d, fee)
					calls := []map[string]any{{"from": d.From, "to": someone, "value": "0x1"}}
					if fee == 0 {
						calls = append(calls, map[string]any{"from": poor, "to": someone}, map[string]any{"from": poor, "to": someone, "gasPrice": "0x0"},
							map[string]any{"from": poor, "to": someone, "maxFeePerGas": "0x0"})
					}
					for _, call := range calls {
						if automine {
							d.Text(method, hexutil.EncodeBig(big.NewInt(fee)))
						}
						d.Text("eth_fillTransaction", call)
						var hash common.Hash
						d.Call(&hash, "eth_sendTransaction", call)
						if !automine {
							d.Text("anvil_mine")
							d.Text(method, hexutil.EncodeBig(big.NewInt(fee)))
						}
						if receipt := d.Transaction(hash).Receipt(); receipt.Status != 1 || d.Head().Results.BaseFee.Int64() != fee {
							t.Errorf("%s %d, automine %t, %v: %v", method, fee, automine, call, receipt)
						}
					}
				}
				d.Text("anvil_mine")
			}
		}
		d.Text("anvil_setNextBlockBaseFeePerGas", hexutil.EncodeBig(big.NewInt(50e9)))
		d.Text("anvil_mine")
		d.Text("evm_increaseTime", 3600)
		d.Text("eth_sendTransaction", map[string]any{"from": d.From, "to": someone}) // with the next block's fees, not that one's
		d.Text("anvil_mine")
		for want, call := range map[string]map[string]any{
			"gasPrice must be non-zero after london fork": {"from": poor, "to": someone, "gasPrice": "0x0"}, "maxFeePerGas must be non-zero": {"from": poor, "to": someone, "maxFeePerGas": "0x0"},
		} {
			if problem := d.Problem("eth_sendTransaction", call); problem != "-32000 "+want {
				t.Errorf("%v where gas costs something: %v", call, problem)
			}
		}
		d.Text("evm_setAutomine", true)
	}
	verifytest.Sound(t, w)
}

// toldOf reads the base fee of the next block from every interface.
func toldOf(d *nodetest.Chain, fee int64) {
	d.Helper()
	var base, tip, price hexutil.Big
	d.Call(&base, "eth_baseFee")
	d.Call(&tip, "eth_maxPriorityFeePerGas")
	d.Call(&price, "eth_gasPrice")
	var block struct{ BaseFeePerGas hexutil.Big }
	d.Call(&block, "eth_getBlockByNumber", "pending", false)
	var info struct {
		Environment struct{ BaseFee, GasPrice hexutil.Big }
	}
	d.Call(&info, "anvil_nodeInfo")
	sum := new(big.Int).Add(base.ToInt(), tip.ToInt())
	if base.ToInt().Int64() != fee || tip.ToInt().Sign() > 0 == (fee == 0) || price.ToInt().Cmp(sum) != 0 || block.BaseFeePerGas.ToInt().Int64() != fee ||
		info.Environment.BaseFee.ToInt().Int64() != fee || info.Environment.GasPrice.ToInt().Cmp(sum) != 0 {
		d.Errorf("asked for %d: %s", fee, fmt.Sprint(base.ToInt(), tip.ToInt(), price.ToInt(), block, info))
	}
}
