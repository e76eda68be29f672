package data_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
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
)

// globe is a tiny world with a server in front of it.
type globe struct {
	*sim.World
	server *rest.Server
}

var globes struct {
	sync.Mutex
	bySeed map[int64]*globe
}

// open makes the tiny world of a seed once for all tests, which only read it.
func open(t testing.TB, number int64) *globe {
	t.Helper()
	globes.Lock()
	defer globes.Unlock()
	if g := globes.bySeed[number]; g != nil {
		return g
	}
	w := generate(t, number)
	if number == changedByClients {
		if err := simtest.SendRandomly(t.Context(), w, 1, 60); err != nil {
			t.Fatal(err)
		}
	}
	g := serve(t, w)
	if globes.bySeed == nil {
		globes.bySeed = map[int64]*globe{}
	}
	globes.bySeed[number] = g
	return g
}

// times returns the number of tries: a tenth of n with -short under the race detector.
func times(t testing.TB, n int) int {
	if testing.Short() {
		t.Log("left out of a short run: nine of ten")
		return (n + 9) / 10
	}
	return n
}

// generate returns a tiny world for one test: a copy of a seed's world, which is made once.
func generate(t testing.TB, number int64) *sim.World {
	t.Helper()
	w, err := seedtest.Shared(t, "tiny", number).Copy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func serve(t testing.TB, w *sim.World) *globe {
	t.Helper()
	s, err := rest.New(rest.Options{Alias: w.Alias, Clock: w.Clock, Revision: w.Revision, WorldKey: []byte(strings.Repeat("k", 32))})
	if err != nil {
		t.Fatal(err)
	}
	if err := handlers.RegisterData(s, w, export.NewJobs(w, export.Options{}), data.Options{}); err != nil {
		t.Fatal(err)
	}
	return &globe{w, s}
}

// object is decoded JSON that keeps numbers in their original form.
type object = map[string]any

// ask sends a request, compares the answer with the document, and decodes it.
func (g *globe) ask(t testing.TB, path string, status int) object {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	w := httptest.NewRecorder()
	g.server.ServeHTTP(w, r)
	if w.Code != status {
		t.Fatalf("GET %s is %d %s: want %d", path, w.Code, w.Body, status)
	}
	if err := g.server.CheckAnswer(r, w.Code, w.Body.Bytes()); err != nil {
		t.Fatalf("GET %s: %v", path, err)
	}
	var o object
	decoder := json.NewDecoder(w.Body)
	decoder.UseNumber()
	if err := decoder.Decode(&o); err != nil {
		t.Fatalf("GET %s: %v", path, err)
	}
	return o
}

func (g *globe) get(t testing.TB, path string) object {
	t.Helper()
	return g.ask(t, path, http.StatusOK)
}

// pages follows a list to its end and returns all items; all pages but the last must be full.
func (g *globe) pages(t testing.TB, path, key string, size int) []object {
	t.Helper()
	var all []object
	link, err := url.Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	q := link.Query()
	q.Set("pageSize", json.Number(itoa(size)).String())
	for {
		link.RawQuery = q.Encode()
		page := g.get(t, link.String())
		items, ok := page[key].([]any)
		if !ok {
			t.Fatalf("GET %s: %s is not a list", link, key)
		}
		for _, item := range items {
			all = append(all, item.(object))
		}
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

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

// persona returns the address of a named persona.
func (g *globe) persona(t testing.TB, name string) string {
	t.Helper()
	personas, err := g.DB.Personas(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range personas {
		if p.Name == name {
			return common.BytesToAddress(p.Address).Hex()
		}
	}
	t.Fatalf("there is no %s", name)
	return ""
}

// contract returns the address of the contract with a role.
func (g *globe) contract(t testing.TB, c *reader.Chain, role string) string {
	t.Helper()
	contracts, err := g.DB.Contracts(context.Background(), c.Row.ID)
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

// path returns the path of something on a chain.
func path(c *reader.Chain, parts ...string) string {
	return "/v1/chains/" + itoa(int(c.Row.EVMID)) + "/" + strings.Join(parts, "/")
}

// dig follows keys into decoded JSON; a number is an index of a list.
func dig(v any, keys ...any) any {
	for _, k := range keys {
		switch k := k.(type) {
		case string:
			o, _ := v.(object)
			v = o[k]
		case int:
			l, _ := v.([]any)
			if k >= len(l) {
				return nil
			}
			v = l[k]
		}
	}
	return v
}

func encode(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// post sends a body and compares the answer with the document.
func (g *globe) post(t testing.TB, path, body string, status int) object {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	g.server.ServeHTTP(w, r)
	if w.Code != status {
		t.Fatalf("POST %s %.200s is %d %s: want %d", path, body, w.Code, w.Body, status)
	}
	if err := g.server.CheckAnswer(r, w.Code, w.Body.Bytes()); err != nil {
		t.Fatalf("POST %s: %v", path, err)
	}
	var o object
	decoder := json.NewDecoder(bytes.NewReader(w.Body.Bytes()))
	decoder.UseNumber()
	if err := decoder.Decode(&o); err != nil {
		t.Fatal(err)
	}
	return o
}
