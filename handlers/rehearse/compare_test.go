package rehearse_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"snowglobe/handlers/events"
	"snowglobe/handlers/journal"
	"snowglobe/handlers/rehearse"
)

// asked is a JSON-RPC call with its result, or an error if the result begins with an exclamation mark.
type asked struct{ method, params, result string }

func run(code int, output string, all ...asked) *rehearse.Run {
	j := journal.New(100, nil, events.NewHub())
	record(j, all...)
	return &rehearse.Run{Journal: j, Code: code, Output: []byte(output)}
}

func record(j *journal.Journal, all ...asked) {
	for _, a := range all {
		body := []byte(`{"id":1,"method":"` + a.method + `","params":` + a.params + `}`)
		at := strings.Index(string(body), a.params)
		call := journal.Record(body, a.method, body[at:at+len(a.params)])
		answer := `{"id":1,"result":` + a.result + `}`
		if message, failed := strings.CutPrefix(a.result, "!"); failed {
			call.Error, answer = &journal.CallError{Code: -32000, Message: message}, `{"id":1,"error":{}}`
		}
		j.Add(&journal.Exchange{Method: http.MethodPost, Interface: "node", Operation: a.method, Status: 200, World: "main", Request: journal.Keep(body), Answer: journal.Keep([]byte(answer)), Calls: []journal.CallRecord{call}})
	}
}

// exchanged is a run of other exchanges.
func exchanged(all ...journal.Exchange) *rehearse.Run {
	j := journal.New(100, nil, events.NewHub())
	for i := range all {
		j.Add(&all[i])
	}
	return &rehearse.Run{Journal: j}
}

// got is a request of the Data API with its answer.
func got(operation, target string, status int, answer string) journal.Exchange {
	at, err := url.Parse(target)
	if err != nil {
		panic(err)
	}
	return journal.Exchange{Method: http.MethodGet, Interface: "data", Operation: operation, Template: "/v1/chains/{chainId}", Target: target, URL: at, Status: status, Answer: journal.Keep([]byte(answer))}
}

// batch is two JSON-RPC calls, with something between them that is none.
func batch(first, second string) journal.Exchange {
	calls := []journal.CallRecord{{Method: "eth_chainId", Params: []byte("[]")}, {}, {Method: "platform.x", Params: []byte(`{"a":1}`)}}
	return journal.Exchange{Method: http.MethodPost, Interface: "node", Operation: "batch", Status: 200, Calls: calls, Answer: journal.Keep([]byte(`[{"result":` + first + `},{"error":{}},{"result":` + second + `}]`))}
}

// differ lists the differences of a report.
func differ(r *rehearse.Report) (all []string) {
	for _, d := range r.Differences {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s: %s %s %s, %d", d.Request, d.Field, d.Before, d.After, d.Times)))
	}
	return all
}

// TestExchangesOfEachKind: requests of REST interfaces, and of each call of a batch; not those to the simulator itself, nor what is no request.
func TestExchangesOfEachKind(t *testing.T) {
	long, short := strings.Repeat("ä", 40), batch(`"0x1"`, `{}`)
	short.Answer = journal.Keep([]byte(`[{"result":"0x1"},{"error":{}}]`))
	for name, c := range map[string]struct {
		before, after *rehearse.Run
		want          []string
		requests      [2]int
	}{
		"parameters": {exchanged(got("getChain", "/v1/chains/1?a=x&b=y", 200, `{"n":1}`), got("getChain", "/v1/chains/2", 200, `{"n":2}`)),
			exchanged(got("getChain", "/v1/chains/2", 200, `{"n":3}`), got("getChain", "/v1/chains/1?b=y&a=x", 200, `{"n":1}`)),
			[]string{`getChain {"chainId":"2"}: n 2 3, 1`}, [2]int{2, 2}},
		"the same field": {exchanged(got("getChain", "/v1/chains/1", 200, `{"n":1,"m":1}`), got("getChain", "/v1/chains/2", 200, `{"n":2,"m":1}`)),
			exchanged(got("getChain", "/v1/chains/1", 200, `{"n":3,"m":1}`), got("getChain", "/v1/chains/2", 200, `{"n":3,"m":1}`)),
			[]string{`getChain {"chainId":"1"}: n 1 3, 2`}, [2]int{2, 2}},
		"a refusal":        {exchanged(got("getChain", "/v1/chains/1", 200, `{}`)), exchanged(got("getChain", "/v1/chains/1", 400, `{"message":"no"}`)), []string{`getChain {"chainId":"1"}:  an answer error 400 no, 1`}, [2]int{1, 1}},
		"refusals":         {exchanged(got("getChain", "/v1/chains/1", 400, `{"message":"no"}`)), exchanged(got("getChain", "/v1/chains/1", 400, `{"message":"no","n":1}`)), nil, [2]int{1, 1}},
		"other refusals":   {exchanged(got("getChain", "/v1/chains/1", 404, `{"message":"no 7"}`)), exchanged(got("getChain", "/v1/chains/1", 404, `{"message":"not 7"}`)), []string{`getChain {"chainId":"1"}:  error 404 no 7 error 404 not 7, 1`}, [2]int{1, 1}},
		"no refusal":       {exchanged(got("getChain", "/v1/chains/1", 400, `{"message":"no"}`)), exchanged(got("getChain", "/v1/chains/1", 200, `{}`)), []string{`getChain {"chainId":"1"}:  error 400 no an answer, 1`}, [2]int{1, 1}},
		"another status":   {exchanged(got("make", "/v1", 200, `{"n":1}`)), exchanged(got("make", "/v1", 201, `{"n":2}`)), []string{`make: status 200 201, 1`, `make: n 1 2, 1`}, [2]int{1, 1}},
		"without answers":  {exchanged(got("make", "/v1", 204, ``)), exchanged(got("make", "/v1", 204, ``)), nil, [2]int{1, 1}},
		"long parameters":  {exchanged(got("make", "/v1?a="+long, 200, `{"n":1}`)), exchanged(got("make", "/v1?a="+long, 200, `{"n":2}`)), []string{`make {"a":"` + strings.Repeat("ä", 27) + `…: n 1 2, 1`}, [2]int{1, 1}},
		"sixty characters": {exchanged(got("make", "/v1?a="+long[:52], 200, `{"n":1}`)), exchanged(got("make", "/v1?a="+long[:52], 200, `{"n":2}`)), []string{`make {"a":"` + long[:52] + `"}: n 1 2, 1`}, [2]int{1, 1}},
		"parts":            {exchanged(got("make", "/v1", 200, `{"n":1,"text":"`+strings.Repeat("x", journal.KeptBody)+`"}`)), exchanged(got("make", "/v1", 200, `{"n":2}`)), nil, [2]int{1, 1}},
		"a batch":          {exchanged(batch(`"0x1"`, `{"n":1}`)), exchanged(batch(`"0x2"`, `{"n":2}`)), []string{`eth_chainId:  0x1 0x2, 1`, `platform.x {"a":1}: n 1 2, 1`}, [2]int{2, 2}},
		"what does not count": {exchanged(got("getChain", "/v1/chains/1", 200, `{}`)),
			exchanged(journal.Exchange{Interface: "sim", Operation: "mine", Status: 200}, journal.Exchange{Interface: "webhook", Operation: "send", Status: 200}, journal.Exchange{Interface: "data", Status: 404},
				journal.Exchange{Interface: "node", Operation: "ws", Status: http.StatusSwitchingProtocols}, got("getChain", "/v1/chains/1", 200, `{}`)), nil, [2]int{1, 1}},
		"other parameters": {exchanged(got("getChain", "/v1/chains/1", 200, `{"n":1}`)), exchanged(got("getChain", "/v1/chains/2", 200, `{"n":2}`)), []string{`getChain {"chainId":"1"}: n 1 2, 1`}, [2]int{1, 1}},
		"too few answers":  {exchanged(batch(`"0x1"`, `{}`)), exchanged(short), []string{`platform.x {"a":1}:  {} null, 1`}, [2]int{2, 2}},
	} {
		r := rehearse.Compare(c.before, c.before, c.after, change)
		if all := differ(r); !slices.Equal(all, c.want) || r.Requests != c.requests || !r.Same {
			t.Errorf("%s: %q of %v requests, want %q of %v; %q", name, all, r.Requests, c.want, c.requests, r.Behaviour)
		}
	}
}

var (
	change = rehearse.Change{Name: "helicon", Before: "before", After: "after", Values: true, Page: "upgrades", Why: "it follows"}
	hashA  = `"0x` + strings.Repeat("a", 64) + `"`
	hashB  = `"0x` + strings.Repeat("b", 64) + `"`
)

// TestFieldsThatDiffer compares single answers and checks which differences are reported.
func TestFieldsThatDiffer(t *testing.T) {
	for _, c := range []struct{ method, before, after, want string }{
		{"eth_getTransactionReceipt", `{"gasUsed":"0x5208","blockHash":` + hashA + `}`, `{"gasUsed":"0x7a120","blockHash":` + hashB + `}`, "gasUsed 0x5208 0x7a120"},
		{"eth_getTransactionReceipt", `null`, `{"gasUsed":"0x1"}`, ` null {"gasUsed":"0x1"}`},
		{"eth_getBlockByNumber", `{"timestamp":"0x1","hash":` + hashA + `,"size":"0x1"}`, `{"timestamp":"0x2","hash":` + hashB + `,"size":"0x2","settledHeight":"0x0"}`, "settledHeight absent 0x0,size 0x1 0x2,timestamp 0x1 0x2"},
		{"eth_getBlockByNumber", `{"number":"0x2","hash":` + hashA + `,"size":"0x1","old":1}`, `{"number":"0x1","hash":` + hashB + `,"size":"0x2"}`, "number 0x2 0x1,old 1 absent"},
		{"eth_getBlockByNumber", `{"stateRoot":` + hashA + `,"transactionsRoot":` + hashA + `}`, `{"stateRoot":` + hashB + `,"transactionsRoot":` + hashB + `}`, "stateRoot " + hashA[1:67] + " " + hashB[1:67]},
		{"eth_sendRawTransaction", hashA, hashB, ""},
		{"eth_sendRawTransaction", hashA, "!insufficient funds", " an answer error -32000 insufficient funds"},
		{"eth_call", "!reverted at block 7", "!reverted at block 9", ""},
		{"eth_coinbase", hashA, "!the method eth_coinbase does not exist", " an answer error -32000 the method eth_coinbase does not exist"},
		{"platform.x", `{"height":"5","txID":"a","endTime":"7"}`, `{"height":"6","txID":"b","endTime":"8"}`, "height 5 6"},
		{"platform.x", `{"list":[{"txID":"a","weight":"1"},{"txID":"b","weight":"2"}]}`, `{"list":[{"txID":"b","weight":"2"},{"txID":"c","weight":"3","renewed":true}]}`, "list[].renewed absent true"},
		{"platform.x", `{"list":[{"txID":"a","weight":"1"}]}`, `{"list":[{"txID":"a","weight":"2"},{"txID":"b","weight":"2"}]}`, "list 1 entries 2 entries,list[].weight 1 2"},
		{"platform.x", `{"name":"old"}`, `{"name":"new"}`, "name old new"},
		{"platform.x", `{"flag":false}`, `{"flag":true}`, "flag false true"},
		{"platform.x", `{"a":1}`, `{"a":"1"}`, ""},
		{"platform.x", `{"a":9007199254740993}`, `{"a":9007199254740992}`, "a 9007199254740993 9007199254740992"},
		{"platform.x", `{"a":"0x` + strings.Repeat("f", 32) + `"}`, `{"a":"0x1"}`, "a 0x" + strings.Repeat("f", 32) + " 0x1"},
		{"platform.x", `{"a":"0x1` + strings.Repeat("0", 32) + `"}`, `{"a":"0x1"}`, ""}, // more than 128 bits are a hash
		{"platform.x", `{"a":"0x1"}`, `{"a":"0x1` + strings.Repeat("0", 32) + `"}`, ""},
		{"platform.x", `{"a":"0xzz"}`, `{"a":"0x1"}`, ""},
		{"platform.x", `{"a":"zz"}`, `{"a":"0x1"}`, "a zz 0x1"},
		{"platform.x", `{"a":"` + strings.Repeat("n", 66) + `","b":"` + strings.Repeat("n", 67) + `"}`, `{"a":"","b":"x"}`, "a " + strings.Repeat("n", 66) + " ,b " + strings.Repeat("n", 66) + "… x"},
		{"platform.x", `{"number":"1","size":1}`, `{"number":"2","size":2}`, "number 1 2,size 1 2"},
		{"platform.x", `{"number":"1","hash":"a","size":1}`, `{"number":"1","hash":"b","size":2}`, "size 1 2"},
		{"platform.x", `{"list":[{"txID":"a","weight":"1"},{"txID":"b","weight":"1"}]}`, `{"list":[{"txID":"b","weight":"1"},{"txID":"a","weight":"1"}]}`, ""},
		{"platform.x", `{"list":[{"txID":"a","weight":"1"},{"txID":"b","weight":"1"}]}`, `{"list":[{"txID":"a","weight":"2"},{"txID":"b","weight":"3"}]}`, "list[].weight 1 2"},
		{"platform.x", `{"list":[{"txID":"a","weight":"1"},{"txID":"a","weight":"2"}]}`, `{"list":[{"txID":"a","weight":"1"},{"txID":"a","weight":"2"}]}`, ""},
		{"platform.x", `{"list":[1,2]}`, `{"list":[1,3]}`, "list[] 2 3"},
		{"platform.x", `{"list":[]}`, `{"list":[1]}`, "list 0 entries 1 entries"},
		{"platform.x", `{"list":[]}`, `{"list":{}}`, "list [] {}"},
		{"platform.x", `{"list":{}}`, `{"list":[]}`, "list {} []"},
		{"platform.x", `{"a":""}`, `{"a":"1"}`, "a  1"},
		{"platform.getTx", `{"tx":{"kind":"0xaa"}}`, `{"tx":{"kind":"0xbb"}}`, "tx.kind 0xaa 0xbb"},
		{"eth_call", `"0xaa` + strings.Repeat("0", 62) + `"`, `"0xbb` + strings.Repeat("0", 62) + `"`, ""},
	} {
		r := rehearse.Compare(run(0, "", asked{c.method, "[]", c.before}), run(0, "", asked{c.method, "[]", c.before}), run(0, "", asked{c.method, "[]", c.after}), change)
		var got []string
		for _, d := range r.Differences {
			got = append(got, d.Field+" "+d.Before+" "+d.After)
			if d.Name != c.method || d.Page != "upgrades" || d.Why == "" {
				t.Errorf("%+v", d)
			}
		}
		if strings.Join(got, ",") != c.want || !r.Same {
			t.Errorf("%s %s\n%s:\n%q, want %q, %v", c.method, c.before, c.after, got, c.want, r.Behaviour)
		}
	}
}

// TestHowTheCommandBehaves: exit codes, kinds of requests and lines of output count. Numbers, how often it reads, and what varies by itself don't.
func TestHowTheCommandBehaves(t *testing.T) {
	ask := func(methods ...string) (all []asked) {
		for _, m := range methods {
			all = append(all, asked{m, "[]", `"0x1"`})
		}
		return all
	}
	for _, c := range []struct {
		before, again, after *rehearse.Run
		want                 string
	}{
		{run(0, "took 12ms\n", ask("a", "b")...), run(0, "took 1.5 s\n", ask("a", "b")...), run(0, "took 7ms\n", ask("a", "b", "b", "b")...), ""},
		{run(0, ""), run(0, ""), run(3, ""), "it exits with code 0 before and 3 after"},
		{run(0, "ok 1\n"), run(0, "ok 2\n"), run(0, "ok 3\nwarning: too old\n"), "it prints only after: warning: too old"},
		{run(0, "at random x\n"), run(0, "at random y\n"), run(0, "at random z\n"), ""},
		{run(0, "", ask("a")...), run(0, "", ask("a")...), run(0, "", ask("a", "new_thing")...), "it calls new_thing only after"},
		{run(0, "", ask("a", "old_thing")...), run(0, "", ask("a", "old_thing")...), run(0, "", ask("a")...), "it calls old_thing only before"},
		{run(0, "", ask("a", "old_thing")...), run(0, "", ask("a")...), run(0, "", ask("a")...), ""},
		{run(0, "", ask("a")...), run(0, "", ask("a")...), run(0, "", ask("a", "evm_mine")...), ""},
		{run(0, "", ask("eth_sendRawTransaction")...), run(0, "", ask("eth_sendRawTransaction")...), run(0, "", ask("eth_sendRawTransaction", "eth_sendRawTransaction")...), "it calls eth_sendRawTransaction more often after (+1)"},
		{run(0, "", ask("eth_sendRawTransaction", "eth_sendRawTransaction")...), run(0, "", ask("eth_sendRawTransaction", "eth_sendRawTransaction")...), run(0, "", ask("eth_sendRawTransaction")...), "it calls eth_sendRawTransaction less often after (-1)"},
		{run(0, "", ask("eth_call", "eth_call", "evm_mine")...), run(0, "", ask("eth_call", "eth_call", "evm_mine")...), run(0, "", ask("eth_call")...), ""},
		{run(0, "", ask("a", "old_thing")...), run(0, "", ask("a", "old_thing")...), run(2, "", ask("a")...), "it exits with code 0 before and 2 after"},
		{run(2, "", ask("a", "old_thing")...), run(2, "", ask("a", "old_thing")...), run(0, "", ask("a")...), "it exits with code 2 before and 0 after,it calls old_thing only before"},
		{run(0, "", ask("a")...), run(0, "", ask("a", "new_thing")...), run(0, "", ask("a", "new_thing")...), ""},
		{run(0, "b\n"), run(0, "b\n"), run(3, "zz 1\nyy\n== 7\nyy\n\x1b[31mzz 2\x1b[0m\n"), "it exits with code 0 before and 3 after,it prints only after: yy,it prints only after: zz 1"},
		{run(0, "b\n"), run(0, "c\n"), run(0, "d\n"), ""},
		{run(1, ""), run(0, ""), run(1, ""), ""},
		{run(1, ""), run(1, ""), run(0, ""), "it exits with code 1 before and 0 after"},
		{run(1, ""), run(1, ""), run(1, ""), "it exits with code 1 in both worlds: the rehearsal means nothing until it succeeds in the first"},
	} {
		r := rehearse.Compare(c.before, c.again, c.after, change)
		if got := strings.Join(r.Behaviour, ","); got != c.want || r.Same != (c.want == "") {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	r := rehearse.Compare(run(0, ""), run(1, ""), run(0, ""), change)
	if len(r.Notes) != 1 {
		t.Errorf("%q", r.Notes)
	}
	for _, c := range []struct {
		before, after int
		want          string
	}{{0, 1, "b"}, {0, 0, ""}, {1, 1, ""}, {1, 0, ""}} {
		if r := rehearse.Compare(run(c.before, "", ask("b", "a")...), run(c.before, "", ask("b", "a")...), run(c.after, "", ask("a", "b")...), change); r.Last != c.want {
			t.Errorf("with codes %d and %d the last request is %q, want %q", c.before, c.after, r.Last, c.want)
		}
	}
}

// TestNoiseIsLeftOut: a field that differs between two runs in the same world doesn't depend on the rules, and another seed gives other values.
func TestNoiseIsLeftOut(t *testing.T) {
	one := func(v string) *rehearse.Run { return run(0, "", asked{"platform.x", "[]", `{"n":` + v + `}`}) }
	if r := rehearse.Compare(one("1"), one("2"), one("3"), change); len(r.Differences) != 0 {
		t.Errorf("%+v", r.Differences)
	}
	other := change
	other.Name, other.Values = "seed", false
	if r := rehearse.Compare(one("1"), one("1"), one("3"), other); len(r.Differences) != 0 {
		t.Errorf("%+v", r.Differences)
	}
	if r := rehearse.Compare(one("1"), one("1"), one("[]"), other); len(r.Differences) != 1 {
		t.Errorf("%+v", r.Differences)
	}
}

// TestRequestsAreMatchedByWhatTheyAre, not by their order.
func TestRequestsAreMatchedByWhatTheyAre(t *testing.T) {
	a, b := asked{"eth_getBalance", `["x"]`, `"0x1"`}, asked{"eth_getBalance", `["y"]`, `"0x2"`}
	if r := rehearse.Compare(run(0, "", a, b), run(0, "", a, b), run(0, "", b, a), change); len(r.Differences) != 0 {
		t.Errorf("%+v", r.Differences)
	}
	first, second := asked{"eth_getTransactionReceipt", "[" + hashA + "]", `{"status":"0x1"}`}, asked{"eth_getTransactionReceipt", "[" + hashB + "]", `{"status":"0x0"}`}
	r := rehearse.Compare(run(0, "", first), run(0, "", first), run(0, "", second), change)
	if len(r.Differences) != 1 || r.Differences[0].Field != "status" || r.Differences[0].Request != `eth_getTransactionReceipt "…"` {
		t.Errorf("%+v", r.Differences)
	}
}

func TestReportsOfEachKind(t *testing.T) {
	failing := asked{"eth_getTransactionReceipt", "[]", `{"gasUsed":"0x2"}`}
	r := rehearse.Compare(run(0, "", asked{failing.method, "[]", `{"gasUsed":"0x1"}`}), run(0, "", asked{failing.method, "[]", `{"gasUsed":"0x1"}`}), run(1, "", failing), change)
	var text strings.Builder
	want := `rehearsal of helicon: before is before, after is after
before: exit code 0, 1 request; after: exit code 1, 1 request

eth_getTransactionReceipt
  gasUsed: 0x1, then 0x2
    at least half of the gas limit is charged: gasUsed of a receipt is the greater of the two: snowglobe help upgrades

The command behaves differently:
  it exits with code 0 before and 1 after
The last request before it failed: eth_getTransactionReceipt
`
	if err := r.Print(&text); err != nil || text.String() != want {
		t.Errorf("%v\n%s, want\n%s", err, &text, want)
	}
	for _, c := range []struct {
		report rehearse.Report
		want   string
	}{
		{rehearse.Report{Same: true, Notes: []string{"careful"}, Requests: [2]int{0, 2}}, `rehearsal of seed: before is 1, after is 2
before: exit code 0, 0 requests; after: exit code 0, 2 requests

No answer differs because of the rules.

Note: careful

The command behaves the same in both worlds.
`},
		{rehearse.Report{Behaviour: []string{"a", "b"}, Differences: []rehearse.Difference{{Request: "x", Before: "1", After: "2", Times: 3, Why: "w", Page: "p"},
			{Request: "x", Field: "f", Before: "1", After: "2", Times: 1, Why: "w", Page: "p"}, {Request: "y", Field: "f", Before: "1", After: "2", Times: 1, Why: "w", Page: "p"}}}, `rehearsal of seed: before is 1, after is 2
before: exit code 0, 0 requests; after: exit code 0, 0 requests

x
  (the answer): 1, then 2 (3 times)
    w: snowglobe help p
  f: 1, then 2
    w: snowglobe help p

y
  f: 1, then 2
    w: snowglobe help p

The command behaves differently:
  a
  b
`},
	} {
		c.report.Change = rehearse.Change{Name: "seed", Before: "1", After: "2"}
		var text strings.Builder
		if err := c.report.Print(&text); err != nil || text.String() != c.want {
			t.Errorf("%v\n%s, want\n%s", err, &text, c.want)
		}
	}
	path := filepath.Join(t.TempDir(), "junit.xml")
	r.Differences = append(r.Differences, rehearse.Difference{Request: r.Differences[0].Request, Field: "status", Before: "1", After: "2"}, rehearse.Difference{Request: "eth_call"})
	if err := r.WriteJUnit(path); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Cases    []struct {
			Name    string    `xml:"name,attr"`
			Failure *struct{} `xml:"failure"`
			Output  string    `xml:"system-out"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(raw, &suite); err != nil || suite.Tests != 3 || suite.Cases[1].Output != "gasUsed: 0x1, then 0x2. at least half of the gas limit is charged: gasUsed of a receipt is the greater of the two\nstatus: 1, then 2. \n" || suite.Failures != 1 || len(suite.Cases) != 3 || suite.Cases[0].Failure == nil || suite.Cases[1].Failure != nil {
		t.Errorf("%v %+v", err, suite)
	}
	if object, err := json.Marshal(r); err != nil || !strings.Contains(string(object), `"same":false`) {
		t.Errorf("%v %s", err, object)
	}
}
