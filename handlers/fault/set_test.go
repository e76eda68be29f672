package fault_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
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
	return &fault.Request{Interface: "data", Operation: "getChain", Method: "GET", Path: path, Host: "api.avax.network", Network: "mainnet", Chains: []string{"43114", "C"},
		Keys: []string{"my-key"}, Header: http.Header{"X-Test": {"1"}}, Text: path}
}

func calls(methods ...string) *fault.Request {
	r := &fault.Request{Interface: "node", Method: "POST", Path: "/ext/bc/C/rpc", Chains: []string{"43114", "C"}}
	for _, m := range methods {
		r.Calls = append(r.Calls, fault.Call{Method: m})
	}
	return r
}

// pattern returns to which of a number of requests a rule applies.
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

// TestWhenARuleApplies runs each rule twice; the second run equals the first.
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

// TestProbabilityFollowsFromTheSeed: it does not depend on the rule's id, the counts of other rules, or the process.
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
	if of(1, `{"id":"named",`+rule[1:]) != first {
		t.Error("the rule's id matters")
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
	begun := time.Now()
	s.Add(decode(t, `{"action":{"status":503},"times":{"for":"40ms"}}`))
	added := time.Now()
	for applies := true; applies; time.Sleep(time.Millisecond) {
		least := time.Since(added)
		applies = pattern(s, 1) == "x"
		if most := time.Since(begun); applies && least >= 40*time.Millisecond || !applies && most < 40*time.Millisecond {
			t.Fatalf("after %s to %s a rule for 40 ms applies: %t", least, most, applies)
		}
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
		`{"path":"/v1/chains/43114/**"}`: true, `{"path":"/v1/chains/43115/**"}`: false, `{"path":"/*/*/*/*/*/*/**"}`: false, `{"path":"/**"}`: true, `{"path":"**"}`: true, `{"operation":"GetChain"}`: true,
		`{"headers":{"x-test":"1","x-none":"1"}}`: false, `{"interface":"data","method":"POST"}`: false,
		`{"host":"api.avax.network"}`: true, `{"host":"API.*.network"}`: true, `{"host":"*.avax-test.network"}`: false,
		`{"headers":{"x-test":"1"}}`: true, `{"headers":{"x-test":"2"}}`: false, `{"headers":{"x-test":"*"}}`: true, `{"headers":{"x-none":"*"}}`: false,
	} {
		s := fault.NewSet(1, "main", time.Now, nil)
		s.Add(decode(t, `{"match":`+match+`,"action":{"status":503}}`))
		if got := s.Decide(r) != nil; got != want {
			t.Errorf("%s: %t", match, got)
		}
	}
}

// TestMembersOfABatchAreJudgedByThemselves, in order.
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

// TestDelaysOfADistribution have its quantiles, and are the same in every run.
func TestDelaysOfADistribution(t *testing.T) {
	of := func(rule string) (all []time.Duration) {
		s := fault.NewSet(7, "main", time.Now, nil)
		s.Add(decode(t, `{"action":{"delay":`+rule+`}}`))
		for range 1001 {
			all = append(all, s.Decide(get("/")).Delay)
		}
		return all
	}
	for rule, want := range map[string][5]float64{ // in milliseconds: the least, three quantiles a standard deviation apart, the most
		`"2s"`:                           {2000, 2000, 2000, 2000, 2000},
		`{"min":"100ms","max":"200ms"}`:  {100, 116, 150, 184, 200},
		`{"min":"200ms","max":"200ms"}`:  {200, 200, 200, 200, 200},
		`{"median":"100ms"}`:             {0, 100 * math.Exp(-0.5), 100, 100 * math.Exp(0.5), 1000},
		`{"median":"100ms","sigma":0.2}`: {0, 100 * math.Exp(-0.2), 100, 100 * math.Exp(0.2), 1000},
		`{"median":"100ms","sigma":0}`:   {100, 100, 100, 100, 100},
		`{"median":"50m","sigma":5}`:     {0, 3_000_000 * math.Exp(-5), 3_000_000, 3_600_000, 3_600_000}, // no delay is longer than an hour
	} {
		all := of(rule)
		if !slices.Equal(all, of(rule)) {
			t.Errorf("%s: two runs differ", rule)
		}
		slices.Sort(all)
		for i, at := range []int{0, 159, 500, 841, 1000} {
			got, slack := float64(all[at])/1e6, 1.15
			if rule == `{"median":"50m","sigma":5}` {
				slack = 1.6
			}
			if i == 0 && got < want[0] || i == 4 && got > want[4] || i%4 != 0 && (got < want[i]/slack || got > want[i]*slack) {
				t.Errorf("%s: value %d of 1000 is %g ms: want %g", rule, at, got, want[i])
			}
		}
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
		`{"action":{"status":503},"match":{"host":"a:80"}}`:        `match.host "a:80" is not a host without a port`,
		`{"action":{"status":503},"match":{"host":"["}}`:           `match.host "[" is not a host without a port`,
		`{"match":{}}`: "action is required",
		`{"action":{"double":1},"match":{"subscription":"newHeads","operation":"getChain"}}`: "do not go with an operation",
		`{"action":{"double":1},"match":{"subscription":"newHeads","method":"GET"}}`:         "do not go with an operation",
		`{"action":{"double":1},"match":{"subscription":"newHeads","rpcMethod":"eth_call"}}`: "do not go with an operation",
		`{"action":{"double":1},"match":{"webhook":"*","path":"/v1"}}`:                       "match.webhook goes with no other member",
		`{"action":{"double":1},"match":{"webhook":"*","host":"a"}}`:                         "match.webhook goes with no other member",
		`{"action":{"double":1},"match":{"webhook":"*","chain":"C"}}`:                        "match.webhook goes with no other member",
		`{"action":{"double":1},"match":{"webhook":"*","network":"fuji"}}`:                   "match.webhook goes with no other member",
		`{"action":{"double":1},"match":{"webhook":"*","apiKey":"x"}}`:                       "match.webhook goes with no other member",
		`{"action":{"double":1},"match":{"webhook":"*","headers":{"a":"b"}}}`:                "match.webhook goes with no other member",
		`{"action":{"double":1}}`:  "action.double needs match.subscription or match.webhook",
		`{"action":{"reorder":1}}`: "action.reorder needs match.subscription or match.webhook",
		`{"action":{"drop":0}}`:    "action.drop",
		`{"action":{"drop":1}}`:    "action.drop needs match.subscription",
		`[]`:                       "expected an object",
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

// TestManageRules: a new rule gets the next free number, one with a known id replaces it, and an emptied set starts counting again.
func TestManageRules(t *testing.T) {
	s := fault.NewSet(1, "main", time.Now, nil)
	list := func() (text string) {
		for _, r := range s.List() {
			text += r.ID + ":" + r.Action.String() + fmt.Sprintf(" %d/%d;", r.Applied, r.Matched)
		}
		return text
	}
	for _, c := range []struct{ add, added, all string }{
		{`{"action":{"status":500}}`, "1", "1:status 500 0/0;"},
		{`{"id":"2","action":{"status":502}}`, "2", "1:status 500 1/1;2:status 502 0/0;"},
		{`{"action":{"mining":"never"}}`, "3", "1:status 500 2/2;2:status 502 0/0;3:mining never 0/0;"},
		{`{"id":"1","action":{"status":501}}`, "1", "1:status 501 0/0;2:status 502 0/0;3:mining never 0/0;"},
	} {
		if got := s.Add(decode(t, c.add)); got.ID != c.added || list() != c.all {
			t.Errorf("%s is %s in %s: want %s", c.add, got.ID, list(), c.all)
		}
		s.Decide(get("/"))
	}
	if s.Delete("1") != 1 || s.Delete("1") != 0 || list() != "2:status 502 0/0;3:mining never 0/0;" || !s.Mining() || !s.Any() {
		t.Errorf("after one is deleted: %s", list())
	}
	if s.Delete("") != 2 || s.Any() || s.Mining() || list() != "" || (*fault.Set)(nil).Any() {
		t.Errorf("after all are deleted: %s", list())
	}
	if got := s.Add(decode(t, `{"action":{"status":500}}`)); got.ID != "1" || s.Mining() || !s.Any() {
		t.Errorf("the first rule is called %s", got.ID)
	}
}

// TestTellOfFaults: a listener learns of each fault, and the journal gets a summary.
func TestTellOfFaults(t *testing.T) {
	hub := events.NewHub()
	l := hub.Listen(events.Fault)
	defer l.End()
	s := fault.NewSet(1, "side", time.Now, hub)
	s.Add(decode(t, `{"id":"slow","match":{"rpcMethod":"eth_call"},"action":{"delay":{"min":"2s","max":"2s"},"rpcResult":null}}`))
	header := func(text string) *fault.Action {
		a, err := fault.ParseHeader(text)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, c := range []struct {
		plan        *fault.Plan
		text        string
		delay       time.Duration
		whole       bool
		calls, told string
	}{
		{s.Decide(calls("eth_chainId", "eth_call")), `rule slow: delay {"min":"2s","max":"2s"}, rpcResult, waits 2s`, 2 * time.Second, false, "[1]", `{"rule":"slow","action":"delay {\"min\":\"2s\",\"max\":\"2s\"}, rpcResult","interface":"node","method":"POST","path":"/ext/bc/C/rpc","rpcMethod":"eth_call"}`},
		{s.Once(header("503;delay=1s"), get("/v1/chains")), "X-Sim-Fault: delay 1s, status 503", time.Second, true, "[]", `{"rule":"X-Sim-Fault","action":"delay 1s, status 503","interface":"data","operation":"getChain","method":"GET","path":"/v1/chains"}`},
		{s.Once(header("delay=1s"), get("/")), "X-Sim-Fault: delay 1s", time.Second, false, "[]", `{"rule":"X-Sim-Fault","action":"delay 1s","interface":"data","operation":"getChain","method":"GET","path":"/"}`},
		{s.Once(header("rpc-error=-1;delay=1s"), calls("a", "b")), "X-Sim-Fault: delay 1s, rpcError -1; X-Sim-Fault: delay 1s, rpcError -1, waits 0s", time.Second, false, "[0 1]", `{"rule":"X-Sim-Fault","action":"delay 1s, rpcError -1","interface":"node","method":"POST","path":"/ext/bc/C/rpc"}`},
		{(*fault.Set)(nil).Once(header("drop"), get("/")), "X-Sim-Fault: drop before", 0, true, "[]", ""},
	} {
		told := ""
		if c.told != "" {
			e := <-l.Events()
			raw, _ := json.Marshal(e.Data)
			if told = string(raw); e.World != "side" {
				t.Errorf("told of world %s", e.World)
			}
		}
		p := c.plan
		if got := fmt.Sprint(slices.Sorted(maps.Keys(p.Calls))); p.Text != c.text || p.Delay != c.delay || (p.Whole != nil) != c.whole || got != c.calls || told != c.told {
			t.Errorf("%+v, calls %s, told %s", p, got, told)
		}
	}
	if p := s.Decide(calls("eth_chainId")); p != nil {
		t.Errorf("a call that no rule is for: %+v", p)
	}
	s.Add(decode(t, `{"id":"twice","match":{"subscription":"newHeads"},"action":{"double":1}}`))
	if a, _ := s.DecideEvent(&fault.Event{Subscription: "newHeads"}, get("/ws")); a == nil {
		t.Error("the notification has no fault")
	}
	raw, _ := json.Marshal((<-l.Events()).Data)
	if want := `{"rule":"twice","action":"double 1","interface":"data","method":"GET","path":"/ws","rpcMethod":"newHeads"}`; string(raw) != want {
		t.Errorf("told %s, want %s", raw, want)
	}
}

// TestNotificationsThatARuleMatches: rules for notifications are no rules for messages, nor for requests, and the other way round.
func TestNotificationsThatARuleMatches(t *testing.T) {
	for match, want := range map[string][4]bool{ // newHeads, logs, address_activity, a request
		`{"subscription":"newHeads"}`: {true, false, false, false}, `{"subscription":"*"}`: {true, true, false, false}, `{"webhook":"*"}`: {false, false, true, false},
		`{"webhook":"address_activity"}`: {false, false, true, false}, `{"subscription":"*","network":"fuji"}`: {}, `{"subscription":"*","network":"mainnet"}`: {true, true, false, false}, `{}`: {3: true},
	} {
		s := fault.NewSet(1, "main", time.Now, events.NewHub())
		s.Add(decode(t, `{"match":`+match+`,"action":{"delay":"1s"}}`))
		var got [4]bool
		for i, e := range []fault.Event{{Subscription: "newHeads"}, {Subscription: "logs"}, {Webhook: "address_activity"}} {
			a, delay := s.DecideEvent(&e, get("/ws"))
			if got[i] = a != nil; got[i] != (delay == time.Second) {
				t.Errorf("%s: a delay of %s", match, delay)
			}
		}
		if got[3] = s.Decide(get("/")) != nil; got != want {
			t.Errorf("%s matches %v, want %v", match, got, want)
		}
		s.Delete("")
		s.Add(decode(t, `{"match":`+match+`,"action":{"delay":"1s"},"times":{"after":5}}`))
		if a, _ := s.DecideEvent(&fault.Event{Subscription: "newHeads", Webhook: ""}, get("/ws")); a != nil {
			t.Errorf("%s applies at once", match)
		}
	}
}

// TestCallsInTheirOrder: a rule for a whole response applies before rules for its calls, and delays add up.
func TestCallsInTheirOrder(t *testing.T) {
	s := fault.NewSet(1, "main", time.Now, nil)
	s.Add(decode(t, `{"match":{"rpcMethod":"eth_call"},"action":{"delay":"1s"}}`))
	s.Add(decode(t, `{"action":{"delay":"2s"},"times":{"first":1}}`))
	s.Add(decode(t, `{"action":{"rpcError":{"code":1,"message":"x"}}}`))
	p := s.Decide(calls("eth_call", "eth_chainId", "eth_call"))
	if p.Delay != 4*time.Second || p.Whole != nil || len(p.Calls) != 1 || p.Calls[1] == nil || p.Text != "rule 2: delay 2s; rule 1: delay 1s; rule 3: rpcError 1; rule 1: delay 1s" {
		t.Errorf("the plan is %+v", p)
	}
	s.Add(decode(t, `{"action":{"status":503}}`))
	if p := s.Decide(calls("eth_chainId")); p.Whole == nil || len(p.Calls) != 0 || p.Text != "rule 4: status 503" {
		t.Errorf("the plan is %+v", p)
	}
}

// TestAlters: a response is made before it is altered, unless it is replaced.
func TestAlters(t *testing.T) {
	for action, want := range map[string]bool{
		`{"status":503}`: false, `{"rpcError":{"code":1,"message":"x"}}`: false, `{"rpcResult":null}`: false, `{"mining":"never"}`: false, `{"drop":"before"}`: false, `{"delay":"1s"}`: false,
		`{"drop":"during"}`: true, `{"truncate":0}`: true, `{"slow":"1s"}`: true, `{"invalidJson":true}`: true, `{"contentType":"x"}`: true, `{"emptyPage":true}`: true, `{"pageToken":"missing"}`: true,
	} {
		if a := decode(t, `{"action":`+action+`}`).Action; a.Alters() != want {
			t.Errorf("%s alters: %t", action, !want)
		}
	}
	if (*fault.Action)(nil).Alters() {
		t.Error("no action alters")
	}
}

// TestFaultsInAContext: the calls that fail are found by position, and a sent transaction learns how long it waits.
func TestFaultsInAContext(t *testing.T) {
	a := &decode(t, `{"action":{"mining":"1.5s"}}`).Action
	ctx := fault.WithPlan(t.Context(), &fault.Plan{Calls: map[int]*fault.Action{3: a}})
	if got := fault.Failing(ctx); len(got) != 1 || got[3] != a || fault.Failing(t.Context()) != nil {
		t.Errorf("failing are %v", got)
	}
	for action, want := range map[string]int64{`{"mining":"1.5s"}`: 1500, `{"mining":"never"}`: -1, `{"drop":"before"}`: 0} {
		wait, late := fault.MiningOf(fault.WithAction(t.Context(), &decode(t, `{"action":`+action+`}`).Action))
		if wait != want || late != (want != 0) {
			t.Errorf("%s waits %d, %t", action, wait, late)
		}
	}
	if wait, late := fault.MiningOf(t.Context()); wait != 0 || late {
		t.Errorf("without an action it waits %d", wait)
	}
}
