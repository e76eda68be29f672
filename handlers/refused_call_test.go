// Refused calls in the response, the log and the journal of one server.

package handlers_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"snowglobe/handlers"
)

// TestRefusedCallsAreLogged sends malformed, misspelt and forbidden calls to the C- and the P-Chain. The log and the journal have the code, the
// reason and the likely method; the client gets only the node's words.
func TestRefusedCallsAreLogged(t *testing.T) {
	var log bytes.Buffer
	h, err := handlers.New(readWorld(t), handlers.Options{Network: "mainnet", Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	const someone = "0x00000000000000000000000000000000DeaDBeef"
	for _, c := range []struct{ path, body, origin, answer, cause string }{
		{"/ext/bc/C/rpc", `{"jsonrpc":`, "", `"error":{"code":-32700,"message":"parse error"}}`, "-32700 parse error"},
		{"/ext/bc/P", `{"jsonrpc":`, "", `"error":{"code":-32700,"message":"unexpected EOF","data":{"jsonrpc":"","method":"","params":null,"id":null}}`, "-32700 unexpected EOF"},
		{"/ext/bc/P", `[]`, "", `json2.serverRequest`, "-32700 json: cannot unmarshal array into Go value of type json2.serverRequest"},
		{"/ext/bc/C/rpc", `[]`, "", `empty batch`, "-32600 empty batch"},
		{"/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":1,"method":"eth_blokNumber"}`, "", `"message":"the method eth_blokNumber does not exist/is not available"}}`,
			"-32601 the method eth_blokNumber does not exist/is not available: did you mean eth_blockNumber?"},
		{"/ext/bc/P", `{"jsonrpc":"2.0","id":1,"method":"platform.getHeigth"}`, "", `can't find method \"platform.GetHeigth\"","data":null}`,
			`-32000 rpc: can't find method "platform.GetHeigth": did you mean platform.getHeight?`},
		{"/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":1,"method":"evm_mine"}`, "https://evil.example", `"code":4100`, "4100 a page of https://evil.example may not do this"},
		{"/ext/bc/X/wallet", `{"jsonrpc":"2.0","id":1,"method":"wallet.nothing"}`, "https://evil.example", `"code":-32000`, "-32000 a page of https://evil.example may not do this"},
		{"/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":1,"method":"eth_sendTransaction","params":[{"from":"` + someone + `","to":"` + someone + `"}]}`, "", `"error":{"code":-32000,"message":"unknown account"}}`,
			"-32000 unknown account: the node holds no key of " + someone + "; let it send with anvil_impersonateAccount, or send a signed transaction"},
		{"/ext/bc/C/rpc", `{"jsonrpc":"2.0","method":"eth_nothing"}`, "", "", "-32601 the method eth_nothing"},
	} {
		log.Reset()
		r := httptest.NewRequest(http.MethodPost, c.path, strings.NewReader(c.body))
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/json")
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), c.answer) || c.answer == "" && w.Body.Len() > 0 {
			t.Errorf("%s %s: %d %s", c.path, c.body, w.Code, w.Body)
		}
		if cause := strings.ReplaceAll(log.String(), `\"`, `"`); !strings.Contains(cause, c.cause) || strings.Count(cause, "\n") != 1 {
			t.Errorf("%s %s: logged %s", c.path, c.body, cause)
		}
		if taken := ask(h, "GET", "/sim/requests?failed=true&pageSize=1", ""); !strings.Contains(strings.ReplaceAll(taken, `\"`, `"`), `"cause":"`+c.cause) {
			t.Errorf("%s %s: the journal has %s", c.path, c.body, taken)
		}
	}
}

// TestARevertToNothingIsLogged: clients get false, as from anvil.
func TestARevertToNothingIsLogged(t *testing.T) {
	var log bytes.Buffer
	h, err := handlers.New(readWorld(t), handlers.Options{Network: "mainnet", Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for _, id := range []string{"0x99", "0xffffffffffffffffffff"} {
		log.Reset()
		body := `{"jsonrpc":"2.0","id":1,"method":"evm_revert","params":["` + id + `"]}`
		if answer := ask(h, "POST", "/ext/bc/C/rpc", body); !strings.Contains(answer, `"result":false`) {
			t.Errorf("%s: %s", id, answer)
		}
		if !strings.Contains(log.String(), "there is no such snapshot\" logger=C snapshot="+id) {
			t.Errorf("%s: logged %s", id, log.String())
		}
	}
}
