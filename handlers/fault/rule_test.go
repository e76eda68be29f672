package fault_test

import (
	"encoding/json"
	"strings"
	"testing"

	"snowglobe/handlers/fault"
	"snowglobe/handlers/rest/schema"
)

// TestRulesAreShownAsWritten, with a summary of the action for the journal.
func TestRulesAreShownAsWritten(t *testing.T) {
	for rule, summary := range map[string]string{
		`{"id":"a","match":{"operation":"getChain"},"action":{"delay":"1.5s","status":503,"message":"closed","retryAfter":2},"times":{"every":2,"for":"1m0s","clock":"world","probability":0.25}}`: "delay 1.5s, status 503",
		`{"action":{"rpcError":{"code":-32005,"message":"limit","data":{"n":1}}}}`: "rpcError -32005",
		`{"action":{"rpcResult":null}}`:                                            "rpcResult",
		`{"action":{"mining":"never"}}`:                                            "mining never",
		`{"action":{"mining":"1h"}}`:                                               "mining 1h",
		`{"action":{"drop":"during"}}`:                                             "drop during",
		`{"match":{"subscription":"logs"},"action":{"drop":1}}`:                    "drop 1",
		`{"match":{"subscription":"*"},"action":{"end":"subscription"}}`:           "end subscription",
		`{"match":{"webhook":"*"},"action":{"delay":"1s","double":2}}`:             "delay 1s, double 2",
		`{"match":{"webhook":"address_activity"},"action":{"reorder":1}}`:          "reorder 1",
		`{"action":{"missingLogs":3}}`:                                             "missingLogs 3",
		`{"action":{"shortPage":true}}`:                                            "shortPage",
		`{"action":{"truncate":0}}`:                                                "truncate 0",
		`{"action":{"slow":"200ms"}}`:                                              "slow 200ms",
		`{"action":{"contentType":"text/html"}}`:                                   "contentType text/html",
		`{"action":{"pageToken":"missing"}}`:                                       "pageToken missing",
		`{"action":{"invalidJson":true}}`:                                          "invalidJson",
		`{"action":{"emptyPage":true}}`:                                            "emptyPage",
		`{"action":{"delay":"0s","emptyPage":true}}`:                               "delay 0s, emptyPage",
		`{"action":{"delay":{"max":"2s"}}}`:                                        `delay {"max":"2s"}`,
		`{"action":{"delay":{"min":"1s","max":"1s"}}}`:                             `delay {"min":"1s","max":"1s"}`,
		`{"action":{"delay":{"median":"1s","sigma":0.3}}}`:                         `delay {"median":"1s","sigma":0.3}`,
	} {
		r := decode(t, rule)
		shown, err := json.Marshal(r)
		if err != nil || string(shown) != rule || r.Action.String() != summary {
			t.Errorf("%s is shown as %s, %v, and summed up as %s", rule, shown, err, &r.Action)
		}
	}
}

// TestWhatOneRuleMayNotSayOrJustMay tries rules at the bounds and just beyond.
func TestWhatOneRuleMayNotSayOrJustMay(t *testing.T) {
	for rule, want := range map[string]string{
		`{"action":{"mining":"61m"}}`: "is not never", `{"action":{"mining":"-1s"}}`: "is not never", `{"action":{"mining":"later"}}`: `action.mining "later" is not never`, `{"action":{"mining":"0s"}}`: "",
		`{"action":{"drop":1}}`: "action.drop needs match.subscription", `{"action":{"double":1}}`: "action.double needs match.subscription or match.webhook", `{"match":{"subscription":"logs"},"action":{"drop":0}}`: "action.drop 0 is not allowed: expected before, during, after, or a number", `{"action":{"drop":"later"}}`: `action.drop "later" is not allowed`, `{"match":{"subscription":"logs"},"action":{"drop":10001}}`: "from 1 to 10000", `{"match":{"subscription":"blocks"},"action":{"drop":1}}`: "match.subscription",
		`{"match":{"subscription":"logs"},"action":{"status":503}}`: "action.status does not apply to notifications", `{"match":{"webhook":"*"},"action":{"drop":1}}`: "sent until they arrive", `{"match":{"webhook":"*","chain":"1"},"action":{"double":1}}`: "goes with no other member",
		`{"match":{"subscription":"logs","webhook":"*"},"action":{"double":1}}`: "exclude each other", `{"match":{"subscription":"logs","rpcMethod":"eth_call"},"action":{"double":1}}`: "do not go with", `{"match":{"subscription":"logs"},"action":{"drop":"after"}}`: "action.drop does not apply",
		`{"action":{"slow":"1h"}}`: "", `{"action":{"slow":"61m"}}`: "at most 1h", `{"action":{"slow":"-1ns"}}`: "at most 1h",
		`{"action":{"delay":{}}}`: "expected text such as 2s", `{"action":{"delay":{"min":"1s"}}}`: "expected text such as 2s", `{"action":{"delay":{"max":"1s","median":"1s"}}}`: "expected text such as 2s",
		`{"action":{"delay":{"max":"1s","sigma":1}}}`: "expected text such as 2s", `{"action":{"delay":{"median":"1s"}}}`: "",
		`{"action":{"retryAfter":1}}`: "go with a status", `{"action":{"message":"x","drop":"before"}}`: "go with a status", `{"action":{"status":420}}`: "action.status 420 has no name",
		`{"action":{"status":503},"match":{"path":"v1/chains"}}`: "is not a pattern", `{"action":{"status":503},"match":{"path":"*"}}`: "", `{"action":{"status":503},"match":{"path":"/v1/["}}`: "is not a pattern",
		`{"action":{"status":503},"match":{"path":"/nowhere"}}`: "match.path: nobody is there", `{"action":{"status":503},"match":{"path":"/simple"}}`: "", `{"action":{"status":503},"match":{"path":"/sim"}}`: "no fault reaches /sim",
		`{"action":{"status":503},"match":{"address":"0x12345"}}`: `match.address "0x12345" is not an address`, `{"action":{"status":503},"match":{"address":"0x123456"}}`: "",
		`{"action":{"status":503},"match":{"rpcMethod":"eth_ch?inId"}}`: "", `{"action":{"status":503},"match":{"rpcMethod":"[e"}}`: "fits no method", `{"action":{"status":503},"match":{"operation":"GETCHAIN"}}`: "",
		`{"action":{"status":503},"times":{"for":"1s"}}`: "", `{"action":{"status":503},"times":{"for":"1s","clock":"wall"}}`: "", `{"action":{"status":503},"times":{"every":0}}`: "at least 1", `{"action":{"status":503},"times":{"probability":1.5}}`: "from 0 to 1",
	} {
		var v any
		if err := json.Unmarshal([]byte(rule), &v); err != nil {
			t.Fatal(err)
		}
		known := *names
		known.WrongPath = func(path string) string {
			if path == "/nowhere" {
				return "nobody is there"
			}
			return ""
		}
		if _, problems := fault.Decode(v, &known); (want == "") != (len(problems) == 0) || !strings.Contains(strings.Join(problems, "; "), want) {
			t.Errorf("%s: %v: want %s", rule, problems, want)
		}
	}
}

func TestReadAFile(t *testing.T) {
	for text, want := range map[string]int{"": 0, "# nothing\n": 0, "[]": 0, "- action: {drop: before}\n- action: {slow: 1s}\n": 2, "action: {}\n": -1, "- [": -1} {
		rules, err := fault.ReadFile([]byte(text))
		if err == nil != (want >= 0) || len(rules) != max(want, 0) || err != nil && !strings.HasPrefix(err.Error(), "expected a list of rules: ") {
			t.Errorf("%q: %v %v", text, rules, err)
		}
	}
	if _, problems := fault.Decode(map[string]any{"action": func() {}}, names); len(problems) != 1 || !strings.HasPrefix(problems[0], "the rule cannot be read: ") {
		t.Errorf("what is not JSON: %v", problems)
	}
}

// TestTestnetIsFuji: both names mean the same network.
func TestTestnetIsFuji(t *testing.T) {
	if r := decode(t, `{"match":{"network":"testnet"},"action":{"status":503}}`); r.Match.Network != "fuji" {
		t.Errorf("the network is %s", r.Match.Network)
	}
}

// TestSchemasOfSpecialForms: the OpenAPI document allows everything that the decoder accepts.
func TestSchemasOfSpecialForms(t *testing.T) {
	schemas := schema.NewSchemas(schema.Spec)
	for want, s := range map[string]interface {
		Schema(*schema.Schemas) *schema.Schema
	}{`{}`: fault.Result{}, `{"type":"string"}`: fault.Duration(0), `{"anyOf":[{"type":"string"},`: fault.Delay{}} {
		if got, err := json.Marshal(s.Schema(schemas)); err != nil || !strings.HasPrefix(string(got), want) {
			t.Errorf("%T: %s, %v", s, got, err)
		}
	}
}
