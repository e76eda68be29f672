// The node's options, as flags of a server.

package handlers_test

import (
	"fmt"
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

// TestLimitsMayBeLarge requests as many outputs as 32 bits can count and gets an ordinary page. A node accepts no larger limit.
func TestLimitsMayBeLarge(t *testing.T) {
	w := readWorld(t)
	h, err := handlers.New(w, handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	v := &views{t, w, h, w.Networks[0]}
	hoarder := v.owner("hoarder")
	for _, limit := range []any{1025, 4294967295, "4294967295"} {
		for path, service := range map[string]string{"bc/P": "platform", "bc/X": "avm", "bc/C/avax": "avax"} {
			args := map[string]any{"addresses": []string{path[3:4] + "-" + hoarder}}
			if service == "avax" {
				args["sourceChain"] = "P"
			}
			want := v.rpc(path, service+".getUTXOs", args)
			args["limit"] = limit
			have := v.rpc(path, service+".getUTXOs", args)
			v.same(fmt.Sprint(service, " with limit ", limit), fmt.Sprint(have), fmt.Sprint(want))
			if service == "avm" && have["numFetched"] != "1024" {
				t.Errorf("limit %v: %v outputs", limit, have["numFetched"])
			}
		}
	}
	for path, service := range map[string]string{"bc/P": "platform", "bc/X": "avm", "bc/C/avax": "avax"} {
		said := ask(h, http.MethodPost, "/ext/"+path, `{"jsonrpc":"2.0","id":1,"method":"`+service+`.getUTXOs","params":{"addresses":["`+path[3:4]+"-"+hoarder+`"],"sourceChain":"P","limit":4294967296}}`)
		if !strings.Contains(said, "couldn't unmarshal an argument") {
			t.Error(said)
		}
	}
	said := ask(h, http.MethodPost, "/ext/index/X/tx", `{"jsonrpc":"2.0","id":1,"method":"index.getContainerRange","params":{"startIndex":0,"numToFetch":4294967296}}`)
	if !strings.Contains(said, "numToFetch must be in [1,1024] but is 4294967296") {
		t.Error(said)
	}
}
