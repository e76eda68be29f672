// Faults, the journal and the JSON-RPC server on one large batch.

package handlers_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestFaultAtTheEndOfALargeBatch: rules and journal see every member of a batch, however large it is.
func TestFaultAtTheEndOfALargeBatch(t *testing.T) {
	world := tinyWorld(t)
	c := &clocked{t, newDevnet(t, world, world.Chains[0]).url}
	c.send("/sim/faults", `{"match":{"rpcMethod":"eth_chainId"},"action":{"rpcError":{"code":-32005,"message":"too busy"}}}`)
	var batch []string
	for i := range 400 {
		batch = append(batch, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"eth_getBalance","params":["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","latest"]}`, i))
	}
	batch = append(batch, `{"jsonrpc":"2.0","id":400,"method":"eth_chainId"}`)
	if status, said, _ := c.send("/ext/bc/C/rpc", "["+strings.Join(batch, ",")+"]"); status != 200 || strings.Count(said, "too busy") != 1 || strings.Count(said, `"result"`) != 400 {
		t.Errorf("%d %.300s", status, said)
	}
	for method, want := range map[string]string{"eth_chainId": `"count":1`, "eth_getBalance": `"count":400`} {
		if _, said, _ := c.send("/sim/requests:count", `{"operation":"`+method+`"}`); !strings.Contains(said, want) {
			t.Errorf("%s: %s", method, said)
		}
	}
}
