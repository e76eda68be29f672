// The built program imports files of other tools into a world, and exports them.

//go:build !race

package handlers_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestImportFromTheCommandLine imports into a file that no server has open, and exports from it.
func TestImportFromTheCommandLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "world.db")
	worldFile(t, path)
	run := func(want int, words ...string) (string, string) {
		t.Helper()
		code, stdout, stderr := outcome(t, command(t, append(words, "--db", path)...))
		if code != want {
			t.Fatalf("%v: exit %d, %s%s", words, code, stdout, stderr)
		}
		return strings.TrimSpace(stdout), stderr
	}
	before, _ := run(0, "digest")
	if stdout, stderr := run(0, "import", foreign("genesis.json"), "fuji/C"); stdout != "alloc: 2 accounts, 4 values changed" || !strings.Contains(stderr, "genesis.json: line 2: config: left out: only accounts") {
		t.Errorf("%s\n%s", stdout, stderr)
	}
	if stdout, _ := run(0, "import", "--json", foreign("journal.jsonl")); !strings.Contains(stdout, `"contracts":[{"name":"Lock"`) {
		t.Error(stdout)
	}
	if after, _ := run(0, "digest"); after == before {
		t.Error("the digest did not notice")
	}
	if stdout, _ := run(0, "export", "alloc", "43113"); !strings.Contains(stdout, `"0x00000000000000000000000000000000000a110C": {`) {
		t.Error("the export lacks what was imported")
	}
	if stdout, _ := run(0, "export", "addresses"); !strings.Contains(stdout, `"TheKey": "0x00000000000000000000000000000000000b0C02"`) {
		t.Error(stdout)
	}
	l1 := func(name string) string {
		absolute, err := filepath.Abs(filepath.Join("testdata", "l1", name))
		if err != nil {
			t.Fatal(err)
		}
		return absolute
	}
	stdout, stderr := run(0, "import", l1("minter.json"), "--l1-name", "Minter", "--l1-network", "fuji", "--l1-upgrade", l1("minter-upgrade.json"))
	if stdout != "genesis: L1 Minter on fuji, EVM chain id 990002, 1 accounts" || !strings.Contains(stderr, "minter.json: line 33: config.rewardManagerConfig: left out") || !strings.Contains(stderr, ".old") {
		t.Errorf("%s\n%s", stdout, stderr)
	}
	if stdout, _ := run(0, "import", "--json", l1("lists.json")); !strings.Contains(stdout, `"l1":{"name":"Chain990001","network":"mainnet","evmChainId":"990001","blockchainId":`) {
		t.Error(stdout)
	}
	run(0, "verify")
	if stdout, _ := run(0, "export", "alloc", "Minter"); !strings.Contains(stdout, `"balance"`) {
		t.Error(stdout)
	}
	airdrop := l1("fees-airdrop.json")
	for _, c := range []struct {
		code  int
		words []string
		said  string
	}{
		{2, []string{"import"}, "import: expected FILE [CHAIN]"},
		{2, []string{"export", "everything"}, "export: expected alloc|tokenlist|addresses [CHAIN]"},
		{1, []string{"import", "nowhere.json"}, "open nowhere.json"},
		{1, []string{"import", foreign("genesis.json"), "Q"}, `there is no EVM chain "Q"; there are 43114, C, mainnet/C, 43113, fuji/C`},
		{1, []string{"import", l1("minter.json"), "C", "--l1-name", "Q"}, "--l1-name starts a new chain"},
		{1, []string{"import", airdrop, "--l1-upgrade", "x.json"}, "need --l1-name"},
		{1, []string{"import", airdrop, "--l1-name", "Q"}, "fees-airdrop.json: no L1 can start from it: line 1"},
		{1, []string{"import", l1("minter.json"), "--l1-name", "Q", "--l1-upgrade", "nowhere.json"}, "open nowhere.json"},
		{1, []string{"import", airdrop}, "fees-airdrop.json: line 1: expected an object"},
	} {
		if _, stderr := run(c.code, c.words...); !strings.Contains(stderr, c.said) {
			t.Errorf("%v: %s, want %s", c.words, stderr, c.said)
		}
	}
}
