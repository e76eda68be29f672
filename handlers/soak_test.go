// The built program serves clients of every kind for an hour.

//go:build long && !race

package handlers_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/rpc"
)

var soakTime = flag.Duration("soak", time.Hour, "how long TestSoak has the program work")

// soak is a server that works for long, and its clients.
type soak struct {
	*testing.T
	s       *started
	until   time.Time
	working sync.RWMutex // locked for writing while nobody may ask
	asked   atomic.Int64
}

// resources lists what a process must not use up, by the names in /ext/metrics.
var resources = []struct {
	name  string
	more  float64 // allowed growth, as a fraction
	extra float64 // and an absolute amount on top
}{
	{"process_resident_memory_bytes", 0.25, 16 << 20},
	{"go_goroutines", 0, 10},
	{"process_open_fds", 0, 5},
}

// TestSoak lets clients of every kind come and go for an hour. At the end the program uses no more than after five minutes.
func TestSoak(t *testing.T) {
	k := &soak{T: t, s: start(t, t.TempDir(), "--quiet", "--db", "w.db"), until: time.Now().Add(*soakTime)}
	paths := []string{
		"/v1/chains", "/v1/chains/43114/blocks?pageSize=50", "/v1/chains/43114/addresses/0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266/transactions?pageSize=20",
		"/v1/chains/43114/addresses/0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266/balances:listErc20", "/v1/networks/mainnet/validators",
		"/v1/networks/mainnet/blockchains/p-chain/transactions", "/v2/chains/43114/metrics/txCount?timeInterval=day", "/sim/world", "/sim/requests?limit=20",
		"/", "/messages", "/requests", "/ext/health", "/openapi.json",
	}
	var all sync.WaitGroup
	work := func(n int, once func(random *rand.Rand)) {
		for i := range n {
			random := rand.New(rand.NewPCG(24, uint64(i)))
			all.Go(func() {
				for !t.Failed() && time.Now().Before(k.until) {
					k.working.RLock()
					once(random)
					k.working.RUnlock()
				}
			})
		}
	}
	work(4, func(random *rand.Rand) { k.ask("GET", paths[random.IntN(len(paths))], "") })
	work(2, func(*rand.Rand) {
		k.call("eth_sendTransaction", `[{"from":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","to":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","value":"0x1"}]`)
	})
	work(1, k.goBack)
	work(1, k.makeWorld)
	work(2, k.subscribe)
	work(1, k.watch)
	time.Sleep(*soakTime / 12)
	early := k.resources()
	for time.Now().Before(k.until) && !t.Failed() {
		time.Sleep(*soakTime / 12)
		t.Logf("%d requests; %v", k.asked.Load(), k.resources())
	}
	all.Wait()
	if t.Failed() {
		t.Fatal(k.s.banner)
	}
	late := k.resources()
	for _, r := range resources {
		if most := early[r.name]*(1+r.more) + r.extra; late[r.name] > most || early[r.name] == 0 {
			t.Errorf("%s: %.0f at first, %.0f in the end", r.name, early[r.name], late[r.name])
		}
	}
	t.Logf("%d requests; at first %v, in the end %v", k.asked.Load(), early, late)
	k.s.stopped(t)
}

func (k *soak) ask(method, path, body string) string {
	for {
		k.asked.Add(1)
		r, err := http.NewRequestWithContext(k.Context(), method, k.s.url+path, strings.NewReader(body))
		if err != nil {
			k.Error(err)
			return ""
		}
		r.Header.Set("content-type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			k.Error(err)
			return ""
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode == http.StatusServiceUnavailable && answer.Header.Get("Retry-After") != "" && strings.Contains(string(text), "went back") {
			continue // a slow machine had not answered when the world was reverted
		}
		if err != nil || answer.StatusCode >= 400 {
			k.Errorf("%s %s: %s %s %v", method, path, answer.Status, text, err)
		}
		return string(text)
	}
}

func (k *soak) call(method, params string) string {
	text := k.ask("POST", "/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`)
	if strings.Contains(text, `"error":`) {
		k.Errorf("%s: %s", method, text)
	}
	return text
}

// goBack changes the world, moves its clock, and reverts; sometimes it resets, so that the world does not grow.
func (k *soak) goBack(random *rand.Rand) {
	if random.IntN(10) == 0 {
		k.ask("POST", "/sim/reset", "")
		return
	}
	_, id, _ := strings.Cut(k.call("evm_snapshot", `[]`), `"result":`)
	k.call("anvil_mine", `["0x5"]`)
	k.ask("POST", "/sim/clock", `{"advance":"5h","populate":true}`)
	if random.IntN(2) == 0 {
		id, _, _ = strings.Cut(id, "}")
		k.call("evm_revert", "["+id+"]")
	}
	time.Sleep(50 * time.Millisecond)
}

func (k *soak) makeWorld(random *rand.Rand) {
	name := fmt.Sprintf("soak-%x", random.Uint64())
	k.ask("POST", "/sim/worlds", `{"name":"`+name+`"}`)
	for _, path := range []string{"/v1/chains/43114/blocks", "/", "/sim/world"} {
		k.ask("GET", "/w/"+name+path, "")
	}
	k.ask("DELETE", "/sim/worlds/"+name, "")
	time.Sleep(100 * time.Millisecond)
}

// subscribe listens to some blocks, and leaves with or without unsubscribing.
func (k *soak) subscribe(random *rand.Rand) {
	client, err := rpc.DialContext(k.Context(), "ws"+strings.TrimPrefix(k.s.url, "http")+"/ext/bc/C/ws")
	if err != nil {
		k.Error(err)
		return
	}
	defer client.Close()
	heads := make(chan any, 100)
	subscription, err := client.EthSubscribe(k.Context(), heads, "newHeads")
	if err != nil {
		k.Error(err)
		return
	}
	leave := time.After(3 * time.Second)
	for range random.IntN(5) {
		select {
		case <-heads:
		case <-leave:
			return
		}
	}
	if random.IntN(2) == 0 {
		subscription.Unsubscribe()
	}
}

// watch reads some lines of the event stream.
func (k *soak) watch(random *rand.Rand) {
	ctx, cancel := context.WithTimeout(k.Context(), 2*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", k.s.url+"/sim/events", nil)
	if err != nil {
		k.Error(err)
		return
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return // it took longer than the client waited
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for range random.IntN(30) {
		lines.Scan()
	}
}

// resources reads the program's resources while it has no clients.
func (k *soak) resources() map[string]float64 {
	k.working.Lock()
	defer k.working.Unlock()
	http.DefaultClient.CloseIdleConnections()
	time.Sleep(2 * time.Second) // some things end by themselves
	all := map[string]float64{}
	for line := range strings.Lines(k.ask("GET", "/ext/metrics", "")) {
		for _, r := range resources {
			var value float64
			if n, _ := fmt.Sscanf(line, r.name+" %g", &value); n == 1 {
				all[r.name] = value
			}
		}
	}
	return all
}
