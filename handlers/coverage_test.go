package handlers_test

import (
	"bytes"
	"context"
	_ "embed" // the table of the real services
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"snowglobe/handlers"
	"snowglobe/seed"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

const readme = "../README.md"

var update = flag.Bool("update", false, "write the coverage table anew")

// realServices is a line for each operation, or for several methods of a path, of the real services, in sections: what they are
// called, and after a dash why they are not served.
//
//go:embed testdata/surface.txt
var realServices string

// entry is a line of it.
type entry struct {
	service string
	words   []string // an HTTP method and a path, or a path and its methods of JSON-RPC
	reason  string   // why it is not served
}

func (e *entry) rest() bool { return strings.HasPrefix(e.words[1], "/v") }

func entries() (all []entry) {
	service := ""
	for line := range strings.Lines(realServices) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			service = strings.Trim(line, "[]")
		default:
			names, reason, _ := strings.Cut(line, " -- ")
			all = append(all, entry{service, strings.Fields(names), reason})
		}
	}
	return all
}

// row is what has one path and one state.
type row struct {
	service, path string   // without the last segment if the operations are of REST
	names         []string // operations with their HTTP methods, or methods of JSON-RPC
	state         string
}

type table []row

func (t *table) add(service, path, name, state string) {
	for i := range *t {
		if r := &(*t)[i]; r.service == service && r.path == path && r.state == state {
			r.names = append(r.names, name)
			return
		}
	}
	*t = append(*t, row{service, path, []string{name}, state})
}

func tinyWorld(t *testing.T) *sim.World {
	t.Helper()
	return tinyWorldOf(t, 1)
}

// readWorld is the tiny world that tests share which only read it.
func readWorld(t *testing.T) *sim.World {
	t.Helper()
	if sharedWorld == nil {
		sharedWorld = makeTiny(t, 1)
	}
	return sharedWorld
}

var sharedWorld *sim.World

func tinyWorldOf(t *testing.T, number int64) *sim.World {
	t.Helper()
	w := makeTiny(t, number)
	t.Cleanup(func() { w.Close() })
	return w
}

func makeTiny(t testing.TB, number int64) *sim.World {
	t.Helper()
	profile, err := seed.LoadProfile("tiny")
	if err != nil {
		t.Fatal(err)
	}
	w, err := seed.Generate(context.Background(), seed.Options{Path: store.Memory, Seed: number, Profile: profile, Until: seed.DefaultUntil})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestCoverage asks for every operation of the specifications, and compares the table in the README with what it found.
func TestCoverage(t *testing.T) {
	h, err := handlers.New(tinyWorld(t), handlers.Options{
		Network: "mainnet", Node: handlers.NodeOptions{Admin: true, Profiles: t.TempDir()},
	})
	if err != nil {
		t.Fatal(err)
	}
	compareSection(t, "coverage", coverage(t, h))
}

// compareSection compares a part of the README, between comments that name it, with what it should be, or writes it.
func compareSection(t *testing.T, name, text string) {
	t.Helper()
	raw, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	parts := regexp.MustCompile(`(?s)(<!-- ` + name + `:[^\n]*\n)(.*)(<!-- /` + name + ` -->)`)
	if *update {
		raw = parts.ReplaceAll(raw, []byte("${1}\n"+text+"\n${3}"))
		if err := os.WriteFile(readme, raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if found := parts.FindSubmatch(raw); found == nil || strings.TrimSpace(string(found[2])) != strings.TrimSpace(text) {
		t.Errorf("the README's %s have drifted; run this test with -update. Found:\n%s", name, text)
	}
}

// coverage asks for everything of the surface. A reason must be given for what is not served, and for nothing else.
func coverage(t *testing.T, h http.Handler) string {
	t.Helper()
	l1 := regexp.MustCompile(`"chainId":"70411"[^}]*?"blockchainId":"([^"]*)"`).FindStringSubmatch(ask(h, "GET", "/sim/world", ""))
	var all table
	for _, e := range entries() {
		if e.rest() {
			dir, last := splitPath(e.words[1])
			name := e.words[0] + " " + e.words[1]
			answer := ask(h, e.words[0], e.words[1], "{}")
			all.add(e.service, dir, e.words[0]+" "+last, stateOf(t, name, !strings.Contains(answer, "Cannot "+e.words[0]), e.reason))
			continue
		}
		for _, method := range e.words[1:] {
			answer := ask(h, "POST", strings.ReplaceAll(e.words[0], "{L1}", l1[1]), `{"jsonrpc":"2.0","id":1,"method":"`+method+`"}`)
			served := strings.Contains(answer, "jsonrpc") && !strings.Contains(answer, "does not exist") && !strings.Contains(answer, "can't find")
			all.add(e.service, e.words[0], method, stateOf(t, e.words[0]+" "+method, served, e.reason))
		}
	}
	return all.String()
}

func splitPath(path string) (dir, last string) {
	i := strings.LastIndexByte(path, '/')
	return path[:i], path[i+1:]
}

func stateOf(t *testing.T, what string, served bool, reason string) string {
	t.Helper()
	switch {
	case served && reason != "":
		t.Errorf("%s is served, and yet there is a reason why not", what)
	case served:
		return "yes"
	case reason == "":
		t.Errorf("%s is not served, without a reason", what)
	}
	return "no: " + reason
}

func (t table) String() string {
	var b strings.Builder
	b.WriteString("| service | path | operations, methods | served |\n|---|---|---|---|\n")
	for _, r := range t {
		fmt.Fprintf(&b, "| %s | `%s` | `%s` | %s |\n", r.service, r.path, strings.Join(r.names, "`, `"), r.state)
	}
	return b.String()
}

// TestEveryOperationIsInTheTable looks up what the documents of the REST interfaces have.
func TestEveryOperationIsInTheTable(t *testing.T) {
	h, err := handlers.New(readWorld(t), handlers.Options{Network: "mainnet"})
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal([]byte(ask(h, "GET", "/openapi.json", "")), &document); err != nil || len(document.Paths) < 50 {
		t.Fatalf("the document has %d paths: %v", len(document.Paths), err)
	}
	for path, methods := range document.Paths {
		for method := range methods {
			if strings.HasPrefix(path, "/sim/") {
				continue
			}
			if name := strings.ToUpper(method) + " " + path; !strings.Contains(realServices, "\n"+name+"\n") {
				t.Errorf("%s is served, and no operation of the real services", name)
			}
		}
	}
}

func ask(h http.Handler, method, path, body string) string {
	r := httptest.NewRequest(method, path, bytes.NewBufferString(body))
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Body.String()
}
