// make bench: deliveries to webhooks' receivers.

package handlers_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	toldTransactions = 10_000
	toldTogether     = 100 // in a batch
)

// webhooks measures how much webhooks slow down senders, and how quickly a receiver on this machine has every message. Runs with and without a dead
// receiver alternate, so that both see the same load of the machine.
func (r *report) webhooks() {
	const watched = "0x00000000000000000000000000000000000c0ffe"
	r.table(fmt.Sprintf("webhooks: %d transactions\tsent in s\tratio of batches\tdelivered in s\ttwice", toldTransactions), func(row func(string, ...any)) {
		calls := make([]string, toldTogether)
		for i := range calls {
			calls[i] = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"eth_sendTransaction","params":[{"from":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","to":"%s","value":"0x1"}]}`, i, watched)
		}
		batch := "[" + strings.Join(calls, ",") + "]"
		send := func(p *process) time.Duration {
			begin := time.Now()
			r.post(p, "/ext/bc/C/rpc", batch)
			return time.Since(begin)
		}
		watch := func(p *process, url string) {
			r.post(p, "/v1/webhooks", fmt.Sprintf(`{"eventType":"address_activity","url":"%s","chainId":"43114","metadata":{"addresses":["%s"]}}`, url, watched))
		}
		start := func(name string) *process {
			return r.serve("--profile", "tiny", "--quiet", "--db", filepath.Join(r.b.TempDir(), name))
		}

		none, dead := start("none.db"), start("dead.db")
		watch(dead, "http://127.0.0.1:1/dead")
		var without, with time.Duration
		var ratios []float64
		for range toldTransactions / toldTogether {
			x, y := send(none), send(dead)
			without, with, ratios = without+x, with+y, append(ratios, y.Seconds()/x.Seconds())
		}
		none.stop()
		dead.stop()
		slices.Sort(ratios)
		row("no webhook\t%.1f\t1\t\t", without.Seconds())
		row("a dead receiver\t%.1f\t%.2f\t\t", with.Seconds(), ratios[len(ratios)/2])

		var mu sync.Mutex
		seen, twice := map[string]bool{}, 0
		receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
			var message struct{ MessageID string }
			raw, err := io.ReadAll(q.Body)
			if err != nil || json.Unmarshal(raw, &message) != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if seen[message.MessageID] {
				twice++
			}
			seen[message.MessageID] = true
		}))
		defer receiver.Close()
		p := start("live.db")
		defer p.stop()
		watch(p, receiver.URL)
		begin := time.Now()
		for range toldTransactions / toldTogether {
			send(p)
		}
		sent := time.Since(begin)
		for all := 0; all < toldTransactions; time.Sleep(10 * time.Millisecond) {
			if time.Since(begin) > 5*time.Minute {
				r.b.Fatalf("%d of %d were delivered", all, toldTransactions)
			}
			mu.Lock()
			all = len(seen)
			mu.Unlock()
		}
		row("a receiver on this machine\t%.1f\t\t%.1f\t%d", sent.Seconds(), time.Since(begin).Seconds(), twice)
	})
}

// post sends JSON, which must be accepted.
func (r *report) post(p *process, path, body string) {
	answer, err := http.Post("http://"+p.address+path, "application/json", strings.NewReader(body))
	if err != nil {
		r.b.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode >= 300 || strings.Contains(string(text), `"error"`) {
		r.b.Fatalf("%s: %d %.300s %v", path, answer.StatusCode, text, err)
	}
}
