// make bench: requests with words that no request had before, and one whose answer is never remembered.

package handlers_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"snowglobe/handlers/control"
)

// newWord is a request with a parameter that differs each time.
type newWord struct {
	name   string
	ask    func(n uint64) request
	anvil  bool // whether anvil has the data, too
	budget string
}

func newWords(w control.World, token string) []newWord {
	height, persona := w.Chains[0].Height, w.Personas[0].Address
	account := func(n uint64) string {
		return common.Address{0: 0xac, 1: byte(n >> 24), 2: byte(n >> 16), 3: byte(n >> 8), 4: byte(n)}.Hex()
	}
	method := func(name string, params func(n uint64) []any) func(n uint64) request {
		return func(n uint64) request { return call(name, params(n)...)[0] }
	}
	path := func(format string, word func(n uint64) uint64) func(n uint64) request {
		return func(n uint64) request {
			return request{http.MethodGet, fmt.Sprintf("/v1/chains/43114/"+format, word(n)), ""}
		}
	}
	block := func(n uint64) uint64 { return height - n*7919%height }
	slow := budget("eth_getBalance, eth_getStorageAt, each for a different account or slot")
	return []newWord{
		{"eth_getBalance", method("eth_getBalance", func(n uint64) []any { return []any{account(n), "latest"} }), true, slow},
		{"eth_getBalance, of another block", method("eth_getBalance", func(n uint64) []any { return []any{account(n), quantity(height - n%height)} }), false, slow},
		{"eth_getStorageAt", method("eth_getStorageAt", func(n uint64) []any { return []any{token, hexutil.EncodeUint64(n), "latest"} }), true, slow},
		{"eth_call balanceOf", method("eth_call", func(n uint64) []any {
			return []any{map[string]string{"to": token, "data": "0x70a08231" + strings.Repeat("0", 24) + account(n)[2:]}, "latest"}
		}), true, budget("eth_call, each for a different account")},
		{"eth_gasPrice", method("eth_gasPrice", func(uint64) []any { return []any{} }), true, ""},
		{"full block", method("eth_getBlockByNumber", func(n uint64) []any { return []any{quantity(block(n)), true} }), false,
			budget("full blocks, a different one each time")},
		{"REST block", path("blocks/%d", block), false, ""},
		{"REST list of 10", path("addresses/"+persona+"/transactions:listNative?pageSize=10&endBlock=%d", block), false, ""},
		{"REST newest transactions", path("transactions?pageSize=10&_=%d", func(n uint64) uint64 { return n }), false, ""},
		{"REST ERC-20 balances", path("addresses/"+persona+"/balances:listErc20?blockNumber=%d", block), false, ""},
	}
}

// newWords measures first-time calls to the default world, alternating with a bare server that writes as many bytes, and with anvil if it is
// installed.
func (r *report) newWords() {
	p := r.serve("--profile", "default", "--db", r.world("default"))
	defer p.stop()
	world := r.describe(p)
	token := contract(world.Chains[0], "usdx")
	all := newWords(world, token)
	answers := make([]answer, len(all))
	for i, w := range all {
		answers[i] = r.first(p, w.ask(uint64(len(all))))
	}
	address, pid, stop := r.bare(answers)
	defer stop()
	anvil := r.anvilWith(p, token)
	r.table("16 connections, new words\tbytes\trequests/s\tCPU µs\tbare requests/s\tratio\tbudget\tanvil requests/s\tratio", func(row func(string, ...any)) {
		for i, w := range all {
			ours := side{p.address, p.cmd.Process.Pid, w.next(p.address, "")}
			o, b, ratio := r.compare(w.name, ours, side{address, pid, w.next(address, barePath(i))})
			beside := "\t"
			if anvil != nil && w.anvil {
				_, a, ratio := r.compare(w.name, ours, side{anvil.address, anvil.cmd.Process.Pid, w.next(anvil.address, "/")})
				beside = fmt.Sprintf("%.0f\t%.2f", a.perSecond, ratio)
			}
			row("%s\t%d\t%.0f\t%d\t%.0f\t%.2f\t%s\t%s", w.name, len(answers[i].Body), o.perSecond, o.cpu.Microseconds(), b.perSecond, ratio, w.budget, beside)
		}
	})
	if anvil != nil {
		anvil.stop()
	}
}

// next returns the function that makes ever new requests, all to one path unless the path is empty.
func (w newWord) next(address, path string) func(connection, n int) exchange {
	var asked atomic.Uint64
	return func(int, int) exchange {
		ask := w.ask(asked.Add(1))
		ask.path = cmp.Or(path, ask.path)
		return exchange{ask.bytes(address), nil}
	}
}

// anvilWith starts anvil with one of our world's contracts; nil if it is not installed.
func (r *report) anvilWith(p *process, contract string) *process {
	program := anvilProgram()
	if program == "" {
		return nil
	}
	var code struct{ Result string }
	if err := json.Unmarshal(r.first(p, call("eth_getCode", contract, "latest")[0]).Body, &code); err != nil {
		r.b.Fatal(err)
	}
	anvil := r.anvil(program)
	set := call("anvil_setCode", contract, code.Result)[0]
	set.path = "/"
	r.first(anvil, set)
	return anvil
}
