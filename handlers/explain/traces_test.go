package explain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

func marshal(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// failing executions of the corpus.
type execution struct {
	name, contract, function string
	args                     []any
	value                    uint64
	as                       *common.Address
	gas                      uint64
	data                     string // in place of a function's
	cut                      int    // bytes of the data that are sent
	through                  string // another address
	creates                  bool
}

var list = []*big.Int{big.NewInt(1), big.NewInt(2)}

var executions = []execution{
	{name: "require with text", contract: "Vault", function: "withText", args: []any{11}},
	{name: "require without text", contract: "Vault", function: "withoutText", args: []any{11}},
	{name: "the first of equal guards", contract: "Vault", function: "guards", args: []any{1, 2}},
	{name: "the second of equal guards", contract: "Vault", function: "guards", args: []any{2, 1}},
	{name: "revert with text", contract: "Vault", function: "withRevertText"},
	{name: "custom error of a file", contract: "Vault", function: "withError", args: []any{9}},
	{name: "modifier", contract: "Vault", function: "guarded", as: &bob},
	{name: "overflow", contract: "Vault", function: "overflow", args: []any{5}},
	{name: "underflow", contract: "Vault", function: "underflow", args: []any{0}},
	{name: "division by zero", contract: "Vault", function: "divide", args: []any{1, 0}},
	{name: "index", contract: "Vault", function: "item", args: []any{3}},
	{name: "pop", contract: "Vault", function: "pop"},
	{name: "enum", contract: "Vault", function: "colour", args: []any{5}},
	{name: "assert", contract: "Vault", function: "asserted", args: []any{2}},
	{name: "allocation", contract: "Vault", function: "allocate", args: []any{new(big.Int).Lsh(big.NewInt(1), 200)}},
	{name: "unset function", contract: "Vault", function: "hooked"},
	{name: "internal functions", contract: "Vault", function: "nested", args: []any{0}},
	{name: "recursion", contract: "Vault", function: "nested", args: []any{3}},
	{name: "deep recursion", contract: "Vault", function: "nested", args: []any{100}},
	{name: "internal library", contract: "Vault", function: "inLibrary", args: []any{6}},
	{name: "out of gas", contract: "Vault", function: "spin", gas: 10_000},
	{name: "value for a function that is not payable", contract: "Vault", function: "withText", args: []any{1}, value: 5},
	{name: "arguments that are missing", contract: "Vault", function: "withText", args: []any{1}, cut: 4},
	{name: "arguments that are too short", contract: "Vault", function: "guards", args: []any{1, 2}, cut: 4 + 63},
	{name: "unknown function", contract: "Vault", data: "0x12345678"},
	{name: "a selector that is cut off", contract: "Vault", data: "0x123456"},
	{name: "unknown function of a standard", contract: "Vault", data: "0xa9059cbb" + strings.Repeat("0", 62) + "11" + strings.Repeat("0", 63) + "5"},
	{name: "no data and no receive", contract: "Vault", data: "0x", value: 1},
	{name: "after console.log", contract: "Vault", function: "logged", args: []any{7}},
	{name: "constructor", contract: "Vault", creates: true, args: []any{0}},
	{name: "constructor of a base", contract: "Vault", creates: true, args: []any{3}, as: new(common.Address)},
	{name: "internal function of a constructor", contract: "Picky", creates: true, args: []any{13}},
	{name: "value for a constructor", contract: "Picky", creates: true, args: []any{1}, value: 1},
	{name: "text bubbled through three contracts", contract: "Top", function: "bubble", args: []any{0}},
	{name: "custom error bubbled through three contracts", contract: "Top", function: "bubble", args: []any{1}},
	{name: "panic bubbled through three contracts", contract: "Top", function: "bubble", args: []any{2}},
	{name: "silence bubbled through three contracts", contract: "Top", function: "bubble", args: []any{3}},
	{name: "caught and wrapped", contract: "Top", function: "wrap", args: []any{0}},
	{name: "low-level call, checked", contract: "Top", function: "relay", args: []any{0}},
	{name: "linked library", contract: "Top", function: "stored", args: []any{4}},
	{name: "account without code", contract: "Top", function: "nobody", args: []any{nobody}},
	{name: "result that is too short", contract: "Top", function: "nobody", args: []any{common.BytesToAddress([]byte{4})}},
	{name: "CREATE2", contract: "Top", function: "create", args: []any{13}},
	{name: "CREATE", contract: "Top", function: "deploy", args: []any{13}},
	{name: "coins that a contract does not have", contract: "Top", function: "send", args: []any{nobody}},
	{name: "receive", contract: "Receiver", data: "0x", value: 5},
	{name: "fallback", contract: "Fallback", data: "0x99999999"},
	{name: "ERC-1967 proxy", contract: "Bottom", function: "fail", args: []any{1}, through: "Proxy"},
	{name: "ERC-1167 clone", contract: "Bottom", function: "fail", args: []any{0}, through: "clone"},

	{name: "function of no contract", contract: "Notes", function: "halves", args: []any{3}},
	{name: "function of no contract, called again", contract: "Notes", function: "halves", args: []any{2}},
	{name: "custom error after a log", contract: "Notes", function: "note", args: []any{10}},
	{name: "write in a static call", contract: "Notes", function: "peek"},
	{name: "invalid instruction", contract: "Notes", function: "burn"},
	{name: "silence passed on at once", contract: "Notes", function: "atOnce"},
	{name: "silence long after a call failed", contract: "Notes", function: "later"},
	{name: "a call of an account without code", contract: "Notes", function: "pings", args: []any{nobody}},
	{name: "silence long after a call", contract: "Notes", function: "pingsLate", args: []any{common.Address([]byte("Open" + strings.Repeat("\x00", 16)))}},
	{name: "the first of three equal errors", contract: "Notes", function: "small", args: []any{1, 2, 2}},
	{name: "the second of three equal errors", contract: "Notes", function: "small", args: []any{2, 1, 2}},
	{name: "the third of three equal errors", contract: "Notes", function: "small", args: []any{2, 2, 1}},
	{name: "overflow between equal errors", contract: "Notes", function: "small", args: []any{new(big.Int).Lsh(big.NewInt(1), 255), 2, 2}},
	{name: "the first of equal texts", contract: "Notes", function: "required", args: []any{1, 2}},
	{name: "the second of equal texts", contract: "Notes", function: "required", args: []any{2, 1}},
	{name: "one of two functions of a name", contract: "Notes", function: "overloaded(uint256)", args: []any{1}},
	{name: "the other one of two functions of a name", contract: "Notes", function: "overloaded(uint256,string)", args: []any{1, "text"}},
	{name: "too little for a payable function", contract: "Notes", function: "pays", value: 5},
	{name: "index of an argument", contract: "Notes", function: "numbered", args: []any{list}},
	{name: "a list that ends too early", contract: "Notes", function: "numbered", args: []any{list}, cut: 4 + 3*32},
	{name: "failure in a contract without an artifact", contract: "Notes", function: "other", args: []any{common.BytesToAddress([]byte{0xbb}), hexutil.MustDecode("0xa9059cbb" + strings.Repeat("0", 62) + "11" + strings.Repeat("0", 63) + "5")}},
	{name: "text from a contract without an artifact", contract: "Notes", function: "other", args: []any{common.BytesToAddress([]byte{0xbc}), []byte{1, 2, 3, 4, 5}}},
	{name: "constructor without text", contract: "Till", creates: true, args: []any{common.Address{}}, value: 3},
	{name: "constructor without arguments", contract: "Till", creates: true, data: "none"},
	{name: "payable fallback", contract: "Till", data: "0x1122334455"},
	{name: "payable fallback with a known function", contract: "Till", data: "0xa9059cbb" + strings.Repeat("0", 62) + "11" + strings.Repeat("0", 63) + "5"},
	{name: "receive before a fallback", contract: "Till", data: "0x", value: 7},
	{name: "value for a fallback", contract: "Shut", data: "0x12345678", value: 1},
	{name: "value without data for a fallback", contract: "Shut", data: "0x", value: 1},
	{name: "fallback with text", contract: "Shut", data: "0x1234567890"},
	{name: "payable fallback with text", contract: "Open", data: "0x1234567890", value: 1},
	{name: "function of a contract that only receives", contract: "Clerk", data: "0x12345678"},
	{name: "value for a function of a contract that only receives", contract: "Clerk", data: "0x12345678", value: 2},
}

func (g *ground) run(e *execution) *recorder {
	g.Helper()
	g.from, g.gas = alice, 6_000_000
	if e.as != nil {
		g.from = *e.as
	}
	if e.gas > 0 {
		g.gas = e.gas
	}
	args := slices.Clone(e.args)
	if e.creates {
		if e.data == "none" {
			return g.call(nil, g.contract(e.contract).Creation.Bytes, e.value)
		}
		code := g.contract(e.contract).Creation.Bytes
		return g.call(nil, append(slices.Clone(code), g.packed(g.contract(e.contract).Interface().Constructor.Inputs, args)...), e.value)
	}
	to := g.made[e.contract]
	if e.through != "" {
		to = g.made[e.through]
	}
	if e.data != "" {
		return g.call(&to, hexutil.MustDecode(e.data), e.value)
	}
	input := g.input(e.contract, e.function, args...)
	if e.cut > 0 {
		input = input[:e.cut]
	}
	return g.call(&to, input, e.value)
}

// traced writes a failure with the source line of every function.
func traced(f *Failure) string {
	if f == nil {
		return "it did not fail\n"
	}
	var b strings.Builder
	last, times := "", 1
	for i, line := range strings.Split(f.String(), "\n") {
		if line == last {
			times++
			continue
		}
		if times > 1 {
			fmt.Fprintf(&b, "    %d times\n", times)
		}
		last, times = line, 1
		b.WriteString(line)
		if i > 0 && f.Stack[i-1].Code != "" {
			b.WriteString(" | " + f.Stack[i-1].Code)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestTraces compares the traces of failing executions with testdata/traces.txt, line by line: the reason, then the functions with their lines, first as
// the compiler's builds agree on them. A line without a place says why.
func TestTraces(t *testing.T) {
	all := map[string]*ground{}
	for _, build := range builds {
		all[build] = newGround(t, corpus(t, build))
		all[build].deployAll()
		all[build].strangers()
	}
	compare(t, "traces.txt", func(b *bytes.Buffer) {
		for i := range executions {
			e := &executions[i]
			fmt.Fprintf(b, "# %s\n", e.name)
			var texts []string
			of := map[string][]string{}
			for _, build := range builds {
				text := traced(all[build].run(e).explain())
				if of[text] == nil {
					texts = append(texts, text)
				}
				of[text] = append(of[text], build)
			}
			for _, text := range texts {
				if len(texts) > 1 {
					fmt.Fprintf(b, "%s: ", strings.Join(of[text], ", "))
				}
				b.WriteString(text)
			}
			b.WriteString("\n")
		}
	})
}

// compare compares a text with a file's, paragraph by paragraph.
func compare(t *testing.T, name string, write func(*bytes.Buffer)) {
	t.Helper()
	var b bytes.Buffer
	write(&b)
	if *update {
		if err := os.WriteFile("testdata/"+name, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	got, want := strings.Split(b.String(), "\n\n"), strings.Split(string(file), "\n\n")
	if len(got) != len(want) {
		t.Fatalf("%d paragraphs, %s has %d", len(got), name, len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("got\n%s\n\nwant\n%s", got[i], want[i])
		}
	}
}

// TestConditionsAreNotCalls: only an if itself is a condition.
func TestConditionsAreNotCalls(t *testing.T) {
	for source, want := range map[string]bool{"if (a) revert();": true, "if(a)": true, "if\n\t(a)": true, "iffy(a);": false, "ifs (a);": false, "if": false, "a = if_(b);": false} {
		if got := isCondition(source); got != want {
			t.Errorf("%q: %t", source, got)
		}
	}
}
