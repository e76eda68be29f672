package node

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/rpc"
)

// TestBatchesAreBoundedInWork sends batches of endless calls over both transports: once the batch's gas is used up, further calls are refused like a
// node's unprocessed ones, except calls that execute nothing.
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

// TestBatchesAreBoundedInTime sends batches whose first call runs for longer than a batch may: it is aborted, later ones are refused like a node's
// unprocessed ones, and the response is immediate.
func TestBatchesAreBoundedInTime(t *testing.T) {
	w := newTestWorld(t)
	w.c.Limits.Gas, w.c.Limits.Time, w.c.Limits.Batch = 1<<50, time.Minute, 200*time.Millisecond
	loop := map[string]any{"0x0000000000000000000000000000000000000b0b": map[string]any{"code": "0x5b600056"}}
	endless := rpc.BatchElem{Method: "eth_call", Args: []any{map[string]any{"to": "0x0000000000000000000000000000000000000b0b"}, "latest", loop}}
	for name, url := range map[string]string{"http": w.server.URL + "/ext/bc/C/rpc", "websocket": "ws" + strings.TrimPrefix(w.server.URL, "http") + "/ext/bc/C/ws"} {
		batch := []rpc.BatchElem{{Method: "eth_chainId"}, endless, {Method: "eth_chainId"}, endless, {Method: "eth_blockNumber"}}
		for i := range batch {
			batch[i].Result = new(string)
		}
		begun := time.Now()
		if err := w.dial(t, url).Client().BatchCall(batch); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took > 30*time.Second {
			t.Errorf("%s: it took %s", name, took)
		}
		for i, elem := range batch {
			coded, refused := elem.Error.(rpc.Error)
			switch late := refused && coded.ErrorCode() == -32002 && coded.Error() == "request timed out"; {
			case i == 0 && elem.Error != nil, i == 1 && elem.Error == nil, i > 1 && !late:
				t.Errorf("%s, call %d: %v", name, i, elem.Error)
			}
		}
	}
}
