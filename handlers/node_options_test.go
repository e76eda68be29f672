// The option of a node's index, from the flag to the list of endpoints.

package handlers_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"snowglobe/handlers"
)

// TestTheIndexIsAnOption calls the node's index on a server with it and on one without.
func TestTheIndexIsAnOption(t *testing.T) {
	w := readWorld(t)
	for args, served := range map[string]bool{"": true, "--index-enabled": true, "--index-enabled=false": false, "--no-index": false} {
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags := handlers.NewFlags(f)
		if err := f.Parse(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		o, err := flags.Options(io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		h, err := handlers.New(w, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/ext/index/P/block", "/ext/index/C/block", "/fuji/ext/index/X/tx"} {
			answer := ask(h, http.MethodPost, path, `{"jsonrpc":"2.0","id":1,"method":"index.getLastAccepted","params":{"encoding":"hex"}}`)
			if strings.Contains(answer, `"result"`) != served || !served && !strings.Contains(answer, "404 page not found") {
				t.Errorf("%s at %s: %.200s", args, path, answer)
			}
		}
		if strings.Contains(ask(h, http.MethodGet, "/sim/world", ""), "/ext/index/") != served {
			t.Errorf("%s: the index is listed, or not, at /sim/world", args)
		}
		h.Close()
	}
}
