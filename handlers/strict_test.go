// A strict server answers exactly what nodes of the network answer on the world's date.

package handlers_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"snowglobe/fixtures"
	"snowglobe/handlers"
	"snowglobe/handlers/surface"
	"snowglobe/sim"
	"snowglobe/sim/rules"
)

// strictServer serves a tiny world in which Helicon activated long ago, or never.
func strictServer(t *testing.T, helicon bool, args ...string) http.Handler {
	t.Helper()
	w := tinyWorld(t)
	for _, n := range w.Networks {
		at := int64(fixtures.Unscheduled)
		if helicon {
			at = n.Rules.Upgrades.Granite
		}
		changed, err := n.Rules.WithActivation(rules.Helicon, at)
		if err != nil {
			t.Fatal(err)
		}
		n.Rules = changed
	}
	return serverWith(t, w, args...)
}

// serverWith serves a world with flags.
func serverWith(t *testing.T, w *sim.World, args ...string) *handlers.Server {
	t.Helper()
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags := handlers.NewFlags(f)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	o, err := flags.Options(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	h, err := handlers.New(w, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

var (
	l1Path        = regexp.MustCompile(`"chainId":"70411"[^}]*?"blockchainId":"([^"]*)"`)
	serviceMethod = regexp.MustCompile(`"(info|health|admin|platform|avm|wallet|avax|index|proposervm|validators)\.\w+"`)
)

const methodCall = `{"jsonrpc":"2.0","id":1,"method":"`

// TestStrictFollowsTheTable asks a strict server for every method of the table, in both eras and at both levels.
func TestStrictFollowsTheTable(t *testing.T) {
	t.Parallel()
	for _, helicon := range []bool{false, true} {
		for flag, least := range map[string]surface.State{"--strict": surface.On, "--strict=all": surface.Off} {
			h := strictServer(t, helicon, flag)
			l1 := l1Path.FindStringSubmatch(ask(h, "GET", "/sim/world", ""))
			for _, e := range surface.Entries() {
				if e.REST() || e.Reason != "" || e.Words[0] == surface.Admin {
					continue
				}
				path := strings.ReplaceAll(e.Words[0], "{L1}", l1[1])
				for _, method := range e.Words[1:] {
					answer := ask(h, "POST", path, methodCall+method+`"}`)
					served := strings.Contains(answer, "jsonrpc") && !strings.Contains(answer, "does not exist") && !strings.Contains(answer, "can't find")
					if want := e.Eras.At(helicon) >= least; served != want {
						t.Errorf("%s, Helicon %v: %s %s: %.200s", flag, helicon, path, method, answer)
					}
				}
			}
		}
	}
}

// TestStrictRefusesInTheNodesWords calls what a devnet client uses and what Helicon removed, and compares whole answers.
func TestStrictRefusesInTheNodesWords(t *testing.T) {
	t.Parallel()
	missing := func(method string) string {
		return `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"the method ` + method + ` does not exist/is not available"}}` + "\n"
	}
	result := func(result string) string { return `{"jsonrpc":"2.0","id":1,"result":` + result + "}\n" }
	coinbase := result(`"0x0100000000000000000000000000000000000000"`)
	before, since := strictServer(t, false, "--strict"), strictServer(t, true, "--strict")
	l1 := "/ext/bc/" + l1Path.FindStringSubmatch(ask(before, "GET", "/sim/world", ""))[1] + "/rpc"
	const send = `eth_sendTransaction","params":[{"from":"0x8db97C7cEcE249c2b98bDC0226Cc4C2A57BF52FC","to":"0x8db97C7cEcE249c2b98bDC0226Cc4C2A57BF52FC"}],"x":"`
	unknown := `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"unknown account"}}` + "\n"
	for _, c := range []struct{ path, method, before, since string }{
		{surface.CChain, "anvil_mine", missing("anvil_mine"), missing("anvil_mine")},
		{surface.CChain, "evm_increaseTime", missing("evm_increaseTime"), missing("evm_increaseTime")},
		{surface.CChain, "hardhat_setBalance", missing("hardhat_setBalance"), missing("hardhat_setBalance")},
		{surface.CChain, "rpc.discover", missing("rpc.discover"), missing("rpc.discover")},
		{surface.CChain, "eth_requestAccounts", missing("eth_requestAccounts"), missing("eth_requestAccounts")},
		{surface.CChain, "eth_accounts", missing("eth_accounts"), missing("eth_accounts")},
		{surface.CChain, "eth_coinbase", coinbase, missing("eth_coinbase")},
		{l1, "eth_coinbase", coinbase, coinbase},
		{l1, "anvil_mine", missing("anvil_mine"), missing("anvil_mine")},
		{surface.CChain, send, unknown, unknown},
		{l1, send, unknown, unknown},
		{surface.CChain, "txpool_status", missing("txpool_status"), result(`{"pending":"0x0","queued":"0x0"}`)},
		{surface.CChain, "web3_clientVersion", result(`"v1.15.0"`), result(`"avalanchego/1.15.0 [database=v1.4.5, rpcchainvm=46, go=1.25.13]"`)},
		{l1, "web3_clientVersion", result(`"v1.15.0"`), result(`"v1.15.0"`)},
		{surface.CChain, "rpc_modules", result(`{"eth":"1.0","net":"1.0","rpc":"1.0","web3":"1.0"}`), result(`{"debug":"1.0","eth":"1.0","net":"1.0","rpc":"1.0","txpool":"1.0","web3":"1.0"}`)},
		{"/v1/ext/bc/43114/rpc", "eth_etherbase", coinbase, missing("eth_etherbase")},
		{"/ext/bc/X", "xvm.getHeight", gone("service", "xvm.GetHeight"), gone("service", "xvm.GetHeight")},
		{"/ext/bc/P", "rpc.discover", gone("service", "rpc.Discover"), gone("service", "rpc.Discover")},
		{surface.Atomic, "avax.getAtomicTx", failed("nil transaction ID"), failed("fetching tx: reading tx: not found")},
		{surface.Atomic, "avax.getAtomicTxStatus", failed("nil transaction ID"), `{"jsonrpc":"2.0","result":{"status":"Unknown"},"id":1}` + "\n"},
		{"/ext/index/C/block", "index.getLastAccepted", "404 page not found\n", "404 page not found\n"},
	} {
		for era, want := range map[http.Handler]string{before: c.before, since: c.since} {
			if got := ask(era, "POST", c.path, methodCall+c.method+`"}`); got != want {
				t.Errorf("%s at %s: got %s want %s", c.method, c.path, got, want)
			}
		}
	}
}

func gone(what, name string) string { return failed(`rpc: can't find ` + what + ` \"` + name + `\"`) }

func failed(message string) string {
	return `{"jsonrpc":"2.0","error":{"code":-32000,"message":"` + message + `","data":null},"id":1}` + "\n"
}

// TestAStrictNodeHasNobodysKeys: before Helicon it says so, and since then it has no such method.
func TestAStrictNodeHasNobodysKeys(t *testing.T) {
	t.Parallel()
	for helicon, want := range map[bool]string{false: `"result":[]`, true: `"error":{"code":-32601,"message":"the method eth_accounts does not exist/is not available"}`} {
		if got := ask(strictServer(t, helicon, "--strict=all"), "POST", surface.CChain, methodCall+`eth_accounts","params":[]}`); !strings.Contains(got, want) {
			t.Errorf("since Helicon %t: %s, want %s", helicon, got, want)
		}
	}
}

// TestStrictCrossesHelicon moves one server's clock over the activation: what the node removed disappears, and what it turned on appears.
func TestStrictCrossesHelicon(t *testing.T) {
	t.Parallel()
	w := tinyWorld(t)
	for _, n := range w.Networks {
		changed, err := n.Rules.WithActivation(rules.Helicon, n.Clock.Unix()+60)
		if err != nil {
			t.Fatal(err)
		}
		n.Rules = changed
	}
	h := serverWith(t, w, "--strict")
	for _, moved := range []bool{false, true} {
		if moved {
			if answer := ask(h, "POST", "/sim/clock", `{"advance":"60s"}`); strings.Contains(answer, "error") {
				t.Fatal(answer)
			}
		}
		for method, want := range map[string]bool{"eth_coinbase": !moved, "txpool_status": moved, "eth_chainId": true} {
			if got := strings.Contains(ask(h, "POST", surface.CChain, methodCall+method+`"}`), `"result"`); got != want {
				t.Errorf("%s, moved %v: served %v", method, moved, got)
			}
		}
		listed := ask(h, "GET", "/sim/world", "")
		if strings.Contains(listed, `"txpool_status"`) != moved || strings.Contains(listed, `"anvil_mine"`) {
			t.Errorf("moved %v: the world lists other methods", moved)
		}
	}
}

// TestStrictKeepsControl: users keep control of the world, and the log says why a method is missing.
func TestStrictKeepsControl(t *testing.T) {
	t.Parallel()
	h := serverWith(t, tinyWorld(t), "--strict")
	ask(h, "POST", surface.CChain, methodCall+`anvil_mine"}`)
	if journal := ask(h, "GET", "/sim/requests", ""); !strings.Contains(journal, "--strict does as the node") {
		t.Errorf("the journal does not say why: %.600s", journal)
	}
	if answer := ask(h, "POST", "/sim/snapshots", ""); !strings.Contains(answer, `"id"`) {
		t.Errorf("no snapshot: %s", answer)
	}
	for _, c := range []struct {
		h     http.Handler
		mines bool
	}{{h, false}, {serverWith(t, readWorld(t)), true}} {
		if bar := ask(c.h, "GET", "/control", ""); strings.Contains(bar, "evm_mine") != c.mines || !strings.Contains(bar, "/sim/clock") {
			t.Errorf("the bar with a button to mine, %v: %.300s", c.mines, bar)
		}
	}
}

// TestStrictRefusesPagesAsANode: a client that may not control the world is told, as by a node, that a method does not exist, not that it is
// forbidden.
func TestStrictRefusesPagesAsANode(t *testing.T) {
	t.Parallel()
	for want, h := range map[string]http.Handler{"does not exist": serverWith(t, tinyWorld(t), "--strict"), "--allow-origin": serverWith(t, readWorld(t))} {
		r := httptest.NewRequest("POST", surface.CChain, strings.NewReader(methodCall+`anvil_mine"}`))
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", "https://evil.example")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); !strings.Contains(w.Body.String(), want) {
			t.Errorf("want %q: %s", want, w.Body)
		}
	}
}

// TestTheTableNamesEveryMethodOfServices compares the table with the methods registered for the node's own services; none may go beyond a node.
func TestTheTableNamesEveryMethodOfServices(t *testing.T) {
	t.Parallel()
	h, err := handlers.New(readWorld(t), handlers.Options{Network: "mainnet", Node: handlers.NodeOptions{Admin: true, Profiles: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	var known []string
	for _, e := range surface.Entries() {
		known = append(known, e.Words[1:]...)
	}
	for _, service := range serviceMethod.FindAllString(ask(h, "GET", "/sim/world", ""), -1) {
		if !slices.Contains(known, strings.Trim(service, `"`)) {
			t.Errorf("%s is served, and the table does not name it", service)
		}
	}
}
