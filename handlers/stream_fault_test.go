// Faults of WebSocket subscriptions, logs and sent transactions, as Go clients see them.

package handlers_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/gorilla/websocket"

	"snowglobe/handlers/control"
)

// heads is a WebSocket connection with a subscription to new heads.
type heads struct {
	*clocked
	socket *websocket.Conn
}

func subscribeHeads(c *clocked) *heads {
	c.Helper()
	socket, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(c.url, "http")+"/ext/bc/C/ws", nil)
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { socket.Close() })
	h := &heads{c, socket}
	if err := socket.WriteMessage(websocket.TextMessage, []byte(`{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}`)); err != nil {
		c.Fatal(err)
	}
	if _, _, err := socket.ReadMessage(); err != nil {
		c.Fatal(err)
	}
	return h
}

func head(c *clocked) (n hexutil.Uint64) {
	c.Helper()
	answer := struct{ Result *hexutil.Uint64 }{&n}
	if err := json.Unmarshal([]byte(c.call("/ext/bc/C/rpc", "eth_blockNumber", "[]")), &answer); err != nil {
		c.Fatal(err)
	}
	return n
}

// mine makes blocks and returns the number of the first.
func (h *heads) mine(n int) (first int) {
	h.Helper()
	for i := range n {
		h.call("/ext/bc/C/rpc", "evm_mine", "[]")
		if i == 0 {
			first = int(head(h.clocked))
		}
	}
	return first
}

// read returns the block numbers of the next notifications, relative to a first one, and an error.
func (h *heads) read(n, first int) (got []int, err error) {
	h.Helper()
	for range n {
		_ = h.socket.SetReadDeadline(time.Now().Add(5 * time.Second))
		_, text, err := h.socket.ReadMessage()
		if err != nil {
			return got, err
		}
		var m struct {
			Params struct {
				Result struct{ Number hexutil.Uint64 }
			}
		}
		if err := json.Unmarshal(text, &m); err != nil {
			h.Fatal(err)
		}
		got = append(got, int(m.Params.Result.Number)-first)
	}
	return got, nil
}

// TestNotificationsFail tries each fault of a stream on the second of four blocks.
func TestNotificationsFail(t *testing.T) {
	c := clockedOf(t, tinyWorldOf(t, 1))
	for action, want := range map[string]string{
		`{"drop":1}`: "[0 2 3]", `{"drop":2}`: "[0 3]", `{"double":1}`: "[0 1 1 2 3]", `{"double":2}`: "[0 1 1 1 2 3]",
		`{"reorder":1}`: "[0 2 1 3]", `{"reorder":2}`: "[0 2 3 1]", `{"reorder":3}`: "[0 2 3 1]", // after a second
		`{"delay":"50ms"}`: "[0 1 2 3]",
	} {
		h := subscribeHeads(c)
		c.addFault(`{"match":{"subscription":"newHeads"},"action":` + action + `,"times":{"after":1,"first":1}}`)
		since := time.Now()
		first := h.mine(4)
		got, err := h.read(len(strings.Fields(want)), first)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v: want %s", action, got, err, want)
		}
		if took := time.Since(since); action == `{"delay":"50ms"}` && took < 50*time.Millisecond {
			t.Errorf("%s: after %s", action, took)
		}
		if s := decoded[control.Faults](c, "/sim/faults", "").Faults[0]; s.Applied != 1 {
			t.Errorf("%s: applied %d times", action, s.Applied)
		}
		c.deleteFaults()
		h.socket.Close()
	}
	h := subscribeHeads(c)
	c.addFault(`{"match":{"subscription":"*","chain":"43114"},"action":{"end":"connection"},"times":{"after":1}}`)
	if got, err := h.read(3, h.mine(3)); err == nil || fmt.Sprint(got) != "[0]" {
		t.Errorf("the connection ends: %v, %v", got, err)
	}
	c.deleteFaults()
	h = subscribeHeads(c)
	c.addFault(`{"match":{"subscription":"newHeads"},"action":{"end":"subscription"},"times":{"after":1,"first":1}}`)
	first := h.mine(3)
	if got, err := h.read(1, first); err != nil || fmt.Sprint(got) != "[0]" {
		t.Errorf("before the subscription ends: %v, %v", got, err)
	}
	if err := h.socket.WriteMessage(websocket.TextMessage, []byte(`{"jsonrpc":"2.0","id":2,"method":"eth_chainId"}`)); err != nil {
		t.Fatal(err)
	}
	if _, text, err := h.socket.ReadMessage(); err != nil || !strings.Contains(string(text), `"0xa86a"`) {
		t.Errorf("the connection outlives the subscription: %s, %v", text, err)
	}
}

// TestLogsAreMissingForAWhile: the first answer lacks the newest logs, the second has all.
func TestLogsAreMissingForAWhile(t *testing.T) {
	c := journaled(t)
	logs := func() (all []json.RawMessage) {
		a := c.try("POST", "/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[{"fromBlock":"0x0","toBlock":"latest"}]}`)
		answer := struct{ Result []json.RawMessage }{}
		if err := json.Unmarshal([]byte(a.body), &answer); err != nil {
			t.Fatal(err)
		}
		return answer.Result
	}
	all := logs()
	c.addFault(`{"match":{"rpcMethod":"eth_getLogs"},"action":{"missingLogs":1},"times":{"first":1}}`)
	if fewer := logs(); len(fewer) != len(all)-1 || fmt.Sprintf("%s", fewer) != fmt.Sprintf("%s", all[:len(all)-1]) {
		t.Errorf("%d of %d logs", len(fewer), len(all))
	}
	if again := logs(); len(again) != len(all) {
		t.Errorf("later %d of %d logs", len(again), len(all))
	}
}

// TestALostAnswerWasCarriedOut sends a payment whose answer is lost.
func TestALostAnswerWasCarriedOut(t *testing.T) {
	c := clockedOf(t, tinyWorldOf(t, 1))
	before := c.call("/ext/bc/C/rpc", "eth_getTransactionCount", `["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","latest"]`)
	a := c.try("POST", "/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":1,"method":"eth_sendTransaction","params":[{"from":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","to":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","value":"0x1"}]}`, "x-sim-fault", "drop=after")
	after := c.call("/ext/bc/C/rpc", "eth_getTransactionCount", `["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","latest"]`)
	if a.err == nil || a.status != 0 || before == after {
		t.Errorf("status %d, %v; the nonce was %s and is %s", a.status, a.err, before, after)
	}
}
