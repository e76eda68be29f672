// Every method of anvil's newest source is answered, or refused as the table says.

package handlers_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// anvilMethods reads the table of anvil's methods: the names, and which of them are refused.
func anvilMethods(t *testing.T) (served, refused []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", "tools", "anvil.txt"))
	if err != nil {
		t.Fatal(err)
	}
	table, _, found := strings.Cut(string(text), "# Differences\n")
	if !found {
		t.Fatal("the table has no end")
	}
	into := &served
	for line := range strings.Lines(table) {
		switch {
		case strings.HasPrefix(line, "Served."):
			into = &served
		case strings.HasPrefix(line, "Refused. "):
			into = &refused
		case strings.HasPrefix(line, "    "):
			*into = append(*into, strings.Fields(line)...)
		}
	}
	return served, refused
}

// TestAnvilMethods calls each method of the table without parameters on the C-Chain and an L1, and checks only whether the method exists.
func TestAnvilMethods(t *testing.T) {
	t.Parallel()
	served, refused := anvilMethods(t)
	if all := slices.Concat(served, refused); len(all) < 200 || len(slices.Compact(slices.Sorted(slices.Values(all)))) != len(all) {
		t.Fatalf("the table has %d methods, some of them twice", len(all))
	}
	h := serverWith(t, tinyWorld(t))
	for _, path := range []string{"/ext/bc/C/rpc", "/ext/bc/" + l1Path.FindStringSubmatch(ask(h, "GET", "/sim/world", ""))[1] + "/rpc"} {
		// A read-only parameter list of the wrong kind: no served method runs, and every one says something about its parameters.
		asked := func(method string) string { return ask(h, "POST", path, methodCall+method+`","params":{}}`) }
		for _, method := range served {
			if method == "eth_subscribe" || method == "eth_unsubscribe" { // only over WebSocket, as the error says
				continue
			}
			if answer := asked(method); !strings.Contains(answer, `"code":-32602,"message":"non-array args"`) {
				t.Errorf("%s %s: %s", path, method, answer)
			}
		}
		for _, method := range refused {
			if answer := asked(method); !strings.Contains(answer, `"code":-32004`) && !strings.Contains(answer, `"code":-32601`) {
				t.Errorf("%s %s is said to be refused: %s", path, method, answer)
			}
		}
	}
}
