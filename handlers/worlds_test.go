// Several worlds in one process: links, files, bounds, load.

package handlers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	ethrpc "github.com/ethereum/go-ethereum/rpc"

	"snowglobe/handlers"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/worlds"
	"snowglobe/seed"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

// many is a server with many worlds.
type many struct {
	*testing.T
	set    *worlds.Set
	server *httptest.Server
	end    func()
}

// newMany serves a world, and the further worlds that a test makes.
func newMany(t *testing.T, w *sim.World, o handlers.Options) *many {
	t.Helper()
	profiles, err := seed.ProfileSizes()
	if err != nil {
		t.Fatal(err)
	}
	until := seed.Options{Until: seed.DefaultUntil, Today: seed.DefaultUntil}
	o.Network, o.JournalSize = "mainnet", 1000
	if o.Many.Most == 0 {
		o.Many = handlers.Many{Most: 200, MostBytes: 1 << 30}
	}
	o.Many.Generator = worlds.Generator{Profiles: profiles, CheckUpgrades: until.CheckUpgrades, Generate: until.Another, GenerateWithL1: until.GenerateWithL1}
	set, err := handlers.NewWorlds(t.Context(), w, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		if err := set.Work(ctx); err != nil {
			t.Error(err)
		}
	}()
	m := &many{T: t, set: set, server: httptest.NewServer(set)}
	m.end = sync.OnceFunc(func() {
		stop()
		<-worked
		if err := set.Close(); err != nil {
			t.Error(err)
		}
		m.server.Close()
	})
	t.Cleanup(m.end)
	return m
}

// copied returns a world in its own file.
func copied(t *testing.T, path string) *sim.World {
	t.Helper()
	w, err := readWorld(t).CopyTo(t.Context(), path, store.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// ask sends a request and returns the response.
func (m *many) ask(method, path, body string) (status int, answer string) {
	m.Helper()
	r, err := http.NewRequestWithContext(m.Context(), method, m.server.URL+path, strings.NewReader(body))
	if err != nil {
		m.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		m.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		m.Fatal(err)
	}
	return a.StatusCode, string(text)
}

// want sends a request and expects a status.
func (m *many) want(status int, method, path, body string) string {
	m.Helper()
	got, answer := m.ask(method, path, body)
	if got != status {
		m.Errorf("%s %s %s: %d %.500s: want %d", method, path, body, got, answer, status)
	}
	return answer
}

// call calls JSON-RPC on a world's C-Chain and returns the result as JSON.
func (m *many) call(world, method, params string) string {
	m.Helper()
	answer := m.want(200, "POST", world+"/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`)
	var got struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal([]byte(answer), &got); err != nil || got.Error != nil {
		m.Errorf("%s of %s: %v %s", method, world, err, answer)
	}
	return string(got.Result)
}

// digest returns the current digest of a world.
func (m *many) digest(world string) string {
	m.Helper()
	var got struct{ Digest string }
	if err := json.Unmarshal([]byte(m.want(200, "GET", world+"/sim/health", "")), &got); err != nil {
		m.Error(err)
	}
	return got.Digest
}

// TestWorldsAreIndependent makes worlds from the head, from a snapshot and from a seed, and looks from each at the others.
func TestWorldsAreIndependent(t *testing.T) {
	w := copied(t, filepath.Join(t.TempDir(), "w.db"))
	defer w.Close()
	m := newMany(t, w, handlers.Options{})
	defer m.end()
	begin := m.digest("")
	m.call("", "evm_mine", "[]")
	m.call("", "evm_setAutomine", "[false]")
	pooled := m.call("", "eth_sendTransaction", `[{"from":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","to":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","value":"0x7"}]`)
	m.want(201, "POST", "/sim/snapshots", `{"name":"one"}`)
	then := m.digest("")
	m.call("", "evm_mine", "[]")
	now := m.digest("")

	m.want(201, "POST", "/sim/worlds", `{"name":"a"}`)
	m.want(201, "POST", "/w/a/sim/worlds", `{"name":"b","from":"1"}`)
	m.want(201, "POST", "/sim/worlds", `{"from":{"seed":1,"profile":"tiny"}}`)
	made := m.want(201, "POST", "/sim/worlds", `{"name":"c","from":{"seed":1,"profile":"tiny"},"upgrades":["helicon=never","fuji:helicon=2026-01-01T00:00:00Z"]}`)
	if !strings.Contains(made, `"from":"seed 1, profile tiny, helicon=never, fuji:helicon=2026-01-01T00:00:00Z"`) {
		t.Errorf("a world with upgrades of its own is %s", made)
	}
	for network, helicon := range map[string]string{"mainnet": "9999-12-01T00:00:00Z", "fuji": "2026-01-01T00:00:00Z"} {
		if shown := m.want(200, "POST", "/w/c/"+network+"/ext/info", `{"jsonrpc":"2.0","id":1,"method":"info.upgrades","params":{}}`); !strings.Contains(shown, `"heliconTime":"`+helicon+`"`) {
			t.Errorf("%s upgrades as in %s, want %s", network, shown, helicon)
		}
	}
	for world, digest := range map[string]string{"/w/a": now, "/w/b": then, "/w/world-1": begin, "/w/main": now} {
		if got := m.digest(world); got != digest {
			t.Errorf("%s is %s: want %s", world, got, digest)
		}
	}
	if waiting := m.call("/w/b", "eth_getTransactionByHash", "["+pooled+"]"); !strings.Contains(waiting, `"blockNumber":null`) {
		t.Errorf("in the world of the snapshot the waiting transaction is %s", waiting)
	}

	m.want(200, "POST", "/w/a/sim/clock", `{"advance":"1h"}`)
	m.want(200, "POST", "/w/a/sim/faults", `{"match":{"operation":"getChain"},"action":{"status":500}}`)
	m.want(200, "POST", "/w/a/sim/index", `{"lag":"3 blocks"}`)
	m.want(500, "GET", "/w/a/v1/chains/43114", "")
	m.want(200, "GET", "/w/b/v1/chains/43114", "")
	m.want(200, "GET", "/v1/chains/43114", "")
	if m.digest("") != now || m.digest("/w/b") != then || m.digest("/w/world-1") != begin || m.digest("/w/a") == now {
		t.Error("a change of one world changed another world, or nothing")
	}
	if list := m.want(200, "GET", "/w/a/sim/requests?operation=getChain", ""); strings.Count(list, `"id":`) != 1 || !strings.Contains(list, `"world":"a"`) || !strings.Contains(list, "/w/a/v1/chains/43114") {
		t.Errorf("the journal of a has %s", list)
	}
	if list := m.want(200, "GET", "/sim/requests?world=a", ""); !strings.Contains(list, `"requests":[]`) {
		t.Errorf("the main world's journal has %s", list)
	}
	m.want(200, "POST", "/w/a/sim/reset", "")
	if m.digest("/w/a") != begin || m.digest("") != now {
		t.Error("a reset changed another world")
	}
	if text := m.want(200, "GET", "/w/b/ext/metrics", ""); !strings.Contains(text, "\nsnowglobe_worlds 5\n") {
		t.Error("the metrics do not tell how many worlds there are")
	}
	m.want(204, "DELETE", "/w/a/sim/worlds/a", "") // by itself
	m.want(404, "GET", "/w/a/v1/chains", "")
	m.want(201, "POST", "/w/b/sim/worlds", `{"name":"a","ttl":"1s"}`)
	if m.digest("/w/a") != then {
		t.Error("the new world with an old name has another digest")
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if list := m.want(200, "GET", "/sim/worlds", ""); !strings.Contains(list, `"name":"a"`) {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("an idle world does not end: %s", list)
		}
	}
}

// TestLinksOfAWorldStayInIt follows the links in a world's responses.
func TestLinksOfAWorldStayInIt(t *testing.T) {
	m := newMany(t, readWorld(t), handlers.Options{})
	m.want(201, "POST", "/sim/worlds", `{"name":"a"}`)
	own, link := m.server.URL+"/w/a", regexp.MustCompile(`(https?|wss?)://`+regexp.QuoteMeta(strings.TrimPrefix(m.server.URL, "http://"))+`[^"'\s<>\\]*`)
	seen := 0
	for _, path := range []string{
		"/v1/chains", "/v2/chains", "/v1/chains/43114", "/sim/world", "/sim/health", "/sim/tokens.json", "/openapi.json", "/openrpc.json", "/",
		"/v1/chains/43114/tokens", "/v1/chains/43114/addresses/0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266/balances:listErc20", "/requests", "/docs",
	} {
		status, text := m.ask("GET", "/w/a"+path, "")
		if status == http.StatusNotFound {
			continue
		}
		text = regexp.MustCompile(`<p class="chips" aria-label="World">.*?</p>`).ReplaceAllString(text, "") // the links to other worlds
		for _, url := range link.FindAllString(text, -1) {
			seen++
			if root := "http" + strings.TrimPrefix(strings.TrimPrefix(url, "http"), "ws"); !strings.HasPrefix(root, own) {
				t.Errorf("%s names %s", path, url)
			}
		}
		if !strings.Contains(strings.Join(regexp.MustCompile(`(?:href|src|action|hx-get)="(/[^"]*)"`).FindAllString(text, -1), " "), `="/w/a`) && strings.HasPrefix(strings.TrimSpace(text), "<!doctype") {
			t.Errorf("%s is a page without links into its world", path)
		}
		for _, found := range regexp.MustCompile(`(?:href|src|action|hx-get|data-src)="(/[^"]*)"`).FindAllStringSubmatch(text, -1) {
			if !strings.HasPrefix(found[1], "/w/a/") && found[1] != "/w/a" {
				t.Errorf("%s leads to %s", path, found[1])
			} else if strings.HasPrefix(found[1], "/w/a/assets/") {
				m.want(200, "GET", found[1], "")
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d links were seen", seen)
	}
	client, err := ethrpc.DialWebsocket(t.Context(), "ws"+strings.TrimPrefix(own, "http")+"/ext/bc/C/ws", "")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	heads := make(chan json.RawMessage, 8)
	if _, err := client.EthSubscribe(t.Context(), heads, "newHeads"); err != nil {
		t.Fatal(err)
	}
	m.call("/w/a", "evm_mine", "[]")
	select {
	case <-heads:
	case <-time.After(time.Minute):
		t.Error("no head came over WebSocket")
	}
	noFollow := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for path, want := range map[string]string{"/docs/": "/w/a/docs", "/ext//info": "/w/a/ext/info"} {
		answer, err := noFollow.Get(own + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if got := answer.Header.Get("Location"); got != want {
			t.Errorf("%s leads to %q: want %s", path, got, want)
		}
	}
	m.want(204, "DELETE", "/sim/worlds/a", "")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // go-ethereum's client hangs on a connection that closes while it sends
	defer cancel()
	if err := client.CallContext(ctx, nil, "eth_blockNumber"); err == nil {
		t.Error("the WebSocket of a world that ended still answers")
	}
}

// TestWorldsOfAnExposedServer need permission to be made and deleted.
func TestWorldsOfAnExposedServer(t *testing.T) {
	exposed := newMany(t, readWorld(t), handlers.Options{Permit: permit.Rule{Exposed: true}})
	for _, method := range []string{"POST", "DELETE"} {
		path := map[string]string{"POST": "/sim/worlds", "DELETE": "/sim/worlds/a"}[method]
		if answer := exposed.want(403, method, path, `{"name":"a"}`); !strings.Contains(answer, "--allow-control") {
			t.Error(answer)
		}
	}
}

// TestManyWorldsUnderLoad has as many worlds as goroutines; each goroutine reads and changes its own, and sees nothing of the others.
func TestManyWorldsUnderLoad(t *testing.T) {
	n := 50
	if testing.Short() {
		t.Log("left out of a short run: all worlds but 5")
		n = 5
	}
	m := newMany(t, readWorld(t), handlers.Options{})
	begin := m.digest("")
	var wait sync.WaitGroup
	digests := make([]string, n)
	for i := range n {
		wait.Go(func() {
			name := fmt.Sprintf("w%d", i)
			world := "/w/" + name
			m.want(201, "POST", "/sim/worlds", `{"name":"`+name+`"}`)
			to := fmt.Sprintf("0x%040x", 0xabcdef0000+i)
			for range 3 {
				m.call(world, "eth_sendTransaction", `[{"from":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","to":"`+to+`","value":"0x`+fmt.Sprintf("%x", i+1)+`"}]`)
			}
			if got, want := m.call(world, "eth_getBalance", `["`+to+`","latest"]`), fmt.Sprintf(`"%#x"`, 3*(i+1)); got != want {
				t.Errorf("%s: the balance is %s: want %s", name, got, want)
			}
			other := fmt.Sprintf("0x%040x", 0xabcdef0000+(i+1)%n)
			if got := m.call(world, "eth_getBalance", `["`+other+`","latest"]`); got != `"0x0"` {
				t.Errorf("%s: another's balance is %s", name, got)
			}
			if list := m.want(200, "GET", world+"/v1/chains/43114/addresses/"+to+"/transactions?pageSize=10", ""); strings.Count(list, `"nativeTransaction"`) != 3 {
				t.Errorf("%s: the transactions are %s", name, list)
			}
			for _, path := range []string{"/v1/networks/mainnet/validators", "/v2/chains/43114/metrics/txCount?timeInterval=day", "/sim/world", "/"} {
				m.want(200, "GET", world+path, "")
			}
			digests[i] = m.digest(world)
		})
	}
	wait.Wait()
	if m.digest("") != begin {
		t.Error("the main world changed")
	}
	if slices.Sort(digests); len(slices.Compact(digests)) != n {
		t.Error("two worlds are the same")
	}
	for i := range n {
		m.want(204, "DELETE", fmt.Sprintf("/sim/worlds/w%d", i), "")
	}
	if list := m.want(200, "GET", "/sim/worlds", ""); bytes.Count([]byte(list), []byte(`"name"`)) != 1 {
		t.Errorf("the worlds are %s", list)
	}
}
