package names_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"snowglobe/handlers/control"
	"snowglobe/handlers/names"
	"snowglobe/seed/seedtest"
	"snowglobe/sim/store"
)

func write(t *testing.T, language names.Language, w *control.World, contracts []control.ContractABI) string {
	t.Helper()
	var b bytes.Buffer
	if err := names.Write(&b, language, w, contracts); err != nil {
		t.Fatal(language, err)
	}
	return b.String()
}

var languages = []names.Language{names.TypeScript, names.Go, names.Python}

// TestEveryNameIsWritten: each language has the digest, and each persona, contract, node and sample with its value.
func TestEveryNameIsWritten(t *testing.T) {
	w := seedtest.Generate(t, store.Memory, "tiny", 1)
	defer w.Close()
	described, contracts, err := control.Names(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range languages {
		text := write(t, language, described, contracts)
		if again := write(t, language, described, contracts); again != text {
			t.Errorf("%s: another text the second time", language)
		}
		has := func(what, value string) {
			t.Helper()
			if !strings.Contains(text, `"`+value+`"`) {
				t.Errorf("%s lacks %s %q", language, what, value)
			}
		}
		has("digest", described.Digest)
		for _, p := range described.Personas {
			has(p.Name, p.Key)
			has(p.Name, p.ChainAddresses["fuji"]["P"])
		}
		for _, c := range described.Chains {
			has(c.Name, c.BlockchainID)
			has(c.Name, "/ext/bc/"+c.BlockchainID+"/ws")
			for _, contract := range c.Contracts {
				has(contract.Role, contract.Address)
				if contract.Token != nil {
					has(contract.Role, contract.Token.Symbol)
				}
			}
			for name, id := range c.Samples {
				has(name, id)
			}
		}
		for _, n := range described.Networks {
			for _, node := range n.Nodes {
				has(node.Role, node.NodeID)
			}
			for name, id := range n.Samples {
				has(name, id)
			}
		}
	}
	for language, want := range map[names.Language][]string{
		names.TypeScript: {"\n  C: {\n    id: 43114,", "\n  fujiC: {\n    id: 43113,", "\n  Icefall: {", `"usdc.e": { address: "0xA7D7079b0FEaD91F3e65f86E8915Cb59c1a4C664", abi: abis.ListedToken },`,
			`usdc: { address: "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E", standard: "ERC-20", name: "USD Coin", symbol: "USDC", decimals: 6 },`, `Greeter: [{"inputs":[`, "as const"},
		names.Go:     {"ABI: ABIListedToken, Token: Token{Standard: \"ERC-20\", Name: \"USD Coin\", Symbol: \"USDC\", Decimals: 6}},", "CommitteeTwo: Persona{", "UsdcE ", "L1AboutToRunOut", "const (\n\tABIAirdrop"},
		names.Python: {"usdc_e = Contract(", "copy_of_bytes32_token = ", "p_add_delegator_tx: Final", "    class fuji_c:\n        id: Final = 43113"},
	} {
		text := write(t, language, described, contracts)
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s lacks %q", language, part)
			}
		}
	}
}

// TestHostileNames: whatever names a world file uses, the source code stays valid and keeps the values.
func TestHostileNames(t *testing.T) {
	const evil = "*/ ' \" ` \\ \n \u2028 </x> ${a} 雪"
	decimals := 6
	abi := func(name string) json.RawMessage {
		text, err := json.Marshal([]map[string]string{{"type": "function", "name": name}})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	w := &control.World{
		Profile: evil,
		Personas: []control.Persona{
			{Name: evil, Purpose: evil}, {Name: "class"}, {Name: "1st"}, {Name: "a-b"}, {Name: "a.b"}, {Name: ""}, {Name: "雪"},
		},
		Chains: []control.Chain{
			{ChainID: "1", Name: evil, Contracts: []control.Contract{{Role: evil, Token: &control.Token{Name: evil, Symbol: evil, Decimals: &decimals}}, {Role: "mine"}}, Samples: map[string]string{evil: evil}},
			{ChainID: "2", Name: "Two", Contracts: []control.Contract{{Role: "mine"}}},
		},
		Networks: []control.Network{{Name: "mainnet", Nodes: []control.Node{{Role: "twice", NodeID: "first"}, {Role: "twice", NodeID: "second"}}}},
	}
	contracts := []control.ContractABI{{Name: evil, ChainID: "1", ABI: abi(evil)}, {Name: "mine", ChainID: "1", ABI: abi("one")}, {Name: "mine", ChainID: "2", ABI: abi("two")}}
	source := write(t, names.Go, w, contracts)
	file, err := parser.ParseFile(token.NewFileSet(), "world.go", source, parser.ParseComments)
	if err != nil {
		t.Fatalf("%v\n%s", err, source)
	}
	fields := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, is := n.(*ast.StructType); is {
			own := map[string]bool{}
			for _, f := range s.Fields.List {
				for _, name := range f.Names {
					if own[name.Name] {
						t.Errorf("two fields %s in one struct", name.Name)
					}
					own[name.Name], fields[name.Name] = true, true
				}
			}
		}
		return true
	})
	for _, want := range []string{"Class", "X1st", "AB", "AB2", "X", "X雪", "Twice"} {
		if !fields[want] {
			t.Errorf("Go has no field %s: %v", want, fields)
		}
	}
	if strings.Contains(source, `"second"`) {
		t.Error("a role has two nodes")
	}
	for _, language := range languages {
		text := write(t, language, w, contracts)
		for _, name := range []string{"one", "two"} { // the ABIs of two contracts of the same name
			if !regexp.MustCompile(`\\?"name\\?":\\?"` + name).MatchString(text) {
				t.Errorf("%s lacks the ABI of %s", language, name)
			}
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(strings.TrimSpace(line), "/**") && strings.Count(line, "*/") != 1 {
				t.Errorf("%s: a comment that ends early: %s", language, line)
			}
		}
	}
	python := write(t, names.Python, w, contracts)
	for _, want := range []string{" class_ = Persona(", " x1st = ", " a_b = ", " a_b2 = "} {
		if !strings.Contains(python, want) {
			t.Errorf("Python lacks %q", want)
		}
	}
	typescript := write(t, names.TypeScript, w, contracts)
	for _, want := range []string{"\n  class: {", "\n  \"1st\": {", "\n  \"\": {", "mine: { address: \"\", abi: abis.mine }", "mine: { address: \"\", abi: abis[\"mine-Two\"] }"} {
		if !strings.Contains(typescript, want) {
			t.Errorf("TypeScript lacks %q", want)
		}
	}
}
