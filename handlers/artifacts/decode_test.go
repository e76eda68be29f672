package artifacts

import (
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

// TestStandards reads every line; each must add something new.
func TestStandards(t *testing.T) {
	lines := map[string]bool{}
	for line := range strings.Lines(standardsText) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if lines[line] {
			t.Errorf("%s: twice", line)
		}
		lines[line] = true
		if _, err := parseSignature(line); err != nil {
			t.Error(err)
		}
	}
	known := 0
	for _, all := range standards().methods {
		known += len(all)
	}
	for _, all := range standards().errors {
		known += len(all)
	}
	for _, all := range standards().events {
		known += len(all)
	}
	if known != len(lines) {
		t.Errorf("%d lines, %d entries", len(lines), known)
	}
}

// TestDecodeStandards decodes without any contract.
func TestDecodeStandards(t *testing.T) {
	var none *Registry
	transfer := common.FromHex("0xa9059cbb000000000000000000000000a11ce000000000000000000000000000000000010000000000000000000000000000000000000000000000000000000000000005")
	if d := none.Call(nil, transfer); d == nil || d.String() != "transfer(to: 0xa11ce00000000000000000000000000000000001, value: 5)" || d.Signature != "transfer(address,uint256)" {
		t.Error(d)
	}
	if d := none.Call(nil, transfer[:40]); d != nil {
		t.Error(d)
	}
	paused := common.FromHex("0xd93c0665")
	if d := none.Error(nil, paused); d == nil || d.String() != "EnforcedPause()" {
		t.Error(d)
	}
	word := func(n int64) common.Hash { return common.BigToHash(big.NewInt(n)) }
	topic := common.HexToHash("0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef")
	five := word(5)
	if d := none.Event(nil, []common.Hash{topic, word(1), word(2)}, five[:]); d == nil || d.String() != "Transfer(from: 0x0000000000000000000000000000000000000001, to: 0x0000000000000000000000000000000000000002, value: 5)" {
		t.Error(d)
	}
	if d := none.Event(nil, []common.Hash{topic, word(1), word(2), word(5)}, nil); d == nil || !strings.HasSuffix(d.String(), "tokenId: 5)") {
		t.Error(d)
	}
}

// TestText shortens long texts.
func TestText(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{[]uint8{1, 2}, "0x0102"}, {[4]byte{1, 2, 3, 4}, "0x01020304"}, {"a\"b\n", `"a\"b\n"`}, {[]*big.Int{big.NewInt(1), big.NewInt(-2)}, "[1, -2]"}, {true, "true"}, {uint8(7), "7"},
		{struct {
			A *big.Int `json:"a"`
			B []string `json:"b"`
		}{big.NewInt(1), []string{"x"}}, `{a: 1, b: ["x"]}`},
	} {
		if got := Text(c.value); got != c.want {
			t.Errorf("%v: %s, want %s", c.value, got, c.want)
		}
	}
	if text := Text(strings.Repeat("ä", 1000)); len(text) > mostText+4 || !strings.HasSuffix(text, "ä…") {
		t.Error(text)
	}
}

// TestScopes finds functions in spite of comments, strings, function types and nested braces.
func TestScopes(t *testing.T) {
	text := `// contract No { function no() {} }
function free(uint a) pure returns (uint) { return a; }
/* } */ abstract contract A is B("}"), C { /* { */
	function (uint) external returns (uint) callback;
	mapping(uint => string) m; struct S { uint a; }
	constructor(function (uint) external f) B("{") { callback = f; }
	modifier only() { if (true) { _; } }
	function abstractOne(uint x) external virtual;
	function one(string memory s) external only { unchecked { s = '}\'{'; } assembly { let x := 1 } }
	receive() external payable {}
	fallback() external { this.one{gas: 1}("//"); }
}
interface I { function i() external; }
library L { function l(uint x) internal {} }
`
	var got []string
	for _, s := range scopesOf(text) {
		kind := s.Contract + "." + s.Function
		if first := strings.Fields(text[s.Start:s.End])[0]; text[s.End-1] != '}' {
			t.Errorf("%s is %q", kind, first)
		}
		got = append(got, kind)
	}
	if want := ".free A. A.constructor A.only A.one A.receive A.fallback I. L. L.l"; strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", strings.Join(got, " "), want)
	}
	if all := scopesOf(strings.Repeat("function f() {}", 300_000)); len(all) > mostScopes {
		t.Errorf("%d functions", len(all))
	}
	for _, wrong := range []string{"contract {", "contract A { function", "}}}}", "function f() {{{", "\"", "/*", "contract A { modifier", "'\\"} {
		scopesOf(wrong)
	}
}
