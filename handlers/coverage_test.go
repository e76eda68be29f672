package handlers_test

import (
	"bytes"
	"context"
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

var update = flag.Bool("update", false, "write the coverage table anew")

// operation is one operation of the specifications and a request that reaches it.
type operation struct{ name, method, path string }

// specified lists the operations of the Data and Metrics API specifications. A path that is not served answers with the
// router's own 404.
var specified = []operation{
	{"aggregateSignatures", "POST", "/v1/signatureAggregator/{network}/aggregateSignatures"},
	{"aggregateSignatures of a transaction", "GET", "/v1/signatureAggregator/{network}/aggregateSignatures/{txHash}"},
	{"transactions:export", "POST", "/v1/operations/transactions:export"},
	{"operation", "GET", "/v1/operations/{operationId}"},
	{"chain", "GET", "/v1/chains/{chainId}"},
	{"EVM blocks", "GET", "/v1/chains/{chainId}/blocks"},
	{"primary network blocks", "GET", "/v1/networks/{network}/blockchains/{blockchainId}/blocks"},
	{"latest transactions", "GET", "/v1/chains/{chainId}/transactions"},
	{"transactions:listNative", "GET", "/v1/chains/{chainId}/addresses/{address}/transactions:listNative"},
	{"transactions:listInternals", "GET", "/v1/chains/{chainId}/addresses/{address}/transactions:listInternals"},
	{"transactions:getDeployment", "GET", "/v1/chains/{chainId}/contracts/{address}/transactions:getDeployment"},
	{"balances:listErc20", "GET", "/v1/chains/{chainId}/addresses/{address}/balances:listErc20"},
	{"validators", "GET", "/v1/networks/{network}/validators"},
	{"validator", "GET", "/v1/networks/{network}/validators/{nodeId}"},
	{"delegators", "GET", "/v1/networks/{network}/delegators"},
	{"l1Validators", "GET", "/v1/networks/{network}/l1Validators"},
	{"addresses:listChainIds", "GET", "/v1/networks/{network}/addresses:listChainIds"},
	{"chain metrics", "GET", "/v2/chains/{chainId}/metrics/{metric}"},
	{"average TPS", "GET", "/v1/avg_tps/{chainId}"},
}

// rpc lists the methods of the node specification by the path that serves them; {L1} is the first L1 of the world.
var rpc = []struct {
	path    string
	methods string
}{
	{"/ext/admin", "admin.alias admin.aliasChain admin.getChainAliases admin.getLoggerLevel admin.loadVMs admin.lockProfile admin.memoryProfile admin.setLoggerLevel admin.startCPUProfiler admin.stopCPUProfiler"},
	{"/ext/info", "info.acps info.isBootstrapped info.getBlockchainID info.getNetworkID info.getNetworkName info.getNodeID info.getNodeIP info.getNodeVersion info.getTxFee info.getVMs info.peers info.uptime info.upgrades"},
	{"/ext/bc/X", "xvm.getAllBalances xvm.getAssetDescription xvm.getBalance xvm.getBlock xvm.getBlockByHeight xvm.getHeight xvm.getTx xvm.getTxFee xvm.getTxStatus xvm.getUTXOs"},
	{"/ext/bc/{L1}/rpc", "eth_feeConfig eth_getChainConfig eth_getActivePrecompilesAt eth_getActiveRulesAt"},
	{"/ext/bc/{L1}/validators", "validators.getCurrentValidators"},
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
	compareSection(t, "coverage", coverage(h))
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

func coverage(h http.Handler) string {
	var b strings.Builder
	b.WriteString("| interface | operation | state |\n|---|---|---|\n")
	for _, o := range specified {
		answer := ask(h, o.method, o.path, "{}")
		fmt.Fprintf(&b, "| `%s %s` | %s | %s |\n", o.method, o.path, o.name, state(!strings.Contains(answer, "Cannot "+o.method)))
	}
	l1 := regexp.MustCompile(`"chainId":"70411"[^}]*?"blockchainId":"([^"]*)"`).FindStringSubmatch(ask(h, "GET", "/sim/world", ""))
	for _, group := range rpc {
		path := strings.ReplaceAll(group.path, "{L1}", l1[1])
		for _, method := range strings.Fields(group.methods) {
			answer := ask(h, "POST", path, `{"jsonrpc":"2.0","id":1,"method":"`+method+`"}`)
			served := strings.Contains(answer, "jsonrpc") && !strings.Contains(answer, "does not exist") && !strings.Contains(answer, "can't find")
			fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", group.path, method, state(served))
		}
	}
	return b.String()
}

func state(served bool) string {
	if served {
		return "served"
	}
	return "not yet"
}

func ask(h http.Handler, method, path, body string) string {
	r := httptest.NewRequest(method, path, bytes.NewBufferString(body))
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Body.String()
}
