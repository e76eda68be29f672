package web_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/docs"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/web"
)

// texts lists the members of responses whose text comes from a person: a contract's owner, a wallet, a client, a user of the simulator.
var texts = map[string]bool{
	"name": true, "symbol": true, "description": true, "memo": true, "blockchainName": true, "chainName": true, "tokenUri": true, "imageUri": true, "logoUri": true, "externalUrl": true,
	"animationUri": true, "attributes": true, "message": true, "userAgent": true, "path": true, "query": true, "requestBody": true, "responseBody": true, "cause": true, "fault": true,
	"purpose": true, "city": true, "country": true, "methodName": true, "revertReason": true, "profile": true, "operation": true, "client": true, "curl": true, "url": true, "error": true,
	"networkTokenSymbol": true, "role": true, "world": true, "until": true, "template": true,
}

// TestEveryTextOfAnswersIsData renders every kind of page with answers in which each text is an attack.
func TestEveryTextOfAnswersIsData(t *testing.T) {
	s := open(t)
	ask := func(method, path, body string) string {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Host, r.RemoteAddr = "127.0.0.1:9650", "127.0.0.1:5"
		r.Header.Set("Content-Type", "application/json")
		s.ServeHTTP(w, r)
		return w.Body.String()
	}
	var hook, first struct{ ID json.RawMessage }
	_ = json.Unmarshal([]byte(ask("POST", "/v1/webhooks", `{"eventType":"address_activity","url":"http://127.0.0.1:9/","description":"d","chainId":"43114","metadata":{"addresses":["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"]}}`)), &hook)
	if hook.ID == nil {
		t.Fatal("there is no webhook")
	}
	ask("GET", "/v1/chains/424242", "")
	var journal struct {
		Requests []struct{ ID json.RawMessage }
	}
	_ = json.Unmarshal([]byte(ask("GET", "/sim/requests", "")), &journal)
	first.ID = journal.Requests[0].ID
	var world struct {
		Chains []struct {
			Samples   map[string]string
			Contracts []struct{ Role, Address string }
		}
		Networks []struct {
			Samples map[string]string
			Nodes   []struct{ NodeID string }
			Subnets []struct{ SubnetID string }
		}
	}
	_ = json.Unmarshal([]byte(ask("GET", "/sim/world", "")), &world)
	collection := ""
	for _, c := range world.Chains[0].Contracts {
		if c.Role == "collection" {
			collection = c.Address
		}
	}
	on, mainnet := "/sim/explorer/43114", world.Networks[0]
	pages := []string{"/", "/?part=balances", on, on + "/block/10", on + "/tx/" + world.Chains[0].Samples["crossChainSource"], on + "/tx/" + world.Chains[0].Samples["failed"],
		on + "/address/0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", on + "/address/0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266?history=erc20", on + "/address/0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65",
		on + "/token/" + collection, on + "/token/" + collection + "/1", on + "/token/0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E", "/p/mainnet", "/p/mainnet?list=delegators", "/p/mainnet?list=l1",
		"/p/mainnet?list=subnets", "/p/mainnet?list=transactions", "/p/mainnet?list=blocks", "/p/mainnet/tx/" + mainnet.Samples["P.CreateChainTx"], "/p/mainnet/node/" + mainnet.Nodes[0].NodeID,
		"/p/mainnet/subnet/" + mainnet.Subnets[0].SubnetID, "/x/mainnet", "/x/mainnet/tx/" + mainnet.Samples["X.CreateAssetTx"], "/x/mainnet/asset/" + mainnet.Samples["X.CreateAssetTx"],
		"/messages", "/messages/" + world.Chains[0].Samples["crossChainMessage"], "/charts", "/gas", "/requests", "/requests/" + string(first.ID), "/webhooks", "/faucet", "/session", "/control", "/search?q=a", "/docs"}
	for what, attack := range map[string]string{
		"markup": `<i data-evil></i>"onevil=1 'onevil=1 </script></title></textarea><svg onload=evil()>`, "scheme": "javascript:evil()//", "direction": "\u202egnp.live\u2066",
		"length": strings.Repeat(`<i data-evil>é`, 800), "template": "{{.}}${evil()}`",
	} {
		if testing.Short() && what != "markup" && what != "length" {
			t.Log("left out of a short run: this kind of text")
			continue
		}
		api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer := httptest.NewRecorder()
			s.ServeHTTP(answer, r)
			body := answer.Body.Bytes()
			d := json.NewDecoder(bytes.NewReader(body))
			d.UseNumber()
			var v any
			if d.Decode(&v) == nil {
				body, _ = json.Marshal(infected(v, attack))
			}
			w.WriteHeader(answer.Code)
			_, _ = w.Write(body)
		})
		site := web.New(api, docs.New(nil), slog.New(slog.DiscardHandler), nil)
		site.Describe(func() []web.Described { return nil }, func() []rest.Outline { return nil })
		for _, path := range pages {
			w := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.Host, r.RemoteAddr = "127.0.0.1:9650", "127.0.0.1:5"
			if strings.Contains(path, "part=") {
				r.Header.Set("HX-Request", "true")
			}
			site.ServeHTTP(w, r)
			body := w.Body.String()
			if w.Code != http.StatusOK {
				t.Errorf("%s: %s is %d: %.300s", what, path, w.Code, body)
			}
			if found := inline.FindString(body); found != "" {
				t.Errorf("%s: %s has %q", what, path, found)
			}
			for _, bad := range []string{"<i data-evil", `"onevil`, `'onevil`, "<svg onload", `href="javascript:`, `src="javascript:`} {
				if i := strings.Index(body, bad); i >= 0 {
					t.Errorf("%s: %s has %q: %q", what, path, bad, body[max(0, i-120):min(len(body), i+60)])
				}
			}
			if len(body) > most {
				t.Errorf("%s: %s weighs %d bytes", what, path, len(body))
			}
		}
	}
}

// infected replaces each text by an attack.
func infected(v any, attack string) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if text, written := member.(string); written && texts[name] && text != "mainnet" && text != "fuji" {
				v[name] = attack
				if name == "memo" {
					v[name] = hexutil.Encode([]byte(attack))
				}
			} else {
				v[name] = infected(member, attack)
			}
		}
	case []any:
		for i := range v {
			v[i] = infected(v[i], attack)
		}
	}
	return v
}
