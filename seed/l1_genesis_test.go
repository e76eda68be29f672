package seed_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"snowglobe/seed"
	"snowglobe/sim/store"
)

// genesis returns the path of a subnet-evm genesis, or of a file that belongs to one.
func genesis(name string) string { return "../handlers/testdata/l1/" + name + ".json" }

// TestAGenesisIsImported: an import gives the same L1 as the genesis under l1s, to the byte. Without a name, the L1 is called after its chain id.
func TestAGenesisIsImported(t *testing.T) {
	t.Parallel()
	digests := map[string]bool{}
	for _, text := range []string{
		`l1s:
  - {name: Chain990001, genesis: ` + genesis("lists") + `}
  - {name: Minter, network: fuji, genesis: ` + genesis("minter") + `, upgrade: ` + genesis("minter-upgrade") + `}
  - {name: Fees, genesis: ` + genesis("fees") + `, airdrop: ` + genesis("fees-airdrop") + `}
`, `import:
  - {file: ` + genesis("lists") + `}
  - {name: Minter, network: fuji, file: ` + genesis("minter") + `, upgrade: ` + genesis("minter-upgrade") + `}
  - {name: Fees, file: ` + genesis("fees") + `, airdrop: ` + genesis("fees-airdrop") + `}
`,
	} {
		w := own(t, store.Memory, "name: mine\n"+text)
		if strings.Contains(w.Meta.Shape, "testdata") {
			t.Error("the world needs its files again:", w.Meta.Shape)
		}
		digests[string(w.Digest())] = true
	}
	if len(digests) != 1 {
		t.Errorf("%d different worlds", len(digests))
	}
	for text, want := range map[string]string{
		"{name: my-l1, file: " + genesis("minter") + "}":           `import[0].name: "my-l1" contains "-": a chain's name may have only letters and digits`,
		"{file: " + genesis("fees-airdrop") + ", upgrade: x.json}": "upgrade, airdrop and network belong to an L1, which has a name",
		"{name: Minter}": "import[0]: it needs a file",
		"{name: Minter, file: " + genesis("minter") + ", kind: alloc}": "kind, chain and sha256 do not belong to an L1",
		"{name: C, file: " + genesis("minter") + "}":                   "import[0].name: C is the name of another chain",
		"{name: Minter, file: " + genesis("minter-upgrade") + "}":      "import[0].genesis",
	} {
		if _, err := seed.ParseProfile("world.yaml", []byte("name: mine\nimport:\n  - "+text+"\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestMistakesInAGenesis: a file from which no chain can start is refused, with the mistake's line in that file.
func TestMistakesInAGenesis(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	files := 0
	write := func(name, text string) string {
		files++
		path := filepath.Join(folder, fmt.Sprint(files)+name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, err := os.ReadFile(genesis("lists"))
	if err != nil {
		t.Fatal(err)
	}
	changed := func(from, to string) string {
		text := strings.Replace(string(good), from, to, 1)
		if text == string(good) {
			t.Fatalf("%s is not in the genesis", from)
		}
		return write("genesis.json", text)
	}
	for _, c := range []struct{ entry, problem string }{
		{"genesis: nowhere.json", "l1s[0].genesis: open nowhere.json"},
		{"genesis: " + write("a.json", "{\n}\n}"), "a.json:3: it is not JSON"},
		{"genesis: " + write("b.json", "{}"), "b.json:1: it has no config: it is not a genesis"},
		{"genesis: " + changed(`"chainId": 990001,`, ""), "genesis.json:2: config: it has no chainId"},
		{"genesis: " + changed(`"0x7A1200"`, `"0x7A1201"`), "genesis.json:45: gasLimit: it is 8000001, and the gasLimit of feeConfig is 8000000: subnet-evm wants them to be the same"},
		{"genesis: " + changed(`"targetGas": 15000000`, `"targetGas": 0`), "targetGas cannot be less than or equal to 0"},
		{"genesis: " + changed(`"0x295BE96E64066972000000"`, `"much"`), "alloc.f39Fd6e51aad88F6F4ce6aB8827279cffFb92266.balance: expected a whole number"},
		{"genesis: " + changed(`["0x70997970C51812dc3A010C7d01b50e0d17dc79C8"]`, `["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"]`), "has more than one role"},
		{"genesis: " + write("q.json", `{"config":{"chainId":7,"warpConfig":{"blockTimestamp":1709740800,"quorumNumerator":101}},"alloc":{}}`), "cannot specify numerator (101) > denominator (100)"},
		{"genesis: " + genesis("fees") + "", "the file with the accounts of the airdrop is needed too"},
		{"genesis: " + genesis("fees") + ", airdrop: " + genesis("lists") + "", "the accounts of the airdrop have another hash"},
		{"genesis: " + genesis("lists") + ", airdrop: " + genesis("fees-airdrop") + "", "it has no airdropHash, so there is no airdrop"},
		{"genesis: " + genesis("lists") + ", chainId: 5", "l1s[0].chainId: it is 5, and that of the genesis is 990001"},
		{"genesis: " + genesis("lists") + ", transactions: 300", "l1s[0].transactions: nobody acts on a chain with a genesis of its own"},
		{"genesis: " + genesis("lists") + ", upgrade: " + write("u.json", `{"precompileUpgrades":[{"feeManagerConfig":{"blockTimestamp":1,"disable":true}}]}`), "turns off a contract that is off"},
		{"genesis: " + genesis("lists") + ", upgrade: " + write("v.json", "{\n\"precompileUpgrades\":[7]}"), "v.json:2: precompileUpgrades[0]: expected an object"},
		{"upgrade: u.json, chainId: 7", "upgrade and airdrop belong to a genesis"},
		{"token: ABC", "0 is not an EVM chain id"},
	} {
		_, err := seed.ParseProfile("world.yaml", []byte("name: bad\nl1s:\n  - {name: Mine, "+c.entry+"}\n"))
		if err == nil || !strings.Contains(err.Error(), c.problem) || !strings.Contains(err.Error(), "world.yaml:3: l1s[0]") {
			t.Errorf("%s: %v, want %s", c.entry, err, c.problem)
		}
	}
}
