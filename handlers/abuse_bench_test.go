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

// abuse is something that no client means well with. It returns when the server has had time for it, whatever it answered.
type abuse struct {
	name string
	do   func(p *process, w control.World)
}

// abused is how long each abuse lasts, at most.
const abused = 8 * time.Second

// abuses measures the memory of a server that clients press as hard as they can, each time a new one.
func (r *report) abuses() {
	latest := func(method string, params ...any) func(*process, control.World) {
		return func(p *process, w control.World) { p.flood(16, call(method, params...)[0].bytes(p.address)) }
	}
	logs := call("eth_getLogs", map[string]any{"fromBlock": "0x0", "toBlock": "latest"})[0]
	all := []abuse{
		{"2,000 connections that say nothing", func(p *process, _ control.World) { p.silence(2000, "") }},
		{"1,000 bodies that never end", func(p *process, _ control.World) {
			p.silence(1000, fmt.Sprintf("POST /ext/bc/C/rpc HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n\r\n%s", p.address, strings.Repeat("[", 4000)))
		}},
		{"calls that call themselves, on every chain", recursion},
		{"batches of a hundred eth_getLogs of everything", func(p *process, _ control.World) {
			p.flood(16, request{http.MethodPost, logs.path, "[" + strings.Repeat(logs.body+",", 99) + logs.body + "]"}.bytes(p.address))
		}},
		{"traces of whole blocks", func(p *process, w control.World) {
			p.flood(16, call("debug_traceBlockByNumber", quantity(w.Chains[0].Height/2))[0].bytes(p.address))
		}},
		{"filters", latest("eth_newFilter", map[string]any{"fromBlock": "0x0"})},
		{"long queries, each another one", func(p *process, _ control.World) {
			long := strings.Repeat("x", 30_000)
			p.each(16, func(c *connection, n int) error {
				_, err := c.Write(request{http.MethodGet, fmt.Sprintf("/v1/chains?query=%d%s", n, long), ""}.bytes(p.address))
				return ignored(c, err)
			})
		}},
		{"WebSockets that never read", deaf},
	}
	r.table("abuse of default\tMiB then\tpeak MiB\tbudget", func(row func(string, ...any)) {
		for _, a := range all {
			p := r.serve("--profile", "default", "--db", r.world("default"), "--quiet")
			a.do(p, r.describe(p))
			now, peak := memory(p.cmd.Process.Pid)
			row("%s\t%.0f\t%.0f\t300", a.name, mebibytes(now), mebibytes(peak))
			p.stop()
		}
	})
}

// each has so many connections send something again and again.
func (p *process) each(connections int, send func(c *connection, n int) error) {
	var all sync.WaitGroup
	end := time.Now().Add(abused)
	for i := range connections {
		all.Go(func() {
			var c *connection
			for n := i; time.Now().Before(end); n += connections {
				if c == nil {
					var err error
					if c, err = dial(p.address); err != nil {
						continue
					}
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

// ignored reads an answer of any status.
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

// silence opens connections that say no more than the beginning.
func (p *process) silence(connections int, beginning string) {
	var open []*connection
	defer func() { closeAll(open) }()
	for range connections {
		c, err := dial(p.address)
		if err != nil {
			break
		}
		open = append(open, c)
		_, _ = c.Write([]byte(beginning)) // a server may have hung up
	}
	time.Sleep(abused / 4)
}

// recursion calls code that grows its memory and calls itself, on all chains at once.
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

// deaf asks for much over WebSockets and reads nothing of it.
func deaf(p *process, _ control.World) {
	ask := []byte(call("eth_getLogs", map[string]any{"fromBlock": "0x0", "toBlock": "latest"})[0].body)
	var all sync.WaitGroup
	end := time.Now().Add(abused)
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
