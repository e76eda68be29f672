// make bench: the memory of a running server under abuse.

package handlers_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"snowglobe/handlers/control"
)

// abuse is a hostile kind of load. It returns once the server has had time to deal with it, whatever the server answered.
type abuse struct {
	name string
	do   func(p *process, w control.World)
}

// allAbuses returns a server's abuses, chosen by its world.
func allAbuses(w control.World) []abuse {
	flood := func(body string) func(*process, control.World) {
		return func(p *process, _ control.World) {
			p.flood(16, request{http.MethodPost, "/ext/bc/C/rpc", body}.bytes(p.address))
		}
	}
	of := func(method string, params ...any) string { return call(method, params...)[0].body }
	logs, to := of("eth_getLogs", map[string]any{"fromBlock": "0x0", "toBlock": "latest"}), "0x000000000000000000000000000000000000c0de"
	endless := of("eth_call", map[string]any{"to": to}, "latest", map[string]any{to: map[string]any{"code": "0x5b600056"}})
	get := func(path, host string) []byte {
		return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, host)
	}
	each := func(ask func(p *process, n int) []byte) func(*process, control.World) {
		return func(p *process, _ control.World) {
			p.each(16, func(c *connection, n int) error {
				_, err := c.Write(ask(p, n))
				return ignored(c, err)
			})
		}
	}
	return []abuse{
		{"2,000 connections that say nothing", func(p *process, _ control.World) { p.silence(2000, "") }},
		{"1,000 bodies that never end", func(p *process, _ control.World) {
			p.silence(1000, fmt.Sprintf("POST /ext/bc/C/rpc HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n\r\n%s", p.address, strings.Repeat("[", 4000)))
		}},
		{"calls that call themselves, on every chain", recursion},
		{"eth_getLogs of everything", flood(logs)},
		{"batches of a hundred eth_getLogs of everything", flood("[" + strings.Repeat(logs+",", 99) + logs + "]")},
		{"batches of a thousand endless calls", flood("[" + strings.Repeat(endless+",", 999) + endless + "]")},
		{"traces of whole blocks", flood(of("debug_traceBlockByNumber", quantity(w.Chains[0].Height/2)))},
		{"filters", flood(of("eth_newFilter", map[string]any{"fromBlock": "0x0"}))},
		{"long queries, each another one", each(func(p *process, n int) []byte {
			return get(fmt.Sprintf("/v1/chains?query=%d%s", n, strings.Repeat("x", 30_000)), p.address)
		})},
		{"long hosts, each another one", each(func(_ *process, n int) []byte {
			return get("/v1/chains", fmt.Sprintf("%d%s.localhost", n, strings.Repeat("x", 60_000)))
		})},
		{"lists, each another one", each(func(p *process, n int) []byte {
			return get(fmt.Sprintf("/v1/chains/43114/transactions?pageSize=100&startTimestamp=%d", n), p.address)
		})},
		{"lists of Etherscan's shape, each another one", each(func(p *process, n int) []byte {
			return get(fmt.Sprintf("/api?module=logs&action=getLogs&fromBlock=%d&toBlock=latest&page=10&offset=1000", n), p.address)
		})},
		{"WebSockets that never read", deaf},
	}
}

// abuses measures the memory of a fresh server under each abuse, with clients that press as hard as they can.
func (r *report) abuses() {
	first := r.serve("--profile", "default", "--db", r.world("default"), "--quiet")
	w := r.describe(first)
	first.stop()
	r.table("abuse of default\tMiB then\tpeak MiB\tbudget", func(row func(string, ...any)) {
		limit := budget("memory under mixed load")
		for _, a := range append([]abuse{{"mixed load", mixedLoad}}, allAbuses(w)...) {
			p := r.serve("--profile", "default", "--db", r.world("default"), "--quiet")
			p.pressed = 8 * time.Second
			a.do(p, w)
			now, peak := memory(p.cmd.Process.Pid)
			row("%s\t%.0f\t%.0f\t%s", a.name, mebibytes(now), mebibytes(peak), limit)
			limit = budget("memory under abuse")
			p.stop()
		}
	})
}

// each opens a number of connections that each send something over and over.
func (p *process) each(connections int, send func(c *connection, n int) error) {
	var all sync.WaitGroup
	end := time.Now().Add(p.pressed)
	for i := range connections {
		all.Go(func() {
			var c *connection
			for n := i; time.Now().Before(end); n += connections {
				if c == nil {
					var err error
					if c, err = dial(p.address); err != nil {
						continue
					}
					_ = c.SetDeadline(end) // don't wait longer for an answer
				}
				if send(c, n) != nil {
					c.Close()
					c = nil
				}
			}
			if c != nil {
				c.Close()
			}
		})
	}
	all.Wait()
}

// ignored reads an answer with any status.
func ignored(c *connection, err error) error {
	if err != nil {
		return err
	}
	answer, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = c.body.ReadFrom(answer.Body)
	c.body.Reset()
	return err
}

// flood sends one request over and over.
func (p *process) flood(connections int, request []byte) {
	p.each(connections, func(c *connection, _ int) error {
		_, err := c.Write(request)
		return ignored(c, err)
	})
}

// silence opens connections and sends only the start of a request.
func (p *process) silence(connections int, beginning string) {
	var open []*connection
	defer func() { closeAll(open) }()
	for range connections {
		c, err := dial(p.address)
		if err != nil {
			break
		}
		open = append(open, c)
		_, _ = c.Write([]byte(beginning)) // the server may have hung up
	}
	time.Sleep(p.pressed / 4)
}

// recursion calls code that grows its memory and calls itself, on all chains at the same time.
func recursion(p *process, w control.World) {
	const code = "0x5f62010000525f5f5f5f5f305af1" // MSTORE at 64 KiB, CALL of itself with all gas
	var requests [][]byte
	for _, c := range w.Chains {
		to := "0x000000000000000000000000000000000000c0de"
		body := call("eth_call", map[string]any{"to": to}, "latest", map[string]any{to: map[string]any{"code": code}})[0].body
		requests = append(requests, request{http.MethodPost, "/ext/bc/" + c.BlockchainID + "/rpc", body}.bytes(p.address))
	}
	p.each(32, func(c *connection, n int) error {
		_, err := c.Write(requests[n%len(requests)])
		return ignored(c, err)
	})
}

// deaf requests a lot over WebSockets and never reads.
func deaf(p *process, _ control.World) {
	ask := []byte(call("eth_getLogs", map[string]any{"fromBlock": "0x0", "toBlock": "latest"})[0].body)
	var all sync.WaitGroup
	end := time.Now().Add(p.pressed)
	for range 32 {
		all.Go(func() {
			for time.Now().Before(end) {
				socket, _, err := websocket.DefaultDialer.Dial("ws://"+p.address+"/ext/bc/C/ws", nil)
				if err != nil {
					continue
				}
				for time.Now().Before(end) {
					_ = socket.SetWriteDeadline(end)
					if socket.WriteMessage(websocket.TextMessage, ask) != nil {
						break
					}
				}
				socket.Close()
			}
		})
	}
	all.Wait()
}

// mixedLoad lets clients request everything that the server offers.
func mixedLoad(p *process, w control.World) {
	all := mixedRequests(w)
	p.each(16, func(c *connection, n int) error {
		_, err := c.Write(all[n%len(all)](n).bytes(p.address))
		return ignored(c, err)
	})
}

// mixedRequests returns requests to every interface, with parameters that depend on a number.
func mixedRequests(w control.World) (all []func(n int) request) {
	for _, path := range []string{
		"/v1/chains/43114/addresses/{a}/balances:listErc20?blockNumber={n}", "/v1/chains/43114/addresses/{a}/transactions?pageSize={p}", "/v1/chains/43114/transactions?pageSize={p}",
		"/v1/chains/43114/blocks?pageSize={p}", "/v1/chains/43114/blocks/{n}", "/v1/chains/43114/addresses/{a}/transactions:listErc20?pageSize={p}", "/v1/networks/mainnet/validators?pageSize={p}",
		"/v1/networks/mainnet/delegators?pageSize={p}", "/v1/networks/mainnet/blockchains/p-chain/transactions?pageSize={p}", "/v1/networks/mainnet/blockchains/x-chain/transactions?pageSize={p}",
		"/v2/chains/43114/metrics/txCount?timeInterval=hour&pageSize={p}", "/v2/chains/43114/metrics/activeAddresses?timeInterval=day&pageSize={p}", "/v1/icm/messages?pageSize={p}",
		"/sim/world", "/", "/sim/explorer/43114/block/{n}", "/openapi.json", "/sim/requests?pageSize={p}",
	} {
		all = append(all, func(n int) request {
			persona := w.Personas[n%len(w.Personas)]
			return request{http.MethodGet, strings.NewReplacer("{a}", persona.Address, "{n}", fmt.Sprint(n%800), "{p}", fmt.Sprint(1+n%100)).Replace(path), ""}
		})
	}
	for _, c := range [][2]string{
		{"eth_blockNumber", `[]`}, {"eth_getBalance", `["{a}","{n}"]`}, {"eth_getBlockByNumber", `["{n}",true]`}, {"eth_getBlockReceipts", `["{n}"]`}, {"eth_feeHistory", `["0x20","{n}",[10,50]]`},
		{"eth_getLogs", `[{"fromBlock":"{n}","toBlock":"latest"}]`}, {"debug_traceBlockByNumber", `["{n}"]`}, {"eth_getProof", `["{a}",[],"{n}"]`}, {"eth_call", `[{"to":"{a}"},"{n}"]`},
	} {
		all = append(all, func(n int) request {
			params := strings.NewReplacer("{a}", w.Personas[n%len(w.Personas)].Address, "{n}", fmt.Sprintf("0x%x", 1+n%800)).Replace(c[1])
			return request{http.MethodPost, "/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":1,"method":"` + c[0] + `","params":` + params + `}`}
		})
	}
	for _, c := range [][2]string{{"platform.getCurrentValidators", "/ext/bc/P"}, {"info.peers", "/ext/info"}, {"platform.getHeight", "/ext/bc/P"}} {
		all = append(all, func(int) request {
			return request{http.MethodPost, c[1], `{"jsonrpc":"2.0","id":1,"method":"` + c[0] + `","params":{}}`}
		})
	}
	return all
}
