// make bench: the requests to measure.

package handlers_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"snowglobe/handlers/control"
)

// target is one row of the report: requests sent in turn. A repeated request is served from a cache, like a popular page; many different requests
// show the cost without one.
type target struct {
	name     string
	requests []request
}

type request struct {
	method, path, body string
}

// bytes of the request on the wire.
func (r request) bytes(address string) []byte {
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		r.method, r.path, address, len(r.body), r.body)
}

// call returns a JSON-RPC request to the C-Chain.
func call(method string, params ...any) []request {
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": append([]any{}, params...)}) // strings and maps of them
	return []request{{http.MethodPost, "/ext/bc/C/rpc", string(body)}}
}

// targets returns the requests to measure against a world.
func targets(w control.World) []target {
	c := w.Chains[0]
	token, last := contract(c, "usdx"), c.Height
	balanceOf := map[string]any{
		"to":   token,
		"data": "0x70a08231" + strings.Repeat("0", 24) + strings.ToLower(w.Personas[0].Address[2:]),
	}
	block := func(n uint64) []request { return call("eth_getBlockByNumber", quantity(n), true) }
	logs := func(first, last uint64) []request {
		return call("eth_getLogs", map[string]any{"address": token, "fromBlock": quantity(first), "toBlock": quantity(last)})
	}
	return []target{
		{"eth_blockNumber", call("eth_blockNumber")},
		{"eth_getBalance", call("eth_getBalance", w.Personas[0].Address, "latest")},
		{"eth_getBlockByNumber, one", block(last / 2)},
		{"eth_getBlockByNumber, many", heights(last, block)},
		{"eth_getLogs, a token in 1000 blocks", logs(last-min(last, 999), last)},
		{"eth_getLogs, a token in 10 blocks", heights(last-9, func(n uint64) []request { return logs(n, n+9) })},
		{"eth_call balanceOf, latest", call("eth_call", balanceOf, "latest")},
		{"eth_call balanceOf, many heights", heights(last, func(n uint64) []request { return call("eth_call", balanceOf, quantity(n)) })},
	}
}

// wholeTargets lists requests whose responses grow with the world, or draw on many blocks.
func wholeTargets(w control.World) []target {
	last := w.Chains[0].Height
	node := func(path, method string) []request {
		return []request{{http.MethodPost, path, `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{}}`}}
	}
	return []target{
		{"info.peers", node("/ext/info", "info.peers")},
		{"platform.getCurrentValidators", node("/ext/bc/P", "platform.getCurrentValidators")},
		{"eth_feeHistory, 32 blocks", heights(last, func(n uint64) []request { return call("eth_feeHistory", "0x20", quantity(n), []int{10, 50}) })},
		{"eth_getLogs, all in 100 blocks", heights(last-99, func(n uint64) []request {
			return call("eth_getLogs", map[string]any{"fromBlock": quantity(n), "toBlock": quantity(n + 99)})
		})},
		{"balances:listErc20, each of another block", heights(last, func(n uint64) []request {
			return []request{{http.MethodGet, "/v1/chains/43114/addresses/" + w.Personas[0].Address + "/balances:listErc20?blockNumber=" + strconv.FormatUint(n, 10), ""}}
		})},
	}
}

// heights makes requests for many blocks in the second half of a chain, scattered.
func heights(last uint64, make func(uint64) []request) (all []request) {
	half := last / 2
	for i := range min(half, 500) {
		all = append(all, make(last-i*7919%half)...)
	}
	return all
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
