package rehearse_test

import (
	"encoding/json"
	"encoding/xml"
	"net/http"
	"os"
	"path/filepath"
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
	return &rehearse.Run{Journal: j, Code: code, Output: []byte(output)}
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
	if err := r.Print(&text); err != nil || !strings.Contains(text.String(), "gasUsed: 0x1, then 0x2\n    at least half") || !strings.Contains(text.String(), "\nbefore: exit code 0, 1 request; after: exit code 1, 1 request\n") || !strings.Contains(text.String(), "The last request before it failed: eth_getTransactionReceipt") {
		t.Errorf("%v\n%s", err, &text)
	}
	path := filepath.Join(t.TempDir(), "junit.xml")
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
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(raw, &suite); err != nil || suite.Tests != 2 || suite.Failures != 1 || len(suite.Cases) != 2 || suite.Cases[0].Failure == nil || suite.Cases[1].Failure != nil {
		t.Errorf("%v %+v", err, suite)
	}
	if object, err := json.Marshal(r); err != nil || !strings.Contains(string(object), `"same":false`) {
		t.Errorf("%v %s", err, object)
	}
}
