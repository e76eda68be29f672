// The node and the Data API of one server aggregate the same signatures.

package handlers_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// surfaceOf returns the node of a world that never changes.
func surfaceOf(t *testing.T, n *sim.World) http.Handler {
	t.Helper()
	h, err := handlers.New(n, handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// callEVM calls an EVM chain and decodes the result into a value. It returns the error's message, if any.
func callEVM(t *testing.T, h http.Handler, path, method string, into any, params ...any) string {
	t.Helper()
	if params == nil {
		params = []any{}
	}
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) // strings and numbers
	answer := struct {
		Result any // decoded right where it belongs: traces are megabytes
		Error  *struct{ Message string }
	}{Result: into}
	text := ask(h, http.MethodPost, path, string(body))
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatalf("%s: %v: %s", body, err, text)
	}
	switch {
	case answer.Error != nil:
		return answer.Error.Message
	case answer.Result == nil: // null
		_ = json.Unmarshal([]byte("null"), into) // any pointer takes it
	case !strings.Contains(text, `"result":`):
		t.Fatalf("%s: %s", body, text)
	}
	return ""
}

func rpcPath(c *reader.Chain) string {
	return "/" + c.Row.Network + "/ext/bc/" + ids.ID(c.Row.BlockchainID).String() + "/rpc"
}

// messagesOf returns the ids of the warp messages that a chain sent.
func messagesOf(t *testing.T, w *sim.World, c *reader.Chain) (all []ids.ID) {
	t.Helper()
	var logs []store.LogView
	err := w.DB.EachLogViewOfAddress(t.Context(), precompile.WarpAddress[:], store.First(c.Row.ID), store.Last(c.Row.ID), 1<<20, func(l *store.LogView) { logs = append(logs, *l) })
	if err != nil {
		t.Fatal(err)
	}
	for _, log := range logs {
		all = append(all, ids.ID(log.Topics[32:64]))
	}
	return all
}

// TestTheNodeAggregatesAsTheDataAPIDoes lets the node and the Data API aggregate the signatures of messages of every chain.
func TestTheNodeAggregatesAsTheDataAPIDoes(t *testing.T) {
	t.Parallel()
	w := readWorld(t)
	h, found := surfaceOf(t, w), 0
	for _, c := range w.Chains {
		all := messagesOf(t, w, c)
		for _, id := range all[:min(len(all), 3)] {
			found++
			var unsigned, signed string
			problem := callEVM(t, h, rpcPath(c), "warp_getMessage", &unsigned, id) + callEVM(t, h, rpcPath(c), "warp_getMessageAggregateSignature", &signed, id, 67, "")
			answer := ask(h, http.MethodPost, "/v1/signatureAggregator/"+c.Row.Network+"/aggregateSignatures", `{"message":"`+unsigned+`"}`)
			if want := strings.TrimPrefix(signed, "0x"); problem != "" || want != "" && !strings.Contains(answer, want) && !strings.Contains(answer, "threshold") {
				t.Errorf("message %s: the node aggregates %s%s, the Data API %.300s", id, problem, signed, answer)
			}
		}
	}
	if found == 0 {
		t.Error("no chain sent a message")
	}
}
