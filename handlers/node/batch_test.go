package node

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/rpc"
)

// TestBatchesAreBoundedInWork sends batches of calls that never end: those that come when the gas of the batch is used up are
// refused as a node refuses what it does not come to, by either way; a call that executes nothing is answered.
func TestBatchesAreBoundedInWork(t *testing.T) {
	const calls, paid = 60, 20
	w := newTestWorld(t)
	w.c.Limits.Gas = 100_000
	loop := map[string]any{"0x0000000000000000000000000000000000000b0b": map[string]any{"code": "0x5b600056"}}
	for name, url := range map[string]string{"http": w.server.URL + "/ext/bc/C/rpc", "websocket": "ws" + strings.TrimPrefix(w.server.URL, "http") + "/ext/bc/C/ws"} {
		batch := make([]rpc.BatchElem, calls)
		for i := range batch {
			batch[i] = rpc.BatchElem{Method: "eth_call", Args: []any{map[string]any{"to": "0x0000000000000000000000000000000000000b0b"}, "latest", loop}, Result: new(string)}
		}
		batch[calls-1] = rpc.BatchElem{Method: "eth_chainId", Result: new(string)}
		if err := w.dial(t, url).Client().BatchCall(batch); err != nil {
			t.Fatal(err)
		}
		for i, elem := range batch {
			got := fmt.Sprint(elem.Error)
			if coded, ok := elem.Error.(rpc.Error); ok {
				got = fmt.Sprint(coded.ErrorCode(), " ", coded)
			}
			want := "-32000 out of gas"
			switch {
			case i == calls-1:
				want = "<nil>"
			case i >= paid:
				want = "-32002 request timed out"
			}
			if got != want {
				t.Errorf("%s, call %d: %s, want %s", name, i, got, want)
			}
		}
	}
}
