package seed

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"snowglobe/fixtures"
)

// TestPersonasInREADME compares the README's table of personas with the one that worlds are made from.
func TestPersonasInREADME(t *testing.T) {
	const path, begin, end = "../README.md", "<!-- personas: written by `go test ./seed -run TestPersonasInREADME -update` -->\n", "<!-- end of personas -->"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(raw), begin)
	table, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatal("the README has no place for the personas")
	}
	want := "\n| # | name | situation |\n|---|---|---|\n"
	for i, p := range fixtures.Personas {
		account := "" // of the mnemonic
		if i < fixtures.MnemonicAccounts {
			account = fmt.Sprint(i)
		}
		want += fmt.Sprintf("| %s | %s | %s |\n", account, p.Name, p.Purpose)
	}
	if want += "\n"; table == want {
		return
	}
	if !*update {
		t.Errorf("the README's personas differ from fixtures.Personas; run this test with -update")
		return
	}
	if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
