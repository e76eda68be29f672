// API keys and networks of cross-chain messages, which meet only in a whole server.

package handlers_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers"
	"snowglobe/handlers/rest"
)

// TestKeysOfOneNetworkReadItsMessages: the named chain determines the network of a list of messages.
func TestKeysOfOneNetworkReadItsMessages(t *testing.T) {
	t.Parallel()
	keys, err := rest.ReadKeys([]byte("- key: main\n  networks: [mainnet]\n- key: test\n  networks: [testnet]\n- key: both\n"))
	if err != nil {
		t.Fatal(err)
	}
	w := readWorld(t)
	h, err := handlers.New(w, handlers.Options{Network: "mainnet", Keys: keys, RequireKey: true})
	if err != nil {
		t.Fatal(err)
	}
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
				r := httptest.NewRequest(http.MethodGet, path+query, nil)
				r.Header.Set("x-service-api-key", key)
				w := httptest.NewRecorder()
				if h.ServeHTTP(w, r); w.Code != want {
					t.Errorf("%s%s by key %s: %d %s, want %d", path, query, key, w.Code, w.Body, want)
				}
			}
		}
	}
}
