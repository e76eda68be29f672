// Requests through a whole server, with their events and journal entries.

package handlers_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	ethrpc "github.com/ethereum/go-ethereum/rpc"
	"github.com/gorilla/websocket"

	"snowglobe/handlers"
	"snowglobe/handlers/control"
	"snowglobe/handlers/journal"
)

// journaled serves the shared world.
func journaled(t *testing.T) *clocked {
	t.Helper()
	h, err := handlers.New(readWorld(t), handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(func() { server.Close(); h.Close() })
	return &clocked{t, server.URL}
}

func decoded[T any](c *clocked, path, body string) (answer T) {
	c.Helper()
	status, text, _ := c.send(path, body)
	if err := json.Unmarshal([]byte(text), &answer); err != nil || status != http.StatusOK {
		c.Fatalf("%s: %d %s", path, status, text)
	}
	return answer
}

// TestTheJournalHasEveryRequest records cached answers and calls over WebSocket, too, and refusals with their causes.
func TestTheJournalHasEveryRequest(t *testing.T) {
	c := journaled(t)
	for range 2 {
		c.send("/v1/chains/43114/blocks/5", "")
	}
	c.send("/v1/chains/abc/blocks", "")
	c.call("/ext/bc/C/rpc", "eth_getBalance", `["0xzz","latest"]`)
	c.send("/v1/operations/transactions:export", `{"type":"nothing"}`)
	socket, err := ethrpc.Dial("ws" + strings.TrimPrefix(c.url, "http") + "/ext/bc/C/ws")
	if err != nil {
		t.Fatal(err)
	}
	if err := socket.Call(new(string), "eth_chainId"); err != nil {
		t.Fatal(err)
	}
	socket.Close()
	for range 100 { // a WebSocket answer arrives before it is recorded
		if len(decoded[control.Requests](c, "/sim/requests?operation=eth_chainId", "").Requests) > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	listed := decoded[control.Requests](c, "/sim/requests?pageSize=4&client=Go-http-client", "")
	var got []string
	for _, s := range slices.Concat(listed.Requests, decoded[control.Requests](c, "/sim/requests?pageSize=4&client=Go-http-client&pageToken="+listed.NextPageToken, "").Requests) {
		if s.Status == http.StatusSwitchingProtocols {
			continue // the connection itself, recorded once it has ended
		}
		got = append(got, fmt.Sprintf("%d %s %s %d %t", s.ID, s.Interface, s.Operation, s.Status, s.Cause != ""))
	}
	want := "6 node eth_chainId 200 false, 5 data startTransactionExport 400 true, 4 node eth_getBalance 200 true, " +
		"3 data listBlocks 400 true, 2 data getBlock 200 false, 1 data getBlock 200 false"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("the journal has\n%s: want\n%s", text, want)
	}
	first, second := decoded[journal.Detail](c, "/sim/requests/1", ""), decoded[journal.Detail](c, "/sim/requests/2", "")
	if first.ResponseBody == "" || first.ResponseBody != second.ResponseBody || first.Parameters["blockId"] != "5" || first.Parameters["chainId"] != "43114" {
		t.Errorf("the same request twice is %+v and %+v", first, second)
	}
	if !strings.HasPrefix(first.Curl, "curl '"+c.url+"/v1/chains/43114/blocks/5'") {
		t.Errorf("the command line is %s", first.Curl)
	}
	message := decoded[control.Requests](c, "/sim/requests?operation=eth_chainId", "").Requests
	if len(message) != 1 || !message[0].WebSocket || message[0].Path != "/ext/bc/C/ws" {
		t.Errorf("over WebSocket: %+v", message)
	}
	failed := decoded[control.Requests](c, "/sim/requests?failed=true&interface=node", "").Requests
	if len(failed) != 1 || failed[0].Calls[0].Error.Code != -32602 || !strings.HasPrefix(failed[0].Cause, "-32602 ") {
		t.Errorf("failed requests are %+v", failed)
	}
}

// TestEventsAreStreamed listens like a page.
func TestEventsAreStreamed(t *testing.T) {
	c := journaled(t)
	a, err := http.Get(c.url + "/sim/events?kind=request")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	lines := bufio.NewScanner(a.Body)
	if lines.Scan(); lines.Text() != ": listening" || a.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("the stream begins with %q", lines.Text())
	}
	c.send("/v1/chains/43114/blocks/5", "")
	var got []string
	for len(got) < 4 && lines.Scan() {
		got = append(got, lines.Text())
	}
	if got[2] != "event: request" || !strings.Contains(got[3], `"operation":"getBlock"`) {
		t.Errorf("the stream says %q", got)
	}
}

// TestAResponseIsRecordedBeforeItIsRead requests responses of many sizes and, as soon as the last byte has arrived, counts the requests in the
// journal.
func TestAResponseIsRecordedBeforeItIsRead(t *testing.T) {
	c := journaled(t)
	for n := 1; n <= 40; n++ {
		for operation, path := range map[string]string{"listTransactions": "/v1/chains/43114/transactions?pageSize=100", "getChain": "/v1/chains/43114"} {
			if a := c.try("GET", path, ""); a.status != http.StatusOK || len(a.body) < 100 {
				t.Fatalf("%s: %d %.100s", path, a.status, a.body)
			}
			if _, said, _ := c.send("/sim/requests:count", `{"operation":"`+operation+`"}`); !strings.Contains(said, fmt.Sprintf(`"count":%d`, n)) {
				t.Fatalf("%d of %s: %s", n, operation, said)
			}
		}
	}
}

// TestAnAlteredResponseIsRecordedBeforeItIsRead requests large responses that faults alter, and messages over WebSocket.
func TestAnAlteredResponseIsRecordedBeforeItIsRead(t *testing.T) {
	c := journaled(t)
	transport := &http.Transport{DisableKeepAlives: true} // otherwise it retries when a kept connection was reset
	for _, fault := range []string{"truncate=60000", "slow=1ms", "drop=during", "drop", "invalid-json"} {
		for n := 1; n <= times(t, 40); n++ {
			r, err := http.NewRequest(http.MethodGet, c.url+"/v1/chains/43114/transactions?pageSize=100", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-Sim-Fault", fault)
			if answer, err := transport.RoundTrip(r); err == nil {
				_, _ = io.Copy(io.Discard, answer.Body) // some answers are cut off
				answer.Body.Close()
			}
			if _, said, _ := c.send("/sim/requests:count", `{"operation":"listTransactions"}`); !strings.Contains(said, fmt.Sprintf(`"count":%d`, n)) {
				t.Fatalf("%s, request %d: %s", fault, n, said)
			}
		}
		forget(c)
	}
	socket, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(c.url, "http")+"/ext/bc/C/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for n := 1; n <= times(t, 40); n++ {
		if err := socket.WriteMessage(websocket.TextMessage, []byte(`{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[{"fromBlock":"0x0"}]}`)); err != nil {
			t.Fatal(err)
		}
		if _, answer, err := socket.ReadMessage(); err != nil || len(answer) < 10_000 {
			t.Fatalf("%.300s %v", answer, err)
		}
		if _, said, _ := c.send("/sim/requests:count", `{"operation":"eth_getLogs"}`); !strings.Contains(said, fmt.Sprintf(`"count":%d`, n)) {
			t.Fatalf("message %d: %s", n, said)
		}
	}
}

// forget clears the journal.
func forget(c *clocked) {
	c.Helper()
	r, err := http.NewRequest(http.MethodDelete, c.url+"/sim/requests", nil)
	if err != nil {
		c.Fatal(err)
	}
	if a, err := http.DefaultClient.Do(r); err != nil || a.StatusCode != http.StatusOK {
		c.Fatal(a, err)
	}
}
