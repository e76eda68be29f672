package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"snowglobe/handlers/control"
)

// target is a request that is measured.
type target struct {
	name, method, path, body string
}

// request is the target's bytes on the wire.
func (t target) request(address string) []byte {
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		t.method, t.path, address, len(t.body), t.body)
}

// call is a JSON-RPC request to the C-Chain.
func call(method string, params ...any) target {
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": append([]any{}, params...)}) // strings and maps of them
	return target{method, http.MethodPost, "/ext/bc/C/rpc", string(body)}
}

// targets are the requests that are measured against a world.
func targets(w control.World) []target {
	c := w.Chains[0]
	last := c.Height
	token, alice := contract(c, "usdx"), w.Personas[0].Address
	balanceOf := "0x70a08231" + strings.Repeat("0", 24) + strings.ToLower(alice[2:])
	return []target{
		call("eth_blockNumber"),
		call("eth_getBlockByNumber", quantity(last/2), true),
		call("eth_getLogs", map[string]any{"address": token, "fromBlock": quantity(last - min(last, 999)), "toBlock": quantity(last)}),
		call("eth_call", map[string]any{"to": token, "data": balanceOf}, "latest"),
	}
}

func contract(c control.Chain, role string) string {
	for _, known := range c.Contracts {
		if known.Role == role {
			return known.Address
		}
	}
	return ""
}

func quantity(n uint64) string { return fmt.Sprintf("0x%x", n) }
