package debug_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/node/nodetest"
	"snowglobe/seed/seedtest"
)

// stepCounter is a client's script that counts steps by opcode, and calls.
const stepCounter = `{ops:{},calls:0,step:function(log){var op=log.op.toString();this.ops[op]=(this.ops[op]||0)+1},enter:function(){this.calls++},exit:function(){},fault:function(){},result:function(){return {ops:this.ops,calls:this.calls}}}`

// TestScriptsAgreeWithTracersInGo compares go-ethereum's script that traces calls, and a client's script, with callTracer and the log of steps.
func TestScriptsAgreeWithTracersInGo(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	compared, calls := 0, 0
	for _, chain := range w.Chains {
		c := nodetest.Open(t, w, chain)
		head := c.Head()
		last := uint64(25)
		if testing.Short() {
			t.Log("left out of a short run: all blocks but the last 10")
			last = 9
		}
		for number := head.Number - min(head.Number-1, last); number <= head.Number; number++ {
			block := hexutil.EncodeUint64(number)
			ask := func(into any, config object) {
				t.Helper()
				c.Call(into, "debug_traceBlockByNumber", block, config)
			}
			var native, script []struct{ Result nodetest.Frame }
			var counts []struct {
				Result struct {
					Ops   map[string]int
					Calls int
				}
			}
			var steps []struct {
				Result struct{ StructLogs []struct{ Op string } }
			}
			ask(&native, object{"tracer": "callTracer"})
			ask(&script, object{"tracer": "callTracerLegacy"})
			ask(&counts, object{"tracer": stepCounter})
			ask(&steps, object{"disableStack": true, "disableStorage": true})
			for i := range native {
				if got, want := callShape(&script[i].Result), callShape(&native[i].Result); got != want {
					t.Errorf("%s, block %d, transaction %d: the script traces %s, want %s", chain.Row.Name, number, i, got, want)
				}
				want, entered := map[string]int{}, innerCalls(&native[i].Result)
				for _, step := range steps[i].Result.StructLogs {
					want[step.Op]++
				}
				if counts[i].Result.Calls != entered || !maps.Equal(counts[i].Result.Ops, want) {
					t.Errorf("%s, block %d, transaction %d: the script counts %+v, want %d and %v", chain.Row.Name, number, i, counts[i].Result, entered, want)
				}
				compared, calls = compared+1, calls+entered
			}
		}
	}
	if compared < 20 || calls < 5 {
		t.Errorf("only %d transactions with %d inner calls were compared", compared, calls)
	}
}

// innerCalls counts the calls below a call.
func innerCalls(f *nodetest.Frame) (n int) {
	for i := range f.Calls {
		n += 1 + innerCalls(&f.Calls[i])
	}
	return n
}

// callShape writes the part that both call tracers have in the same form: who called whom with what, without precompiles.
func callShape(f *nodetest.Frame) string {
	var calls []string
	for i := range f.Calls {
		if !f.Calls[i].IsPrecompile() {
			calls = append(calls, callShape(&f.Calls[i]))
		}
	}
	value, output := f.Value, f.Output
	if value == "" {
		value = "0x0"
	}
	if output == "0x" || f.Error != "" {
		output = ""
	}
	to := f.To
	if f.Error != "" {
		to = ""
	}
	text, _ := json.Marshal(calls)
	return fmt.Sprint(strings.ToUpper(f.Type), " ", f.From, " ", to, " ", value, " ", f.Input, " ", output, " ", f.Error != "", " ", string(text))
}
