package docs_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"snowglobe/handlers/docs"
	"snowglobe/sim/export"
)

// TestEveryPageInBothForms renders each page: every table is filled, every link leads somewhere, and text keeps to its columns wherever words can be
// split.
func TestEveryPageInBothForms(t *testing.T) {
	m := docs.New([]docs.Command{{Name: "serve", Summary: "answers", Flags: []docs.Flag{{Name: "seed", Value: "N", Default: "1", Usage: "the seed"}}}})
	if len(m.Topics()) < 17 {
		t.Fatalf("%d topics", len(m.Topics()))
	}
	for _, topic := range m.Topics() {
		page, err := m.HTML(topic, "/w/copy", "http://example.test")
		if err != nil || !strings.HasPrefix(page, "<h1>") {
			t.Errorf("%s: %v %.60s", topic.Name, err, page)
		}
		if strings.Contains(page, "<!--") || strings.Contains(page, "127.0.0.1:9650/") {
			t.Errorf("%s has a mark left, or another server's address", topic.Name)
		}
		for _, link := range strings.Split(page, `href="/w/copy/docs/`)[1:] {
			name, _, _ := strings.Cut(link, `"`)
			if _, found := m.Find(name); !found {
				t.Errorf("%s links to %s, which is not there", topic.Name, name)
			}
		}
		for line := range strings.Lines(m.Text(topic, 80)) {
			line = strings.TrimRight(line, "\n")
			if utf8.RuneCountInString(line) > 80 && !strings.HasPrefix(line, "    ") && strings.Contains(strings.TrimSpace(line[40:]), " ") {
				t.Errorf("%s: %q is too long", topic.Name, line)
			}
		}
	}
	for name, want := range map[string]string{"as-network": "| `api.avax-test.network` |", "personas": "| `l1-removed` |", "exports": "`TransferType`", "coverage": "| `/ext/bc/C/rpc` | `eth_coinbase`, `eth_etherbase`, `eth_getBadBlocks` | yes | no | yes |", "profiles": "| `tiny` | 3 | 600 |", "chains": "| TeleporterRegistry | `0x7C43605E14F391720e1b37E49C78C4b03A488d98` |", "budgets": "| binary, stripped | `size` | at most 40 MiB |", "world-file": "| `accounts[].balances` |", "mistakes": "did you mean serve?", "command-line": "`--seed N` | `1` | the seed"} {
		if topic, _ := m.Find(name); !strings.Contains(m.Markdown(topic), want) {
			t.Errorf("%s does not have %s", name, want)
		}
	}
	if near := m.Nearest("persona"); near != "personas" {
		t.Errorf("persona is near to %q", near)
	}
	if near := m.Nearest("xyzzy-of-something"); near != "" {
		t.Errorf("nonsense is near to %q", near)
	}
}

// TestColumnsHaveOneMeaning: a column that several kinds of exports have is described once.
func TestColumnsHaveOneMeaning(t *testing.T) {
	full := map[string]string{}
	for _, kind := range []export.Type{export.Primary, export.Simple, export.Staking} {
		for _, c := range kind.Columns() {
			if told, known := full[c.Name]; known && told != c.Doc {
				t.Errorf("%s of %s is %q elsewhere", c.Name, kind, told)
			}
			full[c.Name] = c.Doc
		}
	}
}
