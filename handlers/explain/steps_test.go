package explain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// written writes a report as a user reads it: the calls below each other with their logs, then all logs that count, then the messages.
func written(b *bytes.Buffer, r *Report) {
	arguments := func(all []Argument) string {
		var texts []string
		for _, a := range all {
			texts = append(texts, a.Type+" "+a.String())
		}
		return "(" + strings.Join(texts, ", ") + ")"
	}
	event := func(e Event) string {
		return e.Address[:8] + " " + e.Contract + " " + e.Name + " " + arguments(e.Arguments)
	}
	var step func(s *Step, indent string)
	step = func(s *Step, indent string) {
		fmt.Fprintf(b, "%s%s %s to %s: %s.%s%s", indent, s.Kind, s.From[:8], s.To[:8], s.Contract, s.Function, arguments(s.Arguments))
		if s.Value != "" {
			fmt.Fprintf(b, " with %s wei", s.Value)
		}
		if s.Result != nil {
			fmt.Fprintf(b, " returns %s", arguments(s.Result))
		}
		if s.Error != "" {
			fmt.Fprintf(b, " fails: %s", s.Error)
		}
		fmt.Fprintf(b, ", %d gas\n", s.GasUsed)
		for _, e := range s.Events {
			fmt.Fprintf(b, "%s  logs %s\n", indent, event(e))
		}
		for _, inner := range s.Calls {
			step(inner, indent+"    ")
		}
	}
	step(r.Root, "")
	for _, e := range r.Events {
		fmt.Fprintf(b, "log %s\n", event(e))
	}
	for _, m := range r.Console {
		fmt.Fprintf(b, "console %s (%s:%d at %s)\n", m.String(), m.Source, m.Line, m.Address[:8])
	}
	b.WriteString("\n")
}

// TestSteps compares the calls, logs and messages of executions with testdata/steps.txt. A call that fails loses its logs.
func TestSteps(t *testing.T) {
	log := common.FromHex("0xf82c50f1" + strings.Repeat("0", 63) + "5")
	console := common.HexToAddress("0x000000000000000000636F6e736F6c652e6c6f67")
	compare(t, "steps.txt", func(b *bytes.Buffer) {
		for _, build := range []string{"plain", "ir"} {
			g := newGround(t, corpus(t, build))
			g.deployAll()
			g.strangers()
			at := func(name string) common.Address { return g.made[name] }
			for _, e := range []execution{
				{name: "every log counts", contract: "Notes", function: "both", args: []any{1, 2}},
				{name: "the log of a call that failed is lost", contract: "Notes", function: "both", args: []any{1, 10}},
				{name: "all logs are lost", contract: "Notes", function: "note", args: []any{10}},
				{name: "messages", contract: "Notes", function: "say", args: []any{5}},
				{name: "a message straight from a call with data", contract: "Notes", function: "other", args: []any{console, log}},
				{name: "a caught failure", contract: "Top", function: "wrap", args: []any{1}},
				{name: "a creation", contract: "Top", function: "deploy", args: []any{5}},
				{name: "a creation by a transaction", contract: "Picky", creates: true, args: []any{5}},
				{name: "a creation that fails", contract: "Top", function: "create", args: []any{13}},
				{name: "a linked library", contract: "Top", function: "stored", args: []any{4}},
				{name: "a proxy", contract: "Bottom", function: "fail", args: []any{1}, through: "Proxy"},
				{name: "coins", contract: "Notes", function: "pays", value: 6},
				{name: "coins that arrive", contract: "Clerk", data: "0x", value: 6},
				{name: "a fallback that knows no function", contract: "Open", data: "0xa9059cbb" + strings.Repeat("0", 62) + "11" + strings.Repeat("0", 63) + "5"},
				{name: "unknown code", contract: "Notes", function: "other", args: []any{common.BytesToAddress([]byte{0xbc}), []byte{1, 2, 3, 4}}},
				{name: "an account without code", contract: "Notes", function: "other", args: []any{nobody, hexutil.MustDecode("0x18160ddd")}},
				{name: "a clone", contract: "Bottom", function: "fail", args: []any{0}, through: "clone"},
				{name: "a call of another contract", contract: "Notes", function: "other", args: []any{at("Notes"), g.input("Notes", "note", 3)}},
			} {
				if build == "ir" && e.name != "messages" {
					continue
				}
				fmt.Fprintf(b, "# %s, %s\n", e.name, build)
				written(b, g.run(&e).report())
			}
		}
	})
}

// TestNames adds names and reasons to the callTracer's answer, as debug_traceCall returns it, and leaves the rest as it is.
func TestNames(t *testing.T) {
	g := newGround(t, corpus(t, "plain"))
	g.deployAll()
	text := "0x08c379a0" + strings.Repeat("0", 62) + "20" + strings.Repeat("0", 63) + "2" + "686d" + strings.Repeat("0", 60)
	quoted := func(b []byte) string { return `"` + hexutil.Encode(b) + `"` }
	top, middle := strings.ToLower(g.made["Top"].Hex()), strings.ToLower(g.made["Middle"].Hex())
	for _, c := range []struct{ name, given, added string }{
		{"a call", `"to":"` + top + `","input":` + quoted(g.input("Top", "bubble", 1)) + `,"type":"CALL"`, `,"contract":"Top","function":"bubble(uint256)"`},
		{"an unknown function", `"to":"` + top + `","input":"0x12345678","type":"CALL"`, `,"contract":"Top"`},
		{"unknown code", `"to":"` + strings.ToLower(nobody.Hex()) + `","input":` + quoted(g.input("Top", "bubble", 1)) + `,"type":"CALL"`, ``},
		{"a failure", `"to":"` + top + `","input":"0x12345678","output":"` + text + `","error":"execution reverted","type":"STATICCALL"`, `,"contract":"Top","reason":"reverted with \"hm\""`},
		{"output without a failure", `"to":"` + top + `","input":"0x12345678","output":"` + text + `","type":"CALL"`, `,"contract":"Top"`},
		{"a failure without output", `"to":"` + top + `","input":"0x12345678","error":"out of gas","type":"CALL"`, `,"contract":"Top"`},
		{"a failure in unknown code", `"to":"` + strings.ToLower(nobody.Hex()) + `","input":"0x","output":"` + text + `","error":"execution reverted","type":"CALL"`, ``},
		{"a creation", `"to":"` + top + `","input":` + quoted(g.creation("Picky", common.Big1)) + `,"type":"CREATE"`, `,"contract":"Picky","function":"constructor"`},
		{"a creation at a chosen address", `"to":"` + top + `","input":` + quoted(g.creation("Picky", common.Big1)) + `,"type":"CREATE2"`, `,"contract":"Picky","function":"constructor"`},
		{"a creation of unknown code", `"to":"` + top + `","input":"0x01020304","type":"CREATE"`, ``},
		{"a creation's code as a call", `"to":"` + middle + `","input":` + quoted(g.creation("Picky", common.Big1)) + `,"type":"CALL"`, `,"contract":"Middle"`},
		{"a creation that failed without an address", `"input":"0x01","type":"CALL"`, ``},
	} {
		for _, inside := range []bool{false, true} {
			given, want := "{"+c.given+"}", "{"+c.given+c.added+"}"
			if inside {
				given, want = `{"input":"0x","calls":[`+given+`],"type":"CALL"}`, `{"input":"0x","calls":[`+want+`],"type":"CALL"}`
			}
			var root callFrame
			if err := json.Unmarshal([]byte(given), &root); err != nil {
				t.Fatal(err)
			}
			(&Explainer{Registry: g.registry}).name(&root, g.config.State.GetCode)
			if got := marshal(t, &root); got != want {
				t.Errorf("%s, inside %t:\n%s, want\n%s", c.name, inside, got, want)
			}
		}
	}
}
