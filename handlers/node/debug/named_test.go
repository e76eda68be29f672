package debug_test

import (
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"snowglobe/handlers/artifacts"
	"snowglobe/handlers/explain"
	"snowglobe/handlers/node/debug"
	"snowglobe/handlers/node/nodetest"
	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/node/rpc/rpctest"
	"snowglobe/seed/seedtest"
)

// TestNamedCalls: with artifacts, the callTracer names the contract and the function of a transaction, of each in a block, and of a call.
func TestNamedCalls(t *testing.T) {
	w := seedtest.Copy(t, 1)
	c := nodetest.Open(t, w, w.Chains[0])
	known := artifacts.New()
	known.Add(artifacts.NewContract("Counter", []byte(`[{"type":"function","name":"count","inputs":[],"outputs":[{"type":"uint256"}],"stateMutability":"nonpayable"}]`), nodetest.Creation(counts), counts))
	named := rpctest.Serve(t, rpc.New(rpc.Options{MaxBody: 1 << 20}, debug.Namespaces(c.Miner, &explain.Explainer{Registry: known})...))
	counter, input := c.Deploy(counts), hexutil.Bytes(crypto.Keccak256([]byte("count()"))[:4])
	hash := c.Send(&types.DynamicFeeTx{Nonce: c.Nonce(), To: &counter, Data: input, Gas: 100_000})
	type call struct{ Contract, Function, Output string }
	options := object{"tracer": "callTracer"}
	block := rpctest.Get[[]struct{ Result call }](named, "debug_traceBlockByNumber", []any{"latest", options})
	if len(block) != 1 {
		t.Fatalf("%d transactions were traced", len(block))
	}
	for what, got := range map[string]call{
		"transaction": rpctest.Get[call](named, "debug_traceTransaction", []any{hash, options}), "block": block[0].Result,
		"call": rpctest.Get[call](named, "debug_traceCall", []any{object{"from": c.From, "to": counter, "input": input}, "latest", options}),
	} {
		want := call{"Counter", "count()", word(1)}
		if what == "call" {
			want.Output = word(2)
		}
		if got != want {
			t.Errorf("the %s is %+v, want %+v", what, got, want)
		}
	}
}
