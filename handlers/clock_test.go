// The clock in every interface of one server, moved through /sim, evm_ methods and a flag, with and without people.

package handlers_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"snowglobe/handlers"
	"snowglobe/handlers/control"
	"snowglobe/seed"
	"snowglobe/sim"
	"snowglobe/sim/verify/verifytest"
)

// clocked is a server with a clock that the test moves.
type clocked struct {
	*testing.T
	url string
}

// clockedOf serves a world until the test ends.
func clockedOf(t *testing.T, w *sim.World) *clocked {
	t.Helper()
	h, err := handlers.New(w, handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(func() { server.Close(); h.Close() })
	return &clocked{t, server.URL}
}

// send requests a path, with a body if there is one.
func (c *clocked) send(path, body string) (status int, text string, answer map[string]any) {
	c.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(c.Context(), method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		c.Fatal(err)
	}
	defer response.Body.Close()
	var raw json.RawMessage
	if err := json.NewDecoder(response.Body).Decode(&raw); err != nil {
		c.Fatal(path, err)
	}
	_ = json.Unmarshal(raw, &answer) // other JSON has no members
	return response.StatusCode, string(raw), answer
}

func (c *clocked) call(path, method, params string) string {
	c.Helper()
	_, text, _ := c.send(path, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`)
	return text
}

// TestEveryWayToMoveTheClock moves the clock in every possible way, and reads a validator's end one second before and after it from the Data API, from the
// node and from the list of upcoming events.
func TestEveryWayToMoveTheClock(t *testing.T) {
	w := tinyWorld(t)
	server, err := handlers.New(w, handlers.Options{Network: "mainnet", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	listening := httptest.NewServer(server)
	defer listening.Close()
	c := &clocked{t, listening.URL}

	const clock = "/sim/clock"
	_, text, now := c.send(clock, "")
	if now["unix"] != float64(seed.DefaultUntil.Unix()) || now["rate"] != 0.0 {
		t.Errorf("at the beginning: %s", text)
	}
	event := c.nextEnd()
	end := int64(event["unix"].(float64))
	node := event["nodeId"].(string)
	c.send(clock, `{"set":"`+time.Unix(end-1, 0).UTC().Format(time.RFC3339)+`"}`)
	c.wantValidating(node, true)
	if _, text, now = c.send(clock, `{"advance":"1s"}`); now["unix"] != float64(end) {
		t.Errorf("after a second: %s", text)
	}
	c.wantValidating(node, false)
	if next := c.nextEnd(); next["unix"].(float64) <= float64(end) {
		t.Errorf("a validator that has ended is still to end: %v", next)
	}
	next := c.nextEnd()["unix"]
	if _, text, now = c.send(clock, `{"until":"next-validator-end"}`); now["unix"] != next {
		t.Errorf("until the next end, %v: %s", next, text)
	}
	before := w.Clock.Unix()
	for _, m := range []struct{ method, params, want string }{
		{"evm_increaseTime", `[60]`, `"result":60`}, {"evm_increaseTime", `["0x3c"]`, `"result":60`}, {"anvil_increaseTime", `[60]`, `"result":60`},
		{"evm_setTime", "[1]", "never goes back"}, {"anvil_setBlockTimestampInterval", `[30]`, `"result":null`}, {"evm_mine", `[]`, `"0x0"`},
		{"anvil_removeBlockTimestampInterval", `[]`, `"result":true`}, {"anvil_removeBlockTimestampInterval", `[]`, `"result":false`},
	} {
		if text := c.call("/ext/bc/C/rpc", m.method, m.params); !strings.Contains(text, m.want) {
			t.Errorf("%s %s: %s", m.method, m.params, text)
		}
	}
	if passed := w.Clock.Unix() - before; passed != 180 {
		t.Errorf("%d seconds passed, want 180", passed)
	}
	verifytest.Sound(t, w)
}

// nextEnd returns the next end of a validator of mainnet's primary network.
func (c *clocked) nextEnd() map[string]any {
	c.Helper()
	_, text, answer := c.send("/sim/clock/events", "")
	for _, e := range answer["events"].([]any) {
		if e := e.(map[string]any); e["kind"] == "validator-end" && e["network"] == "mainnet" {
			return e
		}
	}
	c.Fatal(text)
	return nil
}

func (c *clocked) wantValidating(node string, validates bool) {
	c.Helper()
	_, text, _ := c.send("/v1/networks/mainnet/validators/"+node+"?validationStatus=active", "")
	if strings.Contains(text, `"validationStatus":"active"`) != validates {
		c.Errorf("%s validates by the Data API: want %v, %s", node, validates, text)
	}
	text = c.call("/ext/bc/P", "platform.getCurrentValidators", `{"nodeIDs":["`+node+`"]}`)
	if strings.Contains(text, `"txID"`) != validates {
		c.Errorf("%s validates by the node: want %v, %s", node, validates, text)
	}
}

// TestARunningClock starts the clock and stops it again.
func TestARunningClock(t *testing.T) {
	w := tinyWorld(t)
	server, err := handlers.New(w, handlers.Options{Network: "mainnet", Log: slog.New(slog.DiscardHandler), ClockRate: 3600})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	listening := httptest.NewServer(server)
	defer listening.Close()
	c := &clocked{t, listening.URL}
	worked := make(chan error, 1)
	go func() { worked <- server.Work(t.Context()) }()
	deadline := time.Now().Add(20 * time.Second)
	for w.Clock.Now().Before(seed.DefaultUntil.Add(10*time.Minute)) && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	if _, text, now := c.send("/sim/clock", `{"freeze":true}`); now["rate"] != 0.0 || now["unix"].(float64) < float64(seed.DefaultUntil.Unix()+600) {
		t.Fatalf("after a while: %s", text)
	}
	time.Sleep(3 * 100 * time.Millisecond) // a move under way ends in that time
	before := w.Clock.UnixMilli()
	time.Sleep(3 * 100 * time.Millisecond)
	if after := w.Clock.UnixMilli(); after != before {
		t.Errorf("a frozen clock moves: from %d to %d", before, after)
	}
}

// peopleOf returns a world's people, as the program does.
func peopleOf(w *sim.World, refused func(error)) control.People { return seed.NewPeople(w, refused) }

// faucetOf returns a world's faucet, as the program does.
func faucetOf(w *sim.World) control.Faucet { return seed.NewFaucet(w) }

// TestPeopleLiveOnWhileTheClockMoves advances a populated day through the API, and finds its transactions in every interface.
func TestPeopleLiveOnWhileTheClockMoves(t *testing.T) {
	w := tinyWorld(t)
	server, err := handlers.New(w, handlers.Options{Network: "mainnet", Relayer: true, Log: slog.New(slog.DiscardHandler),
		People: peopleOf})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	listening := httptest.NewServer(server)
	defer listening.Close()
	c := &clocked{t, listening.URL}
	blocks := func() string { return c.call("/ext/bc/C/rpc", "eth_blockNumber", `[]`) }
	if _, text, now := c.send("/sim/clock", `{"advance":"1h"}`); now["settled"] == nil {
		t.Errorf("the last transactions of the history are not settled: %s", text)
	}
	before := blocks()
	if _, text, _ := c.send("/sim/clock", `{"advance":"5h"}`); blocks() != before {
		t.Errorf("there are blocks without people: %s", text)
	}
	if status, text, _ := c.send("/sim/clock", `{"populate":true}`); status != http.StatusBadRequest {
		t.Errorf("populate alone: %s", text)
	}
	if status, text, now := c.send("/sim/clock", `{"populate":true,"advance":"17h"}`); status != http.StatusOK || now["populate"] != false || blocks() == before {
		t.Errorf("there are no blocks with people: %d %s", status, text)
	}
	_, text, page := c.send("/v2/chains/43114/metrics/txCount?timeInterval=day&pageSize=1", "")
	if point := page["results"].([]any)[0].(map[string]any); point["value"] == 0.0 || point["timestamp"] != float64(seed.DefaultUntil.Unix()) {
		t.Errorf("transactions of the day: %s", text)
	}
	_, text, page = c.send("/v1/chains/43114/transactions?pageSize=1", "")
	if newest := page["transactions"].([]any)[0].(map[string]any); newest["blockTimestamp"].(float64) <= float64(seed.DefaultUntil.Unix()) {
		t.Errorf("the newest transaction: %s", text)
	}
	if _, _, now := c.send("/sim/clock", `{"populate":true,"rate":0}`); now["populate"] != true {
		t.Errorf("people do not stay: %v", now)
	}
	before = blocks()
	if _, text, _ := c.send("/sim/clock", `{"advance":"12h"}`); blocks() == before {
		t.Errorf("people no longer act: %s", text)
	}
	before = blocks()
	if text := c.call("/ext/bc/C/rpc", "evm_increaseTime", `[43200]`); blocks() == before {
		t.Errorf("people do not act while evm_increaseTime moves the clock: %s", text)
	}
	ctx, end := context.WithCancel(t.Context())
	worked := make(chan error, 1)
	go func() { worked <- server.Work(ctx) }()
	status, text, now := c.send("/sim/clock", `{"advance":"300d","wait":false}`)
	target, _ := now["target"].(string)
	if status != http.StatusOK || target == "" || !strings.Contains(now["time"].(string), "2026-11") {
		t.Fatalf("a move in the background: %d %s", status, text)
	}
	if status, text, _ := c.send("/sim/clock", `{"advance":"1h","wait":false}`); status != http.StatusConflict || !strings.Contains(text, "freeze") {
		t.Errorf("a second move: %d %s", status, text)
	}
	start := w.Clock.Now()
	for deadline := time.Now().Add(time.Minute); !w.Clock.Now().After(start.Add(time.Hour)) && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	c.send("/sim/clock", `{"freeze":true}`)
	for deadline := time.Now().Add(time.Minute); now["target"] != nil && time.Now().Before(deadline); {
		_, text, now = c.send("/sim/clock", "")
	}
	if now["target"] != nil || now["time"].(string) >= target {
		t.Errorf("frozen on the way to %s: %s", target, text)
	}
	if status, text, _ := c.send("/sim/clock", `{"rate":1,"wait":false}`); status != http.StatusBadRequest {
		t.Errorf("a rate without waiting: %d %s", status, text)
	}
	end()
	<-worked
	verifytest.Sound(t, w)
}
