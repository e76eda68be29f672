// API keys of one network, which a request's chains decide: only a whole server knows whose they are.

package handlers_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
)

// keyed serves a world to the keys main and test, each of one network, and both. The function sends a request with a key.
func keyed(t *testing.T, w *sim.World) func(key, method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	keys, err := rest.ReadKeys([]byte("- key: main\n  networks: [mainnet]\n- key: test\n  networks: [testnet]\n- key: both\n"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := handlers.New(w, handlers.Options{Network: "mainnet", Keys: keys, RequireKey: true})
	if err != nil {
		t.Fatal(err)
	}
	return func(key, method, path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("x-service-api-key", key)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
}

// TestKeysOfOneNetworkReadItsMessages: the named chain determines the network of a list of messages.
func TestKeysOfOneNetworkReadItsMessages(t *testing.T) {
	t.Parallel()
	w := readWorld(t)
	ask := keyed(t, w)
	blockchain := func(evm string) string { return ids.ID(w.ChainNamed(evm).Row.BlockchainID).String() }
	for query, status := range map[string]map[string]int{
		"":                                           {"main": 403, "test": 403, "both": 200},
		"?network=mainnet":                           {"main": 200, "test": 403, "both": 200},
		"?network=testnet":                           {"main": 403, "test": 200, "both": 200},
		"?sourceBlockchainId=43114":                  {"main": 200, "test": 403, "both": 200},
		"?destinationBlockchainId=43114":             {"main": 200, "test": 403, "both": 200},
		"?blockchainId=70411&pageSize=1":             {"main": 200, "test": 403, "both": 200},
		"?sourceBlockchainId=43113":                  {"main": 403, "test": 200, "both": 200},
		"?blockchainId=" + blockchain("43113"):       {"main": 403, "test": 200, "both": 200},
		"?sourceBlockchainId=" + blockchain("43114"): {"main": 200, "test": 403, "both": 200},
		"?destinationBlockchainId=" + blockchain("70411") + "&network=mainnet":         {"main": 200, "test": 403, "both": 200},
		"?sourceBlockchainId=43114&network=fuji":                                       {"main": 403, "test": 403, "both": 200},
		"?sourceBlockchainId=43114&destinationBlockchainId=43113":                      {"main": 403, "test": 403, "both": 200},
		"?sourceBlockchainId=" + ids.ID{9}.String():                                    {"main": 403, "test": 403, "both": 200},
		"?sourceBlockchainId=" + ids.ID{9}.String() + "&destinationBlockchainId=43114": {"main": 200, "test": 403, "both": 200},
	} {
		for _, path := range []string{"/v1/icm/messages", "/v1/teleporter/messages"} {
			for key, want := range status {
				if w := ask(key, http.MethodGet, path+query, ""); w.Code != want {
					t.Errorf("%s%s by key %s: %d %s, want %d", path, query, key, w.Code, w.Body, want)
				}
			}
		}
	}
}

// TestKeysOfOneNetworkExportThatNetwork: the chains in the body determine an export's networks.
func TestKeysOfOneNetworkExportThatNetwork(t *testing.T) {
	t.Parallel()
	ask := keyed(t, tinyWorld(t))
	for _, c := range []struct {
		kind, address, chain string
		main, test           int
	}{
		{"TRANSACTION_EXPORT_EVM", "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "43114", 200, 403},
		{"TRANSACTION_EXPORT_EVM", "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "43113", 403, 200},
		{"TRANSACTION_EXPORT_PRIMARY_NETWORK", "avax15428vq2uzwhm3taey9sr9x5vm6tk78ewvkckhy", "p-chain", 200, 403},
		{"TRANSACTION_EXPORT_PRIMARY_NETWORK", "fuji15428vq2uzwhm3taey9sr9x5vm6tk78ewqyufmm", "p-chain", 403, 200},
		{"TRANSACTION_EXPORT_PRIMARY_NETWORK", "nobody", "q-chain", 400, 400},
	} {
		body := exportBody(t, c.kind, []string{c.address}, []string{c.chain})
		for key, status := range map[string]int{"main": c.main, "test": c.test} {
			started := ask(key, http.MethodPost, "/v1/operations/transactions:export", body)
			if started.Code != status {
				t.Errorf("%s by key %s: %d %s", body, key, started.Code, started.Body)
			}
			if started.Code != 200 {
				continue
			}
			var o struct{ OperationID string }
			if err := json.Unmarshal(started.Body.Bytes(), &o); err != nil {
				t.Fatal(err)
			}
			for reader, status := range map[string]int{"main": c.main, "test": c.test} {
				if w := ask(reader, http.MethodGet, "/v1/operations/"+o.OperationID, ""); w.Code != status {
					t.Errorf("the operation of %s by key %s: %d %s", body, reader, w.Code, w.Body)
				}
				file := map[int]int{200: 404, 403: 403}[status] // nothing runs exports here
				if w := ask(reader, http.MethodGet, "/sim/exports/"+o.OperationID+"/transactions.csv", ""); w.Code != file {
					t.Errorf("the file of %s by key %s: %d %s", body, reader, w.Code, w.Body)
				}
			}
			if w := ask("", http.MethodGet, "/sim/exports/"+o.OperationID+"/transactions.csv", ""); w.Code != 401 {
				t.Errorf("the file of %s without a key: %d %s", body, w.Code, w.Body)
			}
		}
	}
	if w := ask("main", http.MethodGet, "/v1/operations/00000000-0000-4000-8000-000000000000", ""); w.Code != 404 {
		t.Errorf("an operation that does not exist: %d %s", w.Code, w.Body)
	}
}

// operationState has the fields of an export that the tests check.
type operationState struct {
	OperationID     string
	OperationStatus string
	Message         string
	Metadata        struct {
		DownloadURL string
		RowCount    int
	}
}

func exportBody(t *testing.T, kind string, addresses, chains []string) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"type": kind, "options": map[string]any{"addresses": addresses, "includeChains": chains}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
