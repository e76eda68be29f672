package server_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"snowglobe/handlers"
	"snowglobe/handlers/server"
)

// TestKeysOfOneNetworkExportThatNetwork: the networks of an export are those of the chains in its body.
func TestKeysOfOneNetworkExportThatNetwork(t *testing.T) {
	keys, err := handlers.ReadKeys([]byte("- key: own\n  networks: [mainnet]\n"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := server.New(tinyWorld(t), server.Options{Network: "mainnet", Keys: keys, RequireKey: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind, address, chain string
		status               int
	}{
		{"TRANSACTION_EXPORT_EVM", "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "43114", 200},
		{"TRANSACTION_EXPORT_EVM", "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "43113", 403},
		{"TRANSACTION_EXPORT_PRIMARY_NETWORK", "avax15428vq2uzwhm3taey9sr9x5vm6tk78ewvkckhy", "p-chain", 200},
		{"TRANSACTION_EXPORT_PRIMARY_NETWORK", "fuji15428vq2uzwhm3taey9sr9x5vm6tk78ewqyufmm", "p-chain", 403},
		{"TRANSACTION_EXPORT_PRIMARY_NETWORK", "nobody", "q-chain", 400},
	} {
		body := exportBody(t, c.kind, []string{c.address}, []string{c.chain})
		r := httptest.NewRequest(http.MethodPost, "/v1/operations/transactions:export", strings.NewReader(body))
		r.Header.Set("x-service-api-key", "own")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
}
