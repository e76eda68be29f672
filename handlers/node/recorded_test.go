package node

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/sim"
	"snowglobe/sim/txs"
)

// recordedCall is a request to a real node with its response. In paths, parameters and errors, {names} replace names that differ between networks.
type recordedCall struct {
	Path   string          `json:"path"` // after /ext/
	Method string          `json:"method"`
	Case   string          `json:"case"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// TestRecordedCalls sends a real node's requests to the node of a seeded world, in the same order: errors are equal, and results have the same shape.
// An L1's results may contain more, because it has other built-in contracts.
func TestRecordedCalls(t *testing.T) {
	w := ownSeeded(t)
	o := Options{Loggers: map[string]*Loggers{}, Profiler: NewProfiler(t.TempDir())}
	for _, n := range w.Networks {
		o.Loggers[n.Name] = NewLoggers(n, slog.New(slog.NewTextHandler(io.Discard, nil)))
	}
	url, names := serveSeeded(t, w, o), roleNames(t, w)
	file, err := os.Open(filepath.Join(testdata(), "node", "services.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var want, have recordedCall
		if err := json.Unmarshal([]byte(names.Replace(lines.Text())), &want); err != nil {
			t.Fatal(err)
		}
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q}`, want.Method)
		if want.Params != nil {
			body = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, want.Method, want.Params)
		}
		answer := send(t, "POST", url+"/ext/"+want.Path, body)
		t.Run(want.Method+" "+want.Case, func(t *testing.T) {
			if err := json.Unmarshal([]byte(answer), &have); err != nil {
				t.Fatalf("%s: %s: %v", body, answer, err)
			}
			checkRecorded(t, &have, &want)
		})
	}
}

func checkRecorded(t *testing.T, have, want *recordedCall) {
	t.Helper()
	switch {
	case want.Error != nil:
		if string(have.Error) != string(want.Error) {
			t.Errorf("have %s %s\nwant %s", have.Error, have.Result, want.Error)
		}
	case have.Result == nil:
		t.Errorf("error %s, want a result", have.Error)
	case strings.HasSuffix(want.Path, "/rpc"):
		if missing := lacks(decoded(t, have.Result), decoded(t, want.Result), ""); missing != "" {
			t.Errorf("%s: have %s", missing, have.Result)
		}
	default:
		// Nodes of v1.15.0 support proposals; the recorded ones had none to support.
		recorded := strings.ReplaceAll(shapeOf(t, want.Result), "supportedACPs:[]", "supportedACPs:[json.Number]")
		if h, w := shapeOf(t, have.Result), recorded; h != w {
			t.Errorf("have %s\nwant %s", h, w)
		}
	}
}

func decoded(t *testing.T, raw json.RawMessage) (v any) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// lacks returns the first member of a recorded value that another value lacks or has with another kind.
func lacks(have, want any, at string) string {
	if fmt.Sprintf("%T", have) != fmt.Sprintf("%T", want) {
		return fmt.Sprintf("%s is %T, not %T", at, have, want)
	}
	object, _ := want.(map[string]any)
	for name, member := range object {
		h, known := have.(map[string]any)[name]
		if !known {
			return at + "." + name + " is missing"
		}
		if missing := lacks(h, member, at+"."+name); missing != "" {
			return missing
		}
	}
	return ""
}

// chainNames lists the blockchains of mainnet by the names in recorded calls and transcripts.
func chainNames(t testing.TB, w *sim.World) []string {
	t.Helper()
	mainnet := fixtures.Networks[0]
	names := []string{"{X}", mainnet.XChainID.String(), "{C}", mainnet.CChainID.String()}
	subnets, err := w.DB.Subnets(t.Context(), w.Networks[0].Chain(txs.PChain))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range subnets {
		blockchains, err := w.DB.BlockchainsOfSubnet(t.Context(), s.Hash)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blockchains {
			names = append(names, "{"+strings.ToUpper(b.Name)+"}", ids.ID(b.Hash).String())
		}
	}
	return names
}
