// Permissions of a page by its origin, over a WebSocket.

package handlers_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	ethrpc "github.com/ethereum/go-ethereum/rpc"

	"snowglobe/handlers"
)

// TestPagesOverWebSocket: the page that opened a connection decides what each call may do, in batches too.
func TestPagesOverWebSocket(t *testing.T) {
	h, err := handlers.New(readWorld(t), handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	server := httptest.NewServer(h)
	defer server.Close()
	for origin, refused := range map[string]bool{"http://evil.example": true, "http://localhost:3000": false, "": false} {
		client, err := ethrpc.DialWebsocket(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http")+"/ext/bc/C/ws", origin)
		if err != nil {
			t.Fatal(err)
		}
		var number string
		if err := client.Call(&number, "eth_blockNumber"); err != nil || number == "" {
			t.Errorf("origin %q: %v, block %q", origin, err, number)
		}
		batch := []ethrpc.BatchElem{{Method: "eth_chainId", Result: new(string)}, {Method: "evm_noSuchMethod", Result: new(string)}, {Method: "eth_chainId", Result: new(string)}}
		if err := client.BatchCall(batch); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{client.Call(nil, "evm_noSuchMethod"), batch[1].Error} {
			var coded ethrpc.Error
			if !errors.As(err, &coded) || (coded.ErrorCode() == 4100) != refused || strings.Contains(err.Error(), "--allow-origin") != refused {
				t.Errorf("origin %q: %v", origin, err)
			}
		}
		if batch[0].Error != nil || batch[2].Error != nil {
			t.Errorf("origin %q: %v, %v", origin, batch[0].Error, batch[2].Error)
		}
		client.Close()
	}
}
