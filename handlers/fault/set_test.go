package fault_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"snowglobe/handlers/events"
	"snowglobe/handlers/fault"
)

var names = &fault.Names{Operations: []string{"getChain", "listBlocks"}, RPCMethods: []string{"eth_call", "eth_chainId"}, Chains: []string{"43114", "C", "P"}}

func decode(t *testing.T, text string) *fault.Rule {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	r, problems := fault.Decode(v, names)
	if len(problems) > 0 {
		t.Fatalf("%s: %v", text, problems)
	}
	return r
}

func get(path string) *fault.Request {
	return &fault.Request{Interface: "data", Operation: "getChain", Method: "GET", Path: path, Network: "mainnet", Chains: []string{"43114", "C"},
		Keys: []string{"my-key"}, Header: http.Header{"X-Test": {"1"}}, Text: path}
}

func calls(methods ...string) *fault.Request {
	r := &fault.Request{Interface: "node", Method: "POST", Path: "/ext/bc/C/rpc", Chains: []string{"43114", "C"}}
	for _, m := range methods {
		r.Calls = append(r.Calls, fault.Call{Method: m})
	}
	return r
}

// pattern is which of so many requests a rule applies to.
func pattern(s *fault.Set, n int) string {
	var b strings.Builder
	for range n {
		if s.Decide(get("/v1/chains/43114")) == nil {
			b.WriteByte('-')
		} else {
			b.WriteByte('x')
		}
	}
	return b.String()
}

// TestWhenARuleApplies, twice: the second run is as the first.
func TestWhenARuleApplies(t *testing.T) {
	for times, want := range map[string]string{
		`null`: "xxxxxxxx", `{"first":2}`: "xx------", `{"every":3}`: "--x--x--", `{"after":5}`: "-----xxx", `{"after":2,"first":3}`: "--xxx---",
		`{"after":1,"every":2}`: "--x-x-x-", `{"every":2,"first":2}`: "-x-x----", `{"probability":0}`: "--------", `{"probability":1}`: "xxxxxxxx",
	} {
		text := `{"action":{"status":503},"times":` + times + `}`
		if times == "null" {
			text = `{"action":{"status":503}}`
		}
		for range 2 {
			s := fault.NewSet(1, "main", time.Now, events.NewHub())
			s.Add(decode(t, text))
			if got := pattern(s, 8); got != want {
				t.Errorf("%s applies to %s: want %s", times, got, want)
			}
		}
	}
}

// TestProbabilityFollowsFromTheSeed: neither the rule's id nor what other rules counted matters, nor the process.
func TestProbabilityFollowsFromTheSeed(t *testing.T) {
	const rule = `{"action":{"status":503},"times":{"probability":0.3}}`
	of := func(seed int64, rule string) string {
		s := fault.NewSet(seed, "main", time.Now, nil)
		s.Add(decode(t, `{"id":"other","match":{"operation":"listBlocks"},"action":{"status":500}}`))
		s.Add(decode(t, rule))
		return pattern(s, 200)
	}
	first := of(1, rule)
	if n := strings.Count(first, "x"); n < 40 || n > 80 {
		t.Errorf("a probability of 0.3 applies to %d of 200", n)
	}
	if of(1, rule) != first {
		t.Error("two runs differ")
	}
	if of(2, rule) == first || of(1, strings.Replace(rule, "503", "504", 1)) == first {
		t.Error("the seed and the rule do not matter")
	}
}

func TestForATimeOfEitherClock(t *testing.T) {
	world := time.Unix(1_800_000_000, 0)
	s := fault.NewSet(1, "main", func() time.Time { return world }, nil)
	s.Add(decode(t, `{"action":{"status":503},"times":{"for":"1h","clock":"world"}}`))
	if got := pattern(s, 2); got != "xx" {
		t.Errorf("within the hour: %s", got)
	}
	world = world.Add(time.Hour)
	if got := pattern(s, 2); got != "--" {
		t.Errorf("after the hour: %s", got)
	}
	s.Delete("")
	s.Add(decode(t, `{"action":{"status":503},"times":{"for":"40ms"}}`))
	if got := pattern(s, 1); got != "x" {
		t.Errorf("within 40 ms: %s", got)
	}
	time.Sleep(50 * time.Millisecond)
	if got := pattern(s, 1); got != "-" {
		t.Errorf("after 40 ms: %s", got)
	}
}

func TestWhatARuleMatches(t *testing.T) {
	r := get("/v1/chains/43114/addresses/0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")
	for match, want := range map[string]bool{
		`{}`: true, `{"interface":"data"}`: true, `{"interface":"metrics"}`: false, `{"operation":"getChain"}`: true, `{"operation":"listBlocks"}`: false,
		`{"method":"GET"}`: true, `{"method":"POST"}`: false, `{"path":"/v1/chains/*/addresses/*"}`: true, `{"path":"/v1/chains/*"}`: false,
		`{"path":"/v1/**"}`: true, `{"path":"/v1/chains/4*/**"}`: true, `{"path":"/v2/**"}`: false, `{"chain":"43114"}`: true, `{"chain":"c"}`: true, `{"chain":"P"}`: false,
		`{"network":"mainnet"}`: true, `{"network":"testnet"}`: false, `{"address":"0xF39FD6e51aad88f6f4ce6ab8827279cfffb92266"}`: true,
		`{"address":"0x0000000000000000000000000000000000000001"}`: false, `{"apiKey":"my-key"}`: true, `{"apiKey":"other"}`: false,
		`{"headers":{"x-test":"1"}}`: true, `{"headers":{"x-test":"2"}}`: false, `{"headers":{"x-test":"*"}}`: true, `{"headers":{"x-none":"*"}}`: false,
	} {
		s := fault.NewSet(1, "main", time.Now, nil)
		s.Add(decode(t, `{"match":`+match+`,"action":{"status":503}}`))
		if got := s.Decide(r) != nil; got != want {
			t.Errorf("%s: %t", match, got)
		}
	}
}

// TestMembersOfABatchAreJudgedByThemselves, in their order.
func TestMembersOfABatchAreJudgedByThemselves(t *testing.T) {
	s := fault.NewSet(1, "main", time.Now, nil)
	s.Add(decode(t, `{"match":{"rpcMethod":"eth_c*"},"action":{"rpcError":{"code":-32005,"message":"limit"}},"times":{"every":2}}`))
	p := s.Decide(calls("eth_call", "eth_blockNumber", "eth_chainId", "eth_call", "eth_call"))
	if p == nil || p.Whole != nil || len(p.Calls) != 2 || p.Calls[2] == nil || p.Calls[4].RPCError.Code != -32005 {
		t.Errorf("the plan is %+v", p)
	}
	s.Delete("")
	s.Add(decode(t, `{"match":{"rpcMethod":"eth_call"},"action":{"status":503},"times":{"first":1}}`))
	if p := s.Decide(calls("eth_chainId", "eth_call", "eth_call")); p == nil || p.Whole == nil {
		t.Errorf("the plan is %+v", p)
	}
	if n := s.List()[0]; n.Matched != 1 || n.Applied != 1 {
		t.Errorf("counted %+v", n)
	}
}

// TestDelaysOfADistribution are within it, and the same in every run.
func TestDelaysOfADistribution(t *testing.T) {
	of := func(rule string) (all []time.Duration) {
		s := fault.NewSet(7, "main", time.Now, nil)
		s.Add(decode(t, rule))
		for range 101 {
			all = append(all, s.Decide(get("/")).Delay)
		}
		return all
	}
	const even, bell = `{"action":{"delay":{"min":"100ms","max":"200ms"}}}`, `{"action":{"delay":{"median":"100ms","sigma":0.5}}}`
	for _, rule := range []string{even, bell} {
		all := of(rule)
		if !slices.Equal(all, of(rule)) {
			t.Errorf("%s: two runs differ", rule)
		}
		slices.Sort(all)
		if slices.Compact(slices.Clone(all))[0] == all[100] || rule == even && (all[0] < 100*time.Millisecond || all[100] > 200*time.Millisecond) ||
			rule == bell && (all[50] < 80*time.Millisecond || all[50] > 120*time.Millisecond) {
			t.Errorf("%s: from %s by %s to %s", rule, all[0], all[50], all[100])
		}
	}
	if all := of(`{"action":{"delay":"2s"}}`); all[0] != 2*time.Second || all[100] != all[0] {
		t.Errorf("a fixed delay is %s", all[0])
	}
}

func TestWhatRulesMayNotSay(t *testing.T) {
	for text, want := range map[string]string{
		`{"action":{"status":503},"match":{"operation":"getChan"}}`: "did you mean getChain?",
		`{"action":{"status":503},"match":{"rpcMethod":"eth_cal"}}`: "did you mean eth_call?",
		`{"action":{"status":503},"match":{"rpcMethod":"foo_*"}}`:   "fits no method",
		`{"action":{"status":503},"match":{"chain":"43115"}}`:       "did you mean 43114?",
		`{"action":{"status":503},"match":{"interface":"date"}}`:    "expected one of data, metrics, node",
		`{"action":{"status":503},"match":{"interfase":"data"}}`:    "did you mean interface?",
		`{"action":{"statuss":503}}`:                                "did you mean status?",
		`{"action":{"delay":{"min":"1s","mx":"2s"}}}`:               `action.delay.member "mx" is not known: did you mean max?`,
		`{"action":{"delay":7}}`:                                    "expected a string",
		`{"action":{"rpcError":{"code":1,"mesage":"x"}}}`:           "did you mean message?",
		`{"action":{"status":503},"times":{"evry":2}}`:              "did you mean every?",
		`{"action":{"status":503},"match":{"headers":{"x y":"1"}}}`: "not the name of a header",
		`{"action":{}}`:                                            "action is empty",
		`{"action":{"status":200}}`:                                "from 400 to 599",
		`{"action":{"status":503,"truncate":3}}`:                   "status and truncate",
		`{"action":{"delay":"soon"}}`:                              `duration "soon"`,
		`{"action":{"delay":{"min":"2s","max":"1s"}}}`:             "min and max",
		`{"action":{"status":503},"times":{"first":0}}`:            "at least 1",
		`{"action":{"status":503},"times":{"clock":"world"}}`:      "times.for",
		`{"action":{"status":503},"match":{"path":"/sim/faults"}}`: "no fault reaches /sim",
		`{"match":{}}`: "action is required",
		`[]`:           "expected an object",
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if _, problems := fault.Decode(v, names); !strings.Contains(strings.Join(problems, "; "), want) {
			t.Errorf("%s: %v: want %s", text, problems, want)
		}
	}
}

func TestTheFileIsYAML(t *testing.T) {
	rules, err := fault.ReadFile([]byte("- match: {operation: getChain}\n  action: {status: 429, retryAfter: 2}\n  times: {first: 2}\n"))
	if err != nil || len(rules) != 1 {
		t.Fatal(rules, err)
	}
	r, problems := fault.Decode(rules[0], names)
	if len(problems) > 0 || r.Match.Operation != "getChain" || r.Action.RetryAfter != 2 || r.Times.First != 2 {
		t.Errorf("%+v %v", r, problems)
	}
}
