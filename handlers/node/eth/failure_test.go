package eth_test

import (
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"

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
	for _, ref := range []any{"latest", map[string]any{"blockHash": c.Head().Hash}} {
		for method, params := range map[string][]any{
			"eth_getCode": {contract, ref}, "eth_getAccountInfo": {contract, ref}, "ots_hasCode": {contract, ref}, "debug_accountInfoAt": {hexutil.Uint64(c.Head().Number - 1), 0, contract},
		} {
			rpctest.FailEach(t, w.DB, func() error { return c.Try(new(any), method, params...) })
		}
	}
}
