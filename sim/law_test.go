package sim_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// imports lists the packages that each package may import directly; a name ending in /... stands for all packages under it. Packages missing here may
// not exist. Arrows go up in this table: no package imports a later one.
var imports = []struct{ pkg, may string }{
	{"fixtures", ""},
	{"fixtures/contracts", "fixtures"},
	{"fixtures/spelling", ""},
	{"fixtures/userfile", ""},
	{"fixtures/interchange", "fixtures/userfile"},
	{"fixtures/session", ""},
	{"fixtures/worldfile", "fixtures fixtures/session fixtures/interchange fixtures/spelling fixtures/userfile"},
	{"sim/cache", ""},
	{"sim/price", ""},
	{"sim/metric", "fixtures"},
	{"sim/parse", ""},
	{"sim/warp", ""},
	{"sim/secp256k1", ""},
	{"sim/txs", "fixtures sim/secp256k1 sim/warp"},
	{"sim/rules", "fixtures sim/txs sim/warp"},
	{"sim/store/filelock", ""},
	{"sim/store/undo", ""},
	{"sim/store/bulk", ""},
	{"sim/store/dbfile", "sim/store/filelock"},
	{"sim/store", "sim/metric sim/cache sim/store/filelock sim/store/dbfile sim/store/undo sim/store/bulk"},
	{"sim/store/outbox", "sim/store"},
	{"sim/utxo", "fixtures sim/rules sim/txs sim/warp sim/store"},
	{"sim/xchain", "fixtures sim/utxo sim/rules sim/txs sim/warp sim/store"},
	{"sim/pchain", "fixtures sim/xchain sim/utxo sim/rules sim/txs sim/warp sim/store"},
	{"sim/evm/precompile", "fixtures fixtures/contracts sim/warp"},
	{"sim/evm/index", "fixtures fixtures/contracts sim/store sim/metric sim/warp"},
	{"sim/evm/mpt", ""},
	{"sim/evm", "fixtures fixtures/contracts sim/evm/mpt sim/evm/precompile sim/evm/index sim/store sim/metric sim/warp sim/txs sim/utxo sim/rules sim/price sim/cache"},
	{"sim/primary", "fixtures sim/evm sim/pchain sim/xchain sim/utxo sim/rules sim/txs sim/warp sim/store sim/metric"},
	{"sim/evm/reader", "fixtures fixtures/contracts sim/evm sim/evm/mpt sim/evm/precompile sim/evm/index sim/store sim/metric sim/warp sim/txs sim/secp256k1 sim/cache"},
	{"sim/evm/txpool", "sim/evm sim/secp256k1 sim/store"},
	{"sim/miner", "sim/txs sim/evm/txpool sim/evm/reader sim/evm/index sim/evm sim/store"},
	{"sim", "fixtures fixtures/interchange sim/cache sim/miner sim/parse sim/primary sim/evm/reader sim/evm sim/pchain sim/xchain sim/utxo sim/rules sim/txs sim/warp sim/store sim/store/dbfile sim/metric"},
	{"sim/query", "fixtures fixtures/contracts sim sim/primary sim/evm/reader sim/evm sim/pchain sim/xchain sim/utxo sim/rules sim/txs sim/warp sim/store sim/metric sim/price sim/cache"},
	{"sim/signing", "fixtures sim sim/primary sim/evm/reader sim/evm sim/pchain sim/rules sim/txs sim/warp sim/store"},
	{"sim/relayer", "fixtures fixtures/contracts sim sim/signing sim/miner sim/evm/reader sim/evm/precompile sim/evm/index sim/store sim/warp"},
	{"sim/webhook", "sim sim/store sim/store/outbox sim/txs"},
	{"sim/export", "fixtures fixtures/contracts sim sim/query sim/primary sim/evm/reader sim/evm sim/evm/index sim/pchain sim/utxo sim/rules sim/txs sim/store sim/metric sim/price"},
	{"sim/verify", "fixtures sim sim/export sim/primary sim/evm/... sim/evm sim/pchain sim/xchain sim/utxo sim/rules sim/txs sim/warp sim/store sim/metric"},
	{"sim/simtest", "fixtures/contracts sim sim/miner sim/evm sim/store sim/txs"},
	{"sim/verify/verifytest", "sim sim/verify"},
	{"seed/population", "fixtures fixtures/contracts sim/..."},
	{"seed/evm", "fixtures/worldfile fixtures fixtures/contracts sim sim/... seed/population"},
	{"seed/primary", "fixtures fixtures/contracts sim sim/... seed/population seed/evm"},
	{"seed", "fixtures/session fixtures/userfile fixtures fixtures/interchange fixtures/contracts fixtures/worldfile sim sim/... seed/population seed/evm seed/primary"},
	{"seed/seedtest", "seed sim sim/store"},
	{"fixtures/web", ""},
	{"handlers/surface", ""},
	{"handlers/docs", "fixtures fixtures/spelling fixtures/worldfile sim/export handlers/surface"},
	{"handlers/cli", "fixtures/userfile fixtures/spelling handlers/docs"},
	{"handlers/openrpc", ""},
	{"handlers/artifacts", ""},
	{"handlers/permit", ""},
	{"handlers/intercept", "fixtures handlers/permit"},
	{"handlers/rest/schema", "fixtures fixtures/spelling sim/parse"},
	{"handlers/rest/pagetoken", "handlers/rest/schema"},
	{"handlers/events", ""},
	{"handlers/journal", "fixtures/spelling handlers/events"},
	{"handlers/fault", "fixtures/userfile handlers/events handlers/rest/schema"},
	{"handlers/rehearse", "handlers/journal"},
	{"handlers/explain", "handlers/artifacts handlers/events sim/evm sim/evm/reader"},
	{"handlers/textlog", ""},
	{"handlers/rest", "fixtures/userfile fixtures fixtures/spelling handlers/textlog handlers/permit handlers/journal handlers/fault handlers/rest/pagetoken handlers/rest/schema sim sim/txs sim/rules sim/store sim/cache"},
	{"handlers/control/describe", "sim sim/evm/reader sim/rules sim/secp256k1 sim/store sim/txs"},
	{"handlers/solc", ""},
	{"handlers/solc/solctest", "handlers/solc sim/evm sim/miner"},
	{"handlers/control", "handlers/solc handlers/artifacts handlers/explain fixtures fixtures/contracts fixtures/interchange fixtures/userfile sim sim/... handlers/control/describe handlers/intercept handlers/permit handlers/events handlers/journal handlers/fault handlers/rest handlers/rest/schema"},
	{"handlers/session", "fixtures/session fixtures/contracts fixtures/userfile fixtures/worldfile sim sim/... handlers/control handlers/permit handlers/rest"},
	{"handlers/names", "fixtures handlers/control"},
	{"handlers/metrics", "fixtures sim sim/... handlers/rest handlers/rest/schema"},
	{"handlers/data", "fixtures fixtures/contracts sim sim/... handlers/rest handlers/rest/schema"},
	{"handlers/data/tokenuri", "fixtures"},
	{"handlers/data/evm", dataFamily + " handlers/data/tokenuri"},
	{"handlers/data/primary", dataFamily},
	{"handlers/data/staking", dataFamily},
	{"handlers/data/icm", dataFamily},
	{"handlers/data/export", dataFamily},
	{"handlers/verification", "fixtures/contracts sim sim/... handlers/artifacts handlers/solc"},
	{"handlers/etherscan", "fixtures fixtures/contracts sim sim/... handlers/permit handlers/rest handlers/solc handlers/verification"},
	{"handlers/sourcify", "sim sim/... handlers/permit handlers/rest handlers/solc handlers/verification"},
	{"handlers/usage", "sim handlers/data handlers/rest handlers/rest/schema"},
	{"handlers/webhook", dataFamily + " handlers/data/primary handlers/events handlers/fault handlers/journal"},
	{"handlers/node/jsonrpc", ""},
	{"handlers/node/rpc", "fixtures/spelling handlers/openrpc handlers/fault handlers/journal handlers/permit handlers/rest sim/cache sim/store"},
	{"handlers/node/rpc/rpctest", "handlers/node/rpc sim/store"},
	{"handlers/node/eth/marshal", "sim/evm sim/evm/reader sim/evm/txpool"},
	{"handlers/node/eth", nodeService + " handlers/node/eth/marshal handlers/fault handlers/journal"},
	{"handlers/node/anvil", nodeService + " fixtures/interchange handlers/node/eth handlers/node/eth/marshal"},
	{"handlers/node/debug", nodeService + " handlers/node/eth"},
	{"handlers/node/warp", nodeService + " handlers/node/eth"},
	{"handlers/node/trace", nodeService + " handlers/node/eth"},
	{"handlers/node/ots", nodeService + " handlers/node/eth handlers/node/eth/marshal"},
	{"handlers/node/simulate", nodeService + " handlers/node/eth handlers/node/eth/marshal"},
	{"handlers/node/nodetest", "sim sim/evm/reader sim/miner handlers/node/eth handlers/node/anvil handlers/node/debug handlers/node/warp handlers/node/trace handlers/node/ots handlers/node/simulate handlers/node/rpc/rpctest"},
	{"handlers/node/primary", nodeService},
	{"handlers/node/platform", nodeService + " handlers/node/primary"},
	{"handlers/node/avm", nodeService + " handlers/node/primary"},
	{"handlers/node/avax", nodeService + " handlers/node/primary"},
	{"handlers/node/consensus", nodeService},
	{"handlers/node/info", nodeService + " handlers/node/platform handlers/node/primary"},
	{"handlers/node", nodeService + " handlers/fault handlers/rest/schema handlers/surface handlers/node/..."},
	{"handlers/web", "fixtures fixtures/contracts fixtures/userfile fixtures/web fixtures/worldfile sim/metric sim/price handlers/control handlers/docs handlers/openrpc handlers/permit handlers/rest handlers/rest/schema"},
	{"handlers/mcp", "handlers/docs handlers/permit handlers/rest"},
	{"handlers/worlds", "fixtures/interchange handlers/node/rpc sim sim/store sim/store/dbfile sim/store/filelock handlers/control handlers/permit handlers/rest handlers/rest/schema"},
	{"handlers/program", "sim/store"},
	{"handlers/search", "handlers/fault"},
	{"handlers/prometheus", "fixtures sim sim/cache sim/evm/reader sim/miner handlers/node"},
	{"handlers", "fixtures/interchange fixtures/userfile fixtures sim sim/... handlers/..."},
	{"handlers/data/datatest", "handlers handlers/data handlers/rest seed/seedtest sim sim/..."},
	{"handlers/snowglobetest", "fixtures sim sim/... seed handlers handlers/..."},
	{"", "fixtures fixtures/interchange fixtures/worldfile sim sim/... seed handlers handlers/..."}, // main
}

const (
	dataFamily  = "fixtures fixtures/contracts sim sim/... handlers/permit handlers/rest handlers/rest/schema handlers/data"
	nodeService = "fixtures fixtures/contracts sim sim/... handlers/permit handlers/openrpc handlers/explain handlers/rest handlers/node/jsonrpc handlers/node/rpc"
)

// TestDependenciesPointOneWay compares the packages' imports, without tests, with the table.
func TestDependenciesPointOneWay(t *testing.T) {
	const module = "snowglobe"
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", module+"/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	place := func(pkg string) int {
		return slices.IndexFunc(imports, func(row struct{ pkg, may string }) bool { return row.pkg == pkg })
	}
	for line := range strings.Lines(string(out)) {
		paths := strings.Fields(line)
		pkg := strings.TrimPrefix(strings.TrimPrefix(paths[0], module), "/")
		at := place(pkg)
		if at < 0 {
			t.Errorf("package %s is not in the table", paths[0])
			continue
		}
		for _, path := range paths[1:] {
			other, own := strings.CutPrefix(path, module+"/")
			switch {
			case !own:
			case !allowed(imports[at].may, other):
				t.Errorf("%s imports %s", pkg, other)
			case place(other) >= at:
				t.Errorf("%s imports %s, which comes later in the table", pkg, other)
			}
		}
	}
}

func allowed(may, pkg string) bool {
	return slices.ContainsFunc(strings.Fields(may), func(name string) bool {
		under, all := strings.CutSuffix(name, "...")
		return name == pkg || all && strings.HasPrefix(pkg, under)
	})
}

// TestLawsOfTheHouse searches the sources for forbidden names and constructs.
func TestLawsOfTheHouse(t *testing.T) {
	for _, law := range []struct {
		folders []string
		except  string
		pattern string
		reason  string
	}{
		{[]string{".", "../seed"}, "", `time\.(Now|Since|Until)\(`, "the world has its own clock"},
		{[]string{".", "../seed"}, "", `[^.\w]rand\.(Int|Uint|Float|Perm|Shuffle|N\(|Read)\w*\(`, "randomness is keyed by what it is for"},
		{[]string{".", "../seed"}, "", `gofakeit\.New\(0\)`, "seed 0 takes its randomness from the machine"},
		{[]string{".", "../handlers"}, "", `"github.com/brianvoe/gofakeit`, "only the seed makes things up"},
		{[]string{".", "../handlers"}, "parse", `\bids\.(FromString|ShortFromString|ShortFromPrefixedString|NodeIDFromString)\(|\baddress\.Parse`, "a text of any length may come: sim/parse looks at the length first"},
		{[]string{".", "../seed", "../handlers"}, "store", `"(modernc.org/sqlite|github.com/jmoiron/sqlx|database/sql)"|\bSELECT\s|\bINSERT\s`, "only sim/store has SQL"},
		{[]string{"../handlers"}, "", `\brpc\.(NewServer|NewCodec|NewFuncCodec|Notifier)`, "handlers/node/rpc is the one server of JSON-RPC; go-ethereum's is what tests compare it with"},
		{[]string{"../handlers/rest", "../handlers/journal", "../handlers/fault"}, "", `"jsonrpc"`, "only handlers/node/rpc reads calls"},
	} {
		for path, text := range sources(t, law.folders, law.except) {
			if found := regexp.MustCompile(law.pattern).FindString(text); found != "" {
				t.Errorf("%s has %q: %s", path, found, law.reason)
			}
		}
	}
}

// sources reads every Go file that is not a test.
func sources(t *testing.T, folders []string, except string) map[string]string {
	all := map[string]string{}
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			if except != "" && strings.HasPrefix(path, except+"/") {
				return nil
			}
			raw, err := os.ReadFile(path)
			all[path] = string(raw)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(all) == 0 {
		t.Fatalf("no sources in %v", folders)
	}
	return all
}
