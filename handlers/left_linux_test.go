// A server stops working for clients that have closed their connection.

//go:build !race

package handlers_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// TestWorkEndsWhenItsClientLeaves: a server stops working on endless calls, on traces, and on a batch of searches, when their client is gone.
func TestWorkEndsWhenItsClientLeaves(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--quiet")
	const endless = `{"to":"0x000000000000000000000000000000000000c0de"},"latest"`
	const code = `{"0x000000000000000000000000000000000000c0de":{"code":"0x5b5f56"}}` // JUMPDEST PUSH0 JUMP
	call := `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[` + endless + `,` + code + `]}`
	logs := `{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[{"fromBlock":"0x0"}]}`
	for _, left := range []struct{ name, body string }{
		{"calls", "[" + strings.Repeat(call+",", 19) + call + "]"},
		{"a trace", `{"jsonrpc":"2.0","id":1,"method":"debug_traceCall","params":[` + endless + `,{"tracer":"prestateTracer","stateOverrides":` + code + `}]}`},
		{"searches", "[" + strings.Repeat(logs+",", 999) + logs + "]"},
	} {
		least := time.Hour
		for range 3 {
			c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Fprintf(c, "POST /ext/bc/C/rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(left.body), left.body); err != nil {
				t.Fatal(err)
			}
			time.Sleep(200 * time.Millisecond)
			if err := c.(*net.TCPConn).SetLinger(0); err != nil { // a reset says that nobody waits any more
				t.Fatal(err)
			}
			c.Close()
			time.Sleep(200 * time.Millisecond)
			before := busy(s.cmd.Process.Pid)
			time.Sleep(500 * time.Millisecond)
			if least = min(least, busy(s.cmd.Process.Pid)-before); least < 100*time.Millisecond {
				break
			}
		}
		if least >= 100*time.Millisecond {
			t.Errorf("%s: half a second after its client left the server works for %s", left.name, least)
		}
	}
	s.stopped(t)
}
