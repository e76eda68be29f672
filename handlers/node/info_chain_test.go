package node

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
)

// TestInfoKnowsTheChainsThatRunHere asks for every chain that platform.getBlockchains lists: a node knows the ones it runs.
func TestInfoKnowsTheChainsThatRunHere(t *testing.T) {
	w := seeded(t)
	url := serveSeeded(t, w, Options{})
	ask := func(method, name, chain string) string {
		body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"` + name + `":"` + chain + `"}}`
		answer, err := http.Post(url+"/ext/info", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	rows, err := w.DB.Blockchains(t.Context(), w.Networks[0].Chain(txs.PChain))
	if err != nil || len(rows) < 2 {
		t.Fatal(rows, err)
	}
	elsewhere := 0
	for _, row := range rows {
		chain := ids.ID(row.Hash).String()
		here := w.ChainByBlockchainID(ids.ID(row.Hash)) != nil
		if text := ask("info.isBootstrapped", "chain", chain); strings.Contains(text, `"isBootstrapped":true`) != here {
			t.Errorf("%s: %s", row.Name, text)
		}
		if text := ask("info.getBlockchainID", "alias", chain); strings.Contains(text, `"blockchainID":"`+chain) != here {
			t.Errorf("%s: %s", row.Name, text)
		}
		if !here {
			elsewhere++
		}
	}
	if elsewhere == 0 {
		t.Error("every chain runs here")
	}
	if text := ask("info.isBootstrapped", "chain", ids.ID{1}.String()); !strings.Contains(text, "there is no chain with alias/ID") {
		t.Error(text)
	}
}
