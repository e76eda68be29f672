// Package datatest asks the operations of the Data API in tests, and compares each answer with the document.
package datatest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers"
	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/export"
	"snowglobe/sim/simtest"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Globe is a tiny world with a server in front of it.
type Globe struct {
	*sim.World
	Server *rest.Server
}

var globes struct {
	sync.Mutex
	bySeed map[int64]*Globe
}

// ChangedByClients is the seed of a world to which clients have sent transactions.
const ChangedByClients = 77

// Open serves the tiny world of a seed, once for all tests of a package, which only read it.
func Open(t testing.TB, number int64) *Globe {
	t.Helper()
	globes.Lock()
	defer globes.Unlock()
	if g := globes.bySeed[number]; g != nil {
		return g
	}
	w, err := seedtest.Shared(t, "tiny", number).Copy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if number == ChangedByClients {
		if err := simtest.SendRandomly(t.Context(), w, 1, 60); err != nil {
			t.Fatal(err)
		}
	}
	g := Serve(t, w)
	if globes.bySeed == nil {
		globes.bySeed = map[int64]*Globe{}
	}
	globes.bySeed[number] = g
	return g
}

// Times returns the number of tries: a tenth of n in a short run.
func Times(t testing.TB, n int) int {
	if testing.Short() {
		t.Log("left out of a short run: nine of ten")
		return (n + 9) / 10
	}
	return n
}

// Serve serves a world, whose exports do not run.
func Serve(t testing.TB, w *sim.World) *Globe {
	t.Helper()
	return ServeWith(t, w, export.NewJobs(w, export.Options{}), data.Options{})
}

// ServeWith serves a world with these exports, whether they run or not.
func ServeWith(t testing.TB, w *sim.World, exports *export.Jobs, o data.Options) *Globe {
	t.Helper()
	s, err := rest.New(rest.Options{Alias: w.Alias, Clock: w.Clock, Revision: w.Revision, WorldKey: []byte(strings.Repeat("k", 32))})
	if err != nil {
		t.Fatal(err)
	}
	if err := handlers.RegisterData(s, w, exports, o); err != nil {
		t.Fatal(err)
	}
	return &Globe{w, s}
}

// Do sends a request and compares the answer with the document.
func (g *Globe) Do(t testing.TB, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	g.Server.ServeHTTP(w, r)
	if err := g.Server.CheckAnswer(r, w.Code, w.Body.Bytes()); err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	return w
}

// Ask requests a path whose answer has this status.
func (g *Globe) Ask(t testing.TB, path string, status int) Object {
	t.Helper()
	return g.expect(t, httptest.NewRequest(http.MethodGet, path, nil), status)
}

// Get requests a path.
func (g *Globe) Get(t testing.TB, path string) Object {
	t.Helper()
	return g.Ask(t, path, http.StatusOK)
}

// Post sends a body whose answer has this status.
func (g *Globe) Post(t testing.TB, path, body string, status int) Object {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return g.expect(t, r, status)
}

func (g *Globe) expect(t testing.TB, r *http.Request, status int) (o Object) {
	t.Helper()
	w := g.Do(t, r)
	if w.Code != status {
		t.Fatalf("%s %s is %d %s: want %d", r.Method, r.URL, w.Code, w.Body, status)
	}
	decoder := json.NewDecoder(bytes.NewReader(w.Body.Bytes()))
	decoder.UseNumber()
	if err := decoder.Decode(&o); err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	return o
}

// Pages follows a list to its end and returns all items; all pages but the last must be full.
func (g *Globe) Pages(t testing.TB, path, key string, size int) []Object {
	t.Helper()
	var all []Object
	link, err := url.Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	q := link.Query()
	q.Set("pageSize", strconv.Itoa(size))
	for {
		link.RawQuery = q.Encode()
		page := g.Get(t, link.String())
		items, ok := page[key].([]any)
		if !ok {
			t.Fatalf("GET %s: %s is not a list", link, key)
		}
		all = append(all, Objects(items)...)
		next, more := page["nextPageToken"].(string)
		if !more {
			return all
		}
		if len(items) != size {
			t.Fatalf("GET %s: a page that is not the last has %d items: want %d", link, len(items), size)
		}
		q.Set("pageToken", next)
	}
}

// Persona returns the address of a named persona.
func (g *Globe) Persona(t testing.TB, name string) string {
	t.Helper()
	return common.BytesToAddress(g.persona(t, name).Address).Hex()
}

func (g *Globe) persona(t testing.TB, name string) store.Persona {
	t.Helper()
	personas, err := g.DB.Personas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range personas {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("there is no %s", name)
	return store.Persona{}
}

// Owner returns the address of a named persona on a network's primary chains.
func (g *Globe) Owner(t testing.TB, network, name string) string {
	t.Helper()
	key, err := txs.KeyFromBytes(g.persona(t, name).Key)
	if err != nil {
		t.Fatal(err)
	}
	return g.Network(t, network).Rules.Bech32(key.Address())
}

// Contract returns the address of the contract with a role.
func (g *Globe) Contract(t testing.TB, c *reader.Chain, role string) string {
	t.Helper()
	contracts, err := g.DB.Contracts(t.Context(), c.Row.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range contracts {
		if r.Role == role {
			return common.BytesToAddress(r.Address).Hex()
		}
	}
	t.Fatalf("chain %d has no %s", c.Row.EVMID, role)
	return ""
}

// Networks lists the networks of every tiny world, and Chains the aliases of their primary chains by number.
var (
	Networks = []string{"mainnet", "fuji"}
	Chains   = []string{"p-chain", "x-chain", "c-chain"}
)

// Network returns a network by name.
func (g *Globe) Network(t testing.TB, name string) *sim.Network {
	t.Helper()
	i := slices.IndexFunc(g.Networks, func(n *sim.Network) bool { return n.Name == name })
	if i < 0 {
		t.Fatalf("there is no network %s", name)
	}
	return g.Networks[i]
}

// Path returns the path of something on an EVM chain.
func Path(c *reader.Chain, parts ...string) string {
	return fmt.Sprint("/v1/chains/", c.Row.EVMID, "/", strings.Join(parts, "/"))
}

// Statements requests a path and returns the statements that the answer took.
func (g *Globe) Statements(t testing.TB, path string) (all []string) {
	t.Helper()
	var mu sync.Mutex
	g.DB.FailStatements(func(text string) bool {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, text)
		return false
	})
	defer g.DB.FailStatements(nil)
	g.Get(t, path)
	return all
}
