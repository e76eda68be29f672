package seed_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"

	"snowglobe/fixtures/interchange"
	"snowglobe/seed"
	"snowglobe/sim"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
	"snowglobe/sim/verify"
)

// foreign returns the path of another tool's file.
func foreign(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "fixtures", "interchange", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// stateOf returns a chain's newest state.
func stateOf(t *testing.T, c *reader.Chain) *state.StateDB {
	t.Helper()
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	states, err := c.State(t.Context(), head)
	if err != nil {
		t.Fatal(err)
	}
	return states
}

// TestImportsOfAWorldFile makes a world with files of other tools, twice, and the same without them.
func TestImportsOfAWorldFile(t *testing.T) {
	t.Parallel()
	text := `
name: carried
import:
  - file: ` + foreign(t, "anvil-1.7.1.hex") + `
  - file: ` + foreign(t, "genesis.json") + `
    chain: fuji/C
  - file: ` + foreign(t, "run-latest.json") + `
play:
  - from: alice
    to: Vault
    method: deposit()
    value: 0
`
	var notes []string
	generate := func() *sim.World {
		p, err := seed.ParseProfile("world.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		notes = nil
		w, err := seed.Generate(t.Context(), seed.Options{Path: store.Memory, Seed: 1, Profile: p, Until: seed.DefaultUntil, Note: func(n string) { notes = append(notes, n) }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.Close() })
		return w
	}
	w := generate()
	raw, err := os.ReadFile(foreign(t, "anvil-1.7.1.hex"))
	if err != nil {
		t.Fatal(err)
	}
	dump, err := interchange.Read(raw, interchange.KindAnvil)
	if err != nil {
		t.Fatal(err)
	}
	states := stateOf(t, w.Chains[0])
	for address, a := range dump.State.Accounts {
		if address == common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266") {
			continue // has paid for a transaction since
		}
		if states.GetBalance(address).ToBig().Cmp(a.Balance) != 0 || states.GetNonce(address) < a.Nonce || !bytes.Equal(states.GetCode(address), a.Code) {
			t.Errorf("%s has %s, nonce %d, and is %+v in the dump", address, states.GetBalance(address), states.GetNonce(address), a)
		}
		for slot, value := range a.Storage {
			if got := states.GetState(address, evm.StateKey(evm.KindC, slot)); got != value {
				t.Errorf("slot %s of %s is %s, in the dump %s", slot, address, got, value)
			}
		}
	}
	if code := stateOf(t, w.Chains[1]).GetCode(common.HexToAddress("0xa110c")); len(code) == 0 {
		t.Error("the genesis' contract is not on fuji's C-Chain")
	}
	if !strings.Contains(w.Meta.Shape, "sha256: ") || strings.Contains(w.Meta.Shape, "file:") {
		t.Error(w.Meta.Shape)
	}
	if _, err := seed.ParseProfile("carried", []byte(w.Meta.Shape)); err != nil {
		t.Error("the world's own profile:", err)
	}
	if !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "state only: its 5 blocks are left out") }) {
		t.Errorf("%q", notes)
	}
	if _, err := verify.Verify(t.Context(), w, nil); err != nil {
		t.Error(err)
	}
	if again := generate(); !bytes.Equal(again.Digest(), w.Digest()) {
		t.Error("the same file makes another world")
	}
	for _, c := range []struct{ entry, problem string }{
		{"{}", "world.yaml:3: import[0]: it needs a file"},
		{"{file: nowhere.json}", "world.yaml:3: import[0].file: open nowhere.json"},
		{"{file: " + foreign(t, "genesis.json") + ", sha256: 00}", "world.yaml:3: import[0].sha256: the hash of"},
		{"{file: " + foreign(t, "genesis.json") + ", chain: P}", "world.yaml:3: import[0].chain: P is not an EVM chain"},
		{"{file: " + foreign(t, "genesis.json") + ", kind: anvil}", "import[0].file: " + foreign(t, "genesis.json") + ":1: it has no accounts: it is no anvil"},
	} {
		_, err := seed.ParseProfile("world.yaml", []byte("name: bad\nimport:\n  - "+c.entry+"\n"))
		if err == nil || !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: %v, want %s", c.entry, err, c.problem)
		}
	}
}
