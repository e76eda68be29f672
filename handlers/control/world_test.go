package control_test

import (
	"encoding/json"
	"math/big"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"snowglobe/handlers/control"
	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/seed"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
)

// describing serves the description of a world.
func describing(t *testing.T, w *sim.World) *server {
	t.Helper()
	return serve(t, w, permit.Rule{}, func(s *rest.Server) error { return control.Register(s, w, "1.2.3", nil) })
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v: %.200s", err, text)
	}
}

// TestTheWorldInSections: each section has a path, ABIs come with the contracts' addresses, and people get indented JSON.
func TestTheWorldInSections(t *testing.T) {
	t.Parallel()
	s := describing(t, seedtest.Shared(t, "tiny", 1))
	var world map[string]json.RawMessage
	decode(t, s.get("/sim/world"), &world)
	for _, name := range []string{"personas", "networks", "chains", "clock", "counts", "abis", "endpoints"} {
		if got := s.get("/sim/world/" + name); got != string(world[name]) {
			t.Errorf("%s is not what the world has: %.200s", name, got)
		}
	}
	var without map[string]json.RawMessage
	decode(t, s.get("/sim/world?abis=false"), &without)
	world["abis"] = json.RawMessage("{}")
	if !reflect.DeepEqual(without, world) {
		t.Error("without ABIs the rest is another")
	}
	var list []control.ContractABI
	decode(t, s.get("/sim/world/contracts"), &list)
	if i := slices.IndexFunc(list, func(c control.ContractABI) bool { return c.Name == "usdx" && c.ChainID == "43114" }); i < 0 || !strings.Contains(string(list[i].ABI), `"batchTransfer"`) {
		t.Error("usdx has no ABI")
	}
	if got := s.get("/sim/world/people"); !strings.Contains(got, "there are contracts, clock, networks, chains, personas") {
		t.Error(got)
	}
	for _, c := range []struct {
		query, agent, accept string
		indented             bool
	}{{"", "curl/8.1", "*/*", true}, {"", "curl/8.1", "application/json", false}, {"", "node", "*/*", false}, {"?pretty", "node", "*/*", true}, {"?pretty=false", "curl/8.1", "*/*", false}} {
		_, text := s.ask(http.MethodGet, "/sim/world/clock"+c.query, "", "User-Agent", c.agent, "Accept", c.accept)
		if indented := strings.HasPrefix(text, "{\n  \"time\""); indented != c.indented {
			t.Errorf("%+v: %s", c, text)
		}
	}
}

// TestExpectedFiguresFollowTheWorld pays bob, and reverts: his expected figures follow at once.
func TestExpectedFiguresFollowTheWorld(t *testing.T) {
	t.Parallel()
	w := seedtest.Copy(t, 1)
	s := describing(t, w)
	expected := func() control.ExpectedEVM {
		var world control.World
		decode(t, s.get("/sim/world"), &world)
		i := slices.IndexFunc(world.Personas, func(p control.Persona) bool { return p.Name == "bob" })
		return world.Personas[i].Expected.EVM["43114"]
	}
	before, again := expected(), expected()
	snapshot, err := w.TakeSnapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := seed.NewFaucet(w).PayEVM(t.Context(), w.Networks[0].CChain(), nil, common.HexToAddress("0x70997970C51812dc3A010C7d01b50e0d17dc79C8"), big.NewInt(1)); err != nil {
		t.Fatal(err)
	}
	paid := expected()
	if err := w.Revert(t.Context(), snapshot.ID, false); err != nil {
		t.Fatal(err)
	}
	if after := expected(); after != before || again != before || paid.Transactions != before.Transactions+1 || paid.Balance == before.Balance {
		t.Errorf("bob had %+v and %+v, was paid and had %+v, went back and has %+v", before, again, paid, after)
	}
}
