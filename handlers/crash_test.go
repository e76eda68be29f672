// The built program, killed while it works.

//go:build long && !race

package handlers_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/fixtures"
	"snowglobe/sim"
	"snowglobe/sim/store/dbfile"
	"snowglobe/sim/verify"
)

var kills = flag.Int("kills", 500, "how often TestCrashes kills the program")

// crash is one run of the program that ends in kill -9, with the responses that clients got before.
type crash struct {
	*testing.T
	folder string
	round  int
	s      *started
	tiny   *sim.World
	told   int                  // how often a client was told something
	kill   func()               // starts the countdown to the kill
	after  []func(w *sim.World) // what must hold in the file
	later  []func(s *started)   // what must hold with the next server
}

// activities keep the program busy until it is killed.
var activities = []struct {
	name string
	span time.Duration // within which the kill comes
	do   func(c *crash)
}{
	{"generation", 900 * time.Millisecond, nil},
	{"sending", 200 * time.Millisecond, (*crash).sends},
	{"mining", 200 * time.Millisecond, (*crash).mines},
	{"moving time", 300 * time.Millisecond, (*crash).moves},
	{"snapshots", 60 * time.Millisecond, (*crash).marks},
	{"going back", 100 * time.Millisecond, (*crash).goesBack},
	{"copies", 400 * time.Millisecond, (*crash).copies},
	{"exports", 150 * time.Millisecond, (*crash).exports},
	{"webhooks", 200 * time.Millisecond, (*crash).promises},
}

// TestCrashes kills the program during each of its activities in turn. After each kill the file opens, verifies, and contains everything that clients
// were told.
func TestCrashes(t *testing.T) {
	random := rand.New(rand.NewPCG(23, uint64(*kills)))
	tiny := readWorld(t)
	told := make([]int, len(activities))
	var folder string
	for round := range *kills {
		a := activities[round%len(activities)]
		if round%(3*len(activities)) == 0 { // worlds grow
			folder = t.TempDir()
		}
		c := &crash{T: t, folder: folder, round: round, tiny: tiny}
		delay := time.Duration(random.Int64N(int64(a.span)))
		if a.do == nil {
			c.generates(delay)
		} else {
			c.serves(a.do, delay)
		}
		told[round%len(activities)] += c.told
		if t.Failed() {
			t.Fatalf("round %d: %s, killed after %v", round, a.name, delay)
		}
	}
	for i, a := range activities {
		if t.Logf("%s: clients were told of %d", a.name, told[i]); told[i] == 0 && a.do != nil && *kills >= 5*len(activities) {
			t.Errorf("%s: no client got a response", a.name)
		}
	}
}

func (c *crash) path() string { return filepath.Join(c.folder, "w.db") }

// serves lets a server work until it is killed, and checks the file that remains.
func (c *crash) serves(do func(*crash), delay time.Duration) {
	c.s = start(c.T, c.folder, "--quiet", "--db", "w.db")
	c.kill = sync.OnceFunc(func() { time.AfterFunc(delay, func() { _ = c.s.cmd.Process.Kill() }) })
	if c.round%2 == 0 {
		c.kill()
	}
	do(c)
	_ = c.s.cmd.Process.Kill() // in case something else ended it
	_ = c.s.cmd.Wait()
	w, err := sim.Open(c.Context(), c.path())
	if err != nil {
		c.Fatal(err)
	}
	for _, check := range c.after {
		check(w)
	}
	if _, err := verify.Verify(c.Context(), w, nil); err != nil {
		c.Error(err)
	}
	if err := w.Close(); err != nil {
		c.Error(err)
	}
	if len(c.later) > 0 {
		s := start(c.T, c.folder, "--quiet", "--db", "w.db")
		for _, check := range c.later {
			check(s)
		}
		s.stopped(c.T)
	}
}

// tell notes that a client got a response. Every other server is killed some time after the first one.
func (c *crash) tell() {
	c.told++
	c.kill()
}

// ask sends a request. ok is false if the server dies before the response is complete.
func (c *crash) ask(method, path, body string) (text string, ok bool) {
	c.Helper()
	r, err := http.NewRequestWithContext(c.Context(), method, c.s.url+path, strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	r.Header.Set("content-type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", false
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", false
	}
	if answer.StatusCode >= 400 {
		c.Errorf("%s %s: %s %s", method, path, answer.Status, all)
		return "", false
	}
	return string(all), true
}

// call calls the C-Chain's JSON-RPC and decodes into answer.
func (c *crash) call(answer any, method, params string) (ok bool) {
	c.Helper()
	text, ok := c.ask("POST", "/ext/bc/C/rpc", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`)
	if !ok {
		return false
	}
	var said struct {
		Result json.RawMessage
		Error  *struct{ Message string }
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil || said.Error != nil || json.Unmarshal(said.Result, answer) != nil {
		c.Errorf("%s: %s", method, text)
		return false
	}
	return true
}

// pay sends one wei and returns the transaction's hash.
func (c *crash) pay(to common.Address) (hash common.Hash, ok bool) {
	ok = c.call(&hash, "eth_sendTransaction", fmt.Sprintf(`[{"from":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","to":"%s","value":"0x1"}]`, to))
	return hash, ok
}

func (c *crash) sends() {
	told := map[common.Hash]common.Hash{}
	for {
		hash, ok := c.pay(someone)
		var receipt struct{ BlockHash common.Hash }
		if !ok || !c.call(&receipt, "eth_getTransactionReceipt", `["`+hash.Hex()+`"]`) {
			break
		}
		told[hash] = receipt.BlockHash
		c.tell()
	}
	c.after = append(c.after, func(w *sim.World) {
		chain := w.NetworkNamed(fixtures.MainnetName).CChain()
		for hash, block := range told {
			if found, err := chain.Transaction(c.Context(), hash); err != nil || found.Block.Hash != block {
				c.Errorf("transaction %s of block %s: %v", hash, block, err)
			}
		}
	})
}

func (c *crash) mines() {
	var told, now string
	for c.call(new(any), "anvil_mine", `["0x7"]`) && c.call(&now, "eth_blockNumber", `[]`) {
		told = now
		c.tell()
	}
	c.after = append(c.after, func(w *sim.World) {
		head, err := w.NetworkNamed(fixtures.MainnetName).CChain().Head(c.Context())
		if now := fmt.Sprintf("%#x", head.Number); err != nil || len(now) < len(told) || len(now) == len(told) && now < told {
			c.Errorf("block %s is the newest, clients were told of %s: %v", now, told, err)
		}
	})
}

func (c *crash) moves() {
	var told time.Time
	for {
		text, ok := c.ask("POST", "/sim/clock", `{"advance":"31h","populate":true}`)
		if !ok {
			break
		}
		var said struct{ Time time.Time }
		if err := json.Unmarshal([]byte(text), &said); err != nil || said.Time.IsZero() {
			c.Fatal(text, err)
		}
		told = said.Time
		c.tell()
	}
	c.after = append(c.after, func(w *sim.World) {
		if now := w.Clock.Now(); now.Before(told) {
			c.Errorf("it is %s, clients were told of %s", now, told)
		}
	})
}

func (c *crash) marks() {
	var told []int64
	for {
		text, ok := c.ask("POST", "/sim/snapshots", `{"name":"before a kill"}`)
		if !ok {
			break
		}
		var said struct {
			ID int64 `json:",string"`
		}
		if err := json.Unmarshal([]byte(text), &said); err != nil || said.ID == 0 {
			c.Fatal(text, err)
		}
		told = append(told, said.ID)
		c.tell()
	}
	c.after = append(c.after, func(w *sim.World) {
		for _, id := range told {
			if s, err := w.DB.Snapshot(c.Context(), id); err != nil || s.Name != "before a kill" {
				c.Errorf("snapshot %d: %v", id, err)
			}
		}
		if err := w.Reset(c.Context()); err != nil { // no more than a thousand may exist
			c.Error(err)
		}
		if got, want := w.Digest(), c.tiny.Digest(); string(got) != string(want) {
			c.Errorf("the digest is %x after a reset, want %x", got, want)
		}
	})
}

func (c *crash) goesBack() {
	digest := func() (string, bool) {
		text, ok := c.ask("GET", "/sim/health", "")
		_, after, _ := strings.Cut(text, `"digest":"`)
		return strings.SplitN(after, `"`, 2)[0], ok
	}
	may := map[string]bool{}
	for ok := true; ok; {
		var before, after string
		if before, ok = digest(); !ok {
			break
		}
		may = nil // between the two states anything may have been written
		var id string
		if ok = c.call(&id, "evm_snapshot", `[]`) && c.call(new(any), "anvil_mine", `["0x64"]`); !ok {
			break
		}
		if _, ok = c.pay(someone); !ok {
			break
		}
		if after, ok = digest(); !ok {
			break
		}
		may = map[string]bool{before: true, after: true}
		var back bool
		if ok = c.call(&back, "evm_revert", `["`+id+`"]`); ok {
			may = map[string]bool{before: true}
			c.tell()
			if !back {
				c.Error("the snapshot is not known")
			}
		}
	}
	c.after = append(c.after, func(w *sim.World) {
		if now := fmt.Sprintf("%x", w.Digest()); len(may) > 0 && !may[now] {
			c.Errorf("the digest is %s, want one of %v", now, may)
		}
	})
}

func (c *crash) copies() {
	var told []string
	for i := 0; ; i++ {
		name := fmt.Sprintf("k%d-%d", c.round, i)
		if _, ok := c.ask("POST", "/sim/worlds", `{"name":"`+name+`","keep":true}`); !ok {
			break
		}
		told = append(told, name)
		c.tell()
	}
	c.after = append(c.after, func(w *sim.World) {
		files, err := filepath.Glob(filepath.Join(c.folder, "w.w.*.db"))
		if err != nil || len(files) < len(told) {
			c.Errorf("%d files of %d worlds: %v", len(files), len(told), err)
		}
		for i, path := range files {
			kept, err := sim.Open(c.Context(), path)
			if err != nil {
				c.Error(err)
				continue
			}
			if string(kept.Digest()) != string(w.Digest()) {
				c.Errorf("%s is another world", path)
			}
			if i == len(files)-1 {
				if _, err := verify.Verify(c.Context(), kept, nil); err != nil {
					c.Error(err)
				}
			}
			if err := kept.Close(); err != nil {
				c.Error(err)
			}
		}
	})
	c.later = append(c.later, func(s *started) {
		var said struct{ Worlds []struct{ Name string } }
		if err := json.Unmarshal([]byte(s.reads(c.T, "/sim/worlds")), &said); err != nil {
			c.Fatal(err)
		}
		there := map[string]bool{}
		c.s = s
		for _, w := range said.Worlds {
			if there[w.Name] = true; w.Name != "main" {
				c.ask("DELETE", "/sim/worlds/"+w.Name, "")
				if left, _ := filepath.Glob(filepath.Join(c.folder, "w.w."+w.Name+".*")); len(left) > 0 {
					c.Errorf("world %s was deleted, and %v are there", w.Name, left)
				}
			}
		}
		for _, name := range told {
			if !there[name] {
				c.Errorf("world %s is not there", name)
			}
		}
	})
}

func (c *crash) exports() {
	body := exportBody(c.T, "TRANSACTION_EXPORT_EVM", []string{"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"}, []string{"43114", "43113"})
	var told []string
	for len(told) < 5 {
		text, ok := c.ask("POST", "/v1/operations/transactions:export", body)
		if !ok {
			break
		}
		var said operationState
		if err := json.Unmarshal([]byte(text), &said); err != nil || said.OperationID == "" {
			c.Fatal(text, err)
		}
		told = append(told, said.OperationID)
		c.tell()
	}
	c.kill()
	for _, ok := c.ask("GET", "/sim/health", ""); ok; _, ok = c.ask("GET", "/sim/health", "") {
		time.Sleep(time.Millisecond)
	}
	c.later = append(c.later, func(s *started) {
		var first string
		for i, id := range told {
			file := s.whole(c.T, id)
			if i == 0 {
				first = file
			}
			if file != first || !strings.Contains(file, "\n") {
				c.Errorf("export %s has another file", id)
			}
		}
	})
}

// promises sends to an address with a webhook. The receiver eventually gets every transaction whose receipt a client has.
func (c *crash) promises() {
	var mu sync.Mutex
	got, under := map[common.Hash]int{}, map[common.Hash]string{}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var said struct {
			MessageID string
			Event     struct{ Transaction struct{ TxHash common.Hash } }
		}
		if err := json.NewDecoder(r.Body).Decode(&said); err != nil {
			c.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		hash := said.Event.Transaction.TxHash
		got[hash]++
		if before := under[hash]; before != "" && before != said.MessageID { // a kill must not make it another event
			c.Errorf("transaction %s is told under %s and %s", hash, before, said.MessageID)
		}
		under[hash] = said.MessageID
	}))
	c.Cleanup(receiver.Close)
	at := common.BytesToAddress([]byte(fmt.Sprintf("webhook %d", c.round)))
	if _, ok := c.ask("POST", "/v1/webhooks", `{"eventType":"address_activity","url":"`+receiver.URL+`","chainId":"43114","metadata":{"addresses":["`+at.Hex()+`"]}}`); !ok {
		return
	}
	var told []common.Hash
	for {
		hash, ok := c.pay(at)
		var receipt any
		if !ok || !c.call(&receipt, "eth_getTransactionReceipt", `["`+hash.Hex()+`"]`) {
			break
		}
		told = append(told, hash)
		c.tell()
	}
	c.later = append(c.later, func(*started) {
		ctx, stop := context.WithTimeout(c.Context(), time.Minute)
		defer stop()
		missing := func() (n int) {
			mu.Lock()
			defer mu.Unlock()
			for _, hash := range told {
				if got[hash] == 0 {
					n++
				}
			}
			return n
		}
		for missing() > 0 {
			select {
			case <-ctx.Done():
				c.Errorf("%d of %d transactions were never told", missing(), len(told))
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
}

// generates kills a generation: the file is complete or absent, and the next generation cleans up.
func (c *crash) generates(delay time.Duration) {
	folder := c.TempDir()
	path := filepath.Join(folder, "g.db")
	check := func() {
		w, err := sim.Open(c.Context(), path)
		if err != nil {
			c.Fatal(err)
		}
		if string(w.Digest()) != string(c.tiny.Digest()) {
			c.Errorf("the digest is %x, want %x", w.Digest(), c.tiny.Digest())
		}
		if err := w.Close(); err != nil {
			c.Error(err)
		}
	}
	maker := command(c.T, "generate", "--profile", "tiny", "--db", path, "--quiet")
	if err := maker.Start(); err != nil {
		c.Fatal(err)
	}
	kill := time.AfterFunc(delay, func() { _ = maker.Process.Kill() })
	_ = maker.Wait()
	kill.Stop()
	if _, err := os.Stat(path); err == nil {
		c.told++
		check()
		if err := dbfile.Remove(path); err != nil {
			c.Fatal(err)
		}
	}
	if code, _, stderr := outcome(c.T, command(c.T, "generate", "--profile", "tiny", "--db", path, "--quiet")); code != 0 {
		c.Error(code, stderr)
	}
	check()
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		c.Errorf("%v is left: %v", left, err)
	}
	if err := os.RemoveAll(folder); err != nil {
		c.Error(err)
	}
}
