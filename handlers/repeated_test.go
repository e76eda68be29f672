// A server's cached results never outlive a change of the world.

package handlers_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// repeated lists calls whose results a chain caches.
var repeated = []string{
	`"eth_blockNumber"`, `"eth_chainId","params":[]`, `"eth_getBlockByNumber","params":["latest",true]`, `"eth_feeHistory","params":["0x4","latest",[50]]`,
	`"eth_getBalance","params":["0x000000000000000000000000000000000050e50e","latest"]`, `"eth_getLogs","params":[{"fromBlock":"latest"}]`,
	`"eth_getTransactionCount","params":["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","latest"]`, `"eth_getBlockReceipts","params":["latest"]`,
	`"eth_getCode","params":["0x000000000000000000000000000000000050e50e","latest"]`,
	`"eth_getStorageAt","params":["0x000000000000000000000000000000000050e50e","0x0","latest"]`, `"eth_getBlockByNumber","params":["0x3e7",false]`,
	`"eth_getBlockTransactionCountByNumber","params":["latest"]`, `"eth_getBlockByNumber","params":["nonsense",false]`,
	`"eth_getBalance","params":["0x000000000000000000000000000000000050e50e"]`,
}

// changes lists requests that change some of these results. %[1]x is a new four-digit number each time.
var changes = []string{
	`"eth_sendTransaction","params":[{"from":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","to":"0x000000000000000000000000000000000050e50e","value":"0x%x"}]`,
	`"anvil_setBalance","params":["0x000000000000000000000000000000000050e50e","0x%x"]`, `"anvil_setCode","params":["0x000000000000000000000000000000000050e50e","0x61%x00"]`,
	`"anvil_setStorageAt","params":["0x000000000000000000000000000000000050e50e","0x0","0x%064x"]`, `"evm_mine"`, `"anvil_reorg","params":[1,[]]`,
	`"anvil_setNonce","params":["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","0x%x"]`, `"evm_increaseTime","params":[%d]`, `"evm_snapshot"`, `"evm_revert"`,
}

// post sends a call, by default with the content type for which results are cached, and returns the body.
func (d *devnet) post(content, method string) string {
	d.Helper()
	answer, err := http.Post(d.rpc("http", "rpc"), content, strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":`+method+`}`))
	if err != nil {
		d.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "application/json" || answer.ContentLength != int64(len(text)) {
		d.Fatalf("%s: %d %v %s, %v", method, answer.StatusCode, answer.Header, text, err)
	}
	return string(text)
}

// TestWhoAsksAgainIsToldWhatIsSoNow changes a chain in every way, and expects fresh results from each call, with and without caching.
func TestWhoAsksAgainIsToldWhatIsSoNow(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	d := newDevnet(t, w, w.Chains[0])
	random, snapshots, different := rand.New(rand.NewPCG(5, 5)), []string{}, map[string]map[string]bool{}
	var calls int
	steps := 60
	if testing.Short() {
		t.Log("left out of a short run: all steps but 20")
		steps = 20
	}
	for step := range steps {
		change := changes[random.IntN(len(changes))]
		if step < len(changes) {
			change = changes[step]
		}
		switch {
		case change == `"evm_revert"` && len(snapshots) > 0:
			change += `,"params":[` + snapshots[len(snapshots)-1] + `]`
			snapshots = snapshots[:len(snapshots)-1]
		case strings.Contains(change, "%"):
			change = fmt.Sprintf(change, 0x1000+step)
		}
		said := d.post("application/json", change)
		if strings.Contains(said, `"error"`) && change != `"evm_revert"` {
			t.Errorf("%s: %s", change, said)
		}
		if change == `"evm_snapshot"` {
			var answer struct{ Result json.RawMessage }
			if err := json.Unmarshal([]byte(said), &answer); err != nil {
				t.Fatal(err)
			}
			snapshots = append(snapshots, string(answer.Result))
		}
		for _, call := range repeated {
			want := d.post("application/json; charset=utf-8", call)
			for range 3 {
				if got := d.post("application/json", call); got != want {
					t.Fatalf("after %s, which was answered with %s\n%s: %s\nwant %s", change, said, call, got, want)
				}
			}
			if different[call] == nil {
				different[call] = map[string]bool{}
			}
			different[call][want] = true
			calls += 3
		}
	}
	metrics, err := http.Get(d.url + "/ext/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer metrics.Body.Close()
	text, err := io.ReadAll(metrics.Body)
	var again int
	if _, after, found := strings.Cut(string(text), "\nsnowglobe_repeated_calls_total "); found {
		_, err = fmt.Sscan(after, &again)
	}
	if err != nil || again < calls/3 {
		t.Errorf("%d of %d calls were answered with what was kept, %v", again, calls, err)
	}
	for _, call := range repeated {
		if n := len(different[call]); n < 2 && strings.Contains(call, "latest") && !strings.Contains(call, "getLogs") {
			t.Errorf("%s was always answered alike", call)
		}
	}
}

// TestWhoAsksAgainUnderLoad reads from many clients while one makes blocks: a client that has seen a block keeps seeing it.
func TestWhoAsksAgainUnderLoad(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	d := newDevnet(t, w, w.Chains[0])
	number := func() (n int64) {
		var answer struct{ Result string }
		if err := json.Unmarshal([]byte(d.post("application/json", `"eth_blockNumber"`)), &answer); err != nil {
			t.Error(err)
		}
		_, err := fmt.Sscanf(answer.Result, "0x%x", &n)
		if err != nil {
			t.Error(err)
		}
		return n
	}
	made, done := number(), make(chan struct{})
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			for last := int64(0); ; {
				select {
				case <-done:
					return
				default:
				}
				now := number()
				if now < last {
					t.Errorf("block %d after block %d", now, last)
				}
				last = now
			}
		})
	}
	for range 100 {
		d.post("application/json", `"evm_mine"`)
		made++
		if now := number(); now != made {
			t.Errorf("block %d, want %d", now, made)
		}
	}
	close(done)
	asking.Wait()
}
