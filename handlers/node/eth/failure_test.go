package eth_test

import (
	"sync/atomic"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/handlers/node/nodetest"
	"snowglobe/handlers/node/rpc/rpctest"
	"snowglobe/seed/seedtest"
)

// TestStatesFail: what go-ethereum's state could not read is an internal error, whose words no client sees.
func TestStatesFail(t *testing.T) {
	w := seedtest.Copy(t, 1)
	c := nodetest.Open(t, w, w.Networks[0].CChain())
	contract := c.Deploy([]byte{0x60, 1})
	c.Text("anvil_mine", 1)
	number := hexutil.Uint64(c.Head().Number - 1)
	c.Text("evm_setAutomine", false)
	c.Send(&types.DynamicFeeTx{Nonce: c.Nonce(), To: &c.From})
	for _, ref := range []any{"latest", "pending", map[string]any{"blockHash": c.Head().Hash}} {
		for method, params := range map[string][]any{
			"eth_getCode": {contract, ref}, "eth_getAccountInfo": {contract, ref}, "ots_hasCode": {contract, ref}, "debug_accountInfoAt": {number, 0, contract},
			"eth_getBalance": {contract, ref}, "eth_getTransactionCount": {contract, ref}, "eth_getStorageAt": {contract, "0x0", ref}, "debug_executionWitness": {number},
		} {
			rpctest.FailEach(t, w.DB, func() error { return c.Try(new(any), method, params...) })
		}
	}
}

// TestReorgsFail: no read that prepares a transaction of anvil_reorg may fail unnoticed, and the chain stays as it was.
func TestReorgsFail(t *testing.T) {
	w := seedtest.Copy(t, 1)
	c := nodetest.Open(t, w, w.Networks[0].CChain())
	contract := c.Deploy([]byte{0x60, 1})
	before := c.Head().Hash
	w.DB.Caches().Suspend()
	defer w.DB.Caches().Resume()
	for n := int32(1); n <= 20; n++ {
		var count atomic.Int32
		w.DB.FailStatements(func(string) bool { return count.Add(1) == n })
		problem := c.Problem("anvil_reorg", 1, []any{[]any{map[string]any{"from": c.From, "to": contract}, 0}})
		w.DB.FailStatements(nil)
		if problem != "-32603 internal error: the simulator's log has the cause" || c.Head().Hash != before {
			t.Errorf("without statement %d: %q", n, problem)
		}
	}
}
