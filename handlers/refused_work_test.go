// Exports, webhooks and connections while statements fail.

package handlers_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/rpc"

	"snowglobe/handlers"
	"snowglobe/sim"
)

// failing is a server with all its background work, whose world's file refuses statements.
type failing struct {
	*many
	w   *sim.World
	log *failures

	subscribes bool // there are subscriptions, which read beside requests

	mu     sync.Mutex
	seen   map[string]bool
	failed string
}

func newFailing(t *testing.T) *failing {
	f := &failing{w: tinyWorld(t), log: &failures{}}
	f.many = newMany(t, f.w, handlers.Options{Log: slog.New(f.log)})
	return f
}

// exportAll returns bodies that export everything the personas of a world did, on every EVM chain and on the primary network.
func exportAll(t *testing.T, world string) (evm, primary string) {
	t.Helper()
	var w struct {
		Chains   []struct{ ChainID string }
		Personas []struct {
			Address   string
			Addresses map[string]string
		}
	}
	if err := json.Unmarshal([]byte(world), &w); err != nil || len(w.Personas) == 0 {
		t.Fatal(err)
	}
	var accounts, owners, chains []string
	for _, p := range w.Personas {
		accounts = append(accounts, p.Address)
		owners = append(owners, p.Addresses["mainnet"], p.Addresses["fuji"])
	}
	for _, c := range w.Chains {
		chains = append(chains, c.ChainID)
	}
	return exportBody(t, "TRANSACTION_EXPORT_EVM", accounts, chains),
		exportBody(t, "TRANSACTION_EXPORT_PRIMARY_NETWORK", owners, []string{"p-chain", "x-chain", "c-chain"})
}

// eachStatement repeats an action while each of its statements fails once, one after another, until none is left. A statement that runs several times
// counts as several, up to a limit.
func (f *failing) eachStatement(least, times int, do func()) {
	f.Helper()
	f.mu.Lock()
	f.seen = map[string]bool{}
	f.mu.Unlock()
	refused := 0
	for ; ; refused++ {
		f.mu.Lock()
		f.failed = ""
		counts := map[string]int{}
		f.mu.Unlock()
		f.w.DB.Caches().Suspend()
		f.w.DB.FailStatements(func(text string) bool {
			f.mu.Lock()
			defer f.mu.Unlock()
			if f.failed != "" {
				return false
			}
			whose := text
			if f.subscribes && strings.Contains(string(debug.Stack()), "subscribeAPI") { // it reads beside a request that runs the same statements
				whose += " for a subscription"
			}
			counts[whose] = min(counts[whose]+1, times)
			name := fmt.Sprint(counts[whose], " ", whose)
			if f.seen[name] || !sampled(3, name) {
				return false
			}
			f.failed, f.seen[name] = text, true
			return true
		})
		do()
		f.w.DB.FailStatements(nil)
		if f.now() == "" || f.Failed() {
			break
		}
		if lines := strings.Join(f.log.take(), "\n"); !strings.Contains(lines, "this_statement_fails") {
			f.Errorf("without %.200s: the log has %q", f.now(), lines)
		}
	}
	f.Logf("%d statements refused", refused)
	if !testing.Short() && refused < least {
		f.Errorf("only %d statements were refused, want %d", refused, least)
	}
}

// now returns the statement that failed, if one already has.
func (f *failing) now() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

// until polls until a condition holds.
func (f *failing) until(what string, holds func() bool) {
	f.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			f.Fatalf("without %.200s: %s", f.now(), what)
		}
	}
}

// steady sends a request until the response has no internal failure. Earlier responses must contain none of the database's words.
func (f *failing) steady(method, path, body string) string {
	f.Helper()
	for {
		status, answer := f.ask(method, path, body)
		if status != http.StatusInternalServerError && !strings.Contains(answer, `"code":-32603`) {
			return answer
		}
		if found := engineWords.FindString(answer); found != "" || f.now() == "" {
			f.Fatalf("%s: without %.200s: %d %s", path, f.now(), status, answer)
		}
	}
}

// TestExportsEndThoughStatementsFail: an export during which the file refuses a statement has the same rows as any other, or ends as failed in the
// program's own words; the next one is complete.
func TestExportsEndThoughStatementsFail(t *testing.T) {
	t.Parallel()
	f := newFailing(t)
	evm, primary := exportAll(t, f.want(200, "GET", "/sim/world", ""))
	wanted := map[string]string{}
	export := func(body string) {
		var o struct {
			OperationID, OperationStatus string
			Metadata                     struct{ DownloadURL string }
		}
		if text := f.steady("POST", "/v1/operations/transactions:export", body); json.Unmarshal([]byte(text), &o) != nil || o.OperationID == "" {
			t.Fatal(text)
		}
		answer := ""
		f.until("the export stands still: "+o.OperationID, func() bool {
			answer = f.steady("GET", "/v1/operations/"+o.OperationID, "")
			return json.Unmarshal([]byte(answer), &o) == nil && o.OperationStatus != "RUNNING"
		})
		switch {
		case o.OperationStatus == "COMPLETED":
			file := f.steady("GET", strings.TrimPrefix(o.Metadata.DownloadURL, f.server.URL), "")
			if wanted[body] == "" {
				wanted[body] = file
			}
			if file != wanted[body] || len(file) < 1000 {
				t.Errorf("without %.200s: the export has %d bytes, want %d", f.now(), len(file), len(wanted[body]))
			}
		case f.now() == "" || !strings.Contains(answer, "the simulator failed; its log has the cause under operation "+o.OperationID) || engineWords.MatchString(answer):
			t.Errorf("without %.200s: %s", f.now(), answer)
		}
	}
	export(evm)
	export(primary)
	f.eachStatement(15, 1, func() { export(evm) })
	f.eachStatement(5, 1, func() { export(primary) })
}

// TestWebhooksTellThoughStatementsFail: receivers learn of everything that happens while the file refuses a statement, without the database's words,
// and of everything after the file has recovered.
func TestWebhooksTellThoughStatementsFail(t *testing.T) {
	t.Parallel()
	f := newFailing(t)
	var mu sync.Mutex
	told := map[string]bool{}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var m struct {
			Event struct{ Transaction struct{ TxHash string } }
		}
		if err != nil || json.Unmarshal(body, &m) != nil || engineWords.Match(body) {
			t.Errorf("%v %s", err, body)
		}
		mu.Lock()
		defer mu.Unlock()
		told[m.Event.Transaction.TxHash] = true
	}))
	t.Cleanup(receiver.Close)
	from, to := good["address"], "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
	f.want(201, "POST", "/v1/webhooks", text(map[string]any{"url": receiver.URL, "chainId": "43114", "eventType": "address_activity",
		"metadata": map[string]any{"addresses": []string{to}}, "includeLogs": true, "includeInternalTxs": true}))
	f.eachStatement(15, 1, func() {
		var sent struct{ Result string }
		answer := f.steady("POST", "/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":1,"method":"eth_sendTransaction","params":[{"from":"`+from+`","to":"`+to+`","value":"0x1"}]}`)
		if json.Unmarshal([]byte(answer), &sent) != nil || sent.Result == "" {
			t.Fatalf("without %.200s: %s", f.now(), answer)
		}
		f.until("nobody was told of "+sent.Result, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return told[sent.Result]
		})
	})
}

// TestConnectionsLastThoughStatementsFail: on an open connection, a call fails while the file refuses a statement, and succeeds when repeated. A
// subscription either delivers the event or ends with its connection; the next one delivers.
func TestConnectionsLastThoughStatementsFail(t *testing.T) {
	t.Parallel()
	f := newFailing(t)
	f.subscribes = true
	dial := func() *rpc.Client {
		c, err := rpc.DialContext(t.Context(), "ws"+strings.TrimPrefix(f.server.URL, "http")+"/ext/bc/C/ws")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	from, to := good["address"], "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
	for _, call := range [][]any{
		{"eth_getBalance", from, "latest"}, {"eth_getBlockByNumber", "0x2", true}, {"eth_getLogs", map[string]any{"fromBlock": "0x0"}},
		{"eth_call", map[string]any{"from": from, "to": to}, "latest"}, {"debug_traceBlockByNumber", "0x3"},
	} {
		method, params := call[0].(string), call[1:]
		c := dial()
		var want json.RawMessage
		if err := c.CallContext(t.Context(), &want, method, params...); err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		f.eachStatement(1, 1, func() {
			for {
				var got json.RawMessage
				err := c.CallContext(t.Context(), &got, method, params...)
				if err == nil && string(got) != string(want) {
					t.Fatalf("%s: without %.200s: %.300s, want %.300s", method, f.now(), got, want)
				}
				if err == nil {
					return
				}
				if failure, ok := err.(rpc.Error); !ok || failure.ErrorCode() != -32603 || engineWords.MatchString(err.Error()) || f.now() == "" {
					t.Fatalf("%s: without %.200s: %v", method, f.now(), err)
				}
			}
		})
	}
	endings := 0
	var full chan json.RawMessage
	var ended <-chan error
	follow := func() {
		c := dial()
		full = make(chan json.RawMessage, 10)
		s, err := c.EthSubscribe(t.Context(), full, "newAcceptedTransactions", true)
		if err != nil {
			t.Fatalf("without %.200s: %v", f.now(), err)
		}
		ended = s.Err()
	}
	follow()
	f.eachStatement(10, 5, func() {
		var sent struct{ Result string }
		for sent.Result == "" {
			answer := f.steady("POST", "/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":1,"method":"eth_sendTransaction","params":[{"from":"`+from+`","to":"`+to+`","value":"0x1"}]}`)
			if json.Unmarshal([]byte(answer), &sent) != nil || sent.Result == "" {
				t.Fatalf("without %.200s: %s", f.now(), answer)
			}
			for told := false; !told; {
				select {
				case tx := <-full:
					told = strings.Contains(string(tx), sent.Result)
				case <-ended:
					if f.now() == "" {
						t.Fatal("a subscription ended though nothing failed")
					}
					follow()
					endings++
					told, sent.Result = true, ""
				case <-time.After(20 * time.Second):
					t.Fatalf("without %.200s: nobody was told of %s, and no connection ended", f.now(), sent.Result)
				}
			}
		}
	})
	if !testing.Short() && endings == 0 {
		t.Error("no subscription met a failure")
	}
}
