// Flags of a server, from the command line to what clients notice.

package handlers_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"snowglobe/handlers"
	"snowglobe/handlers/surface"
)

// TestTheIndexIsAnOption calls the node's index on a server with it and on one without.
func TestTheIndexIsAnOption(t *testing.T) {
	w := readWorld(t)
	for args, served := range map[string]bool{"": true, "--index-enabled": true, "--index-enabled=false": false, "--no-index": false} {
		h := serverWith(t, w, strings.Fields(args)...)
		for _, path := range []string{"/ext/index/P/block", "/ext/index/C/block", "/fuji/ext/index/X/tx"} {
			answer := ask(h, http.MethodPost, path, `{"jsonrpc":"2.0","id":1,"method":"index.getLastAccepted","params":{"encoding":"hex"}}`)
			if strings.Contains(answer, `"result"`) != served || !served && !strings.Contains(answer, "404 page not found") {
				t.Errorf("%s at %s: %.200s", args, path, answer)
			}
		}
		if strings.Contains(ask(h, http.MethodGet, "/sim/world", ""), "/ext/index/") != served {
			t.Errorf("%s: the index is listed, or not, at /sim/world", args)
		}
	}
}

// TestHostsAndPublicServer: host names must be allowed, and a public server has no admin API and tells nothing about its node.
func TestHostsAndPublicServer(t *testing.T) {
	t.Parallel()
	h := serverWith(t, readWorld(t), "--public", "--http-allowed-hosts", "Node.example, other.example")
	for host, status := range map[string]int{"node.example:9650": 200, "evil.example": 403, "localhost": 403, "127.0.0.1:9650": 200} {
		r, w := rpcRequest("/ext/info", "info.getNetworkID", "{}"), httptest.NewRecorder()
		r.Host = host
		if h.ServeHTTP(w, r); w.Code != status {
			t.Errorf("host %q: status %d, want %d", host, w.Code, status)
		}
	}
	for path, want := range map[string]string{"/ext/admin": "404 page not found\n", "/ext/info": "can't find method"} {
		r, w := rpcRequest(path, "info.getNodeID", "{}"), httptest.NewRecorder()
		r.Host = "node.example"
		if h.ServeHTTP(w, r); !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %s", path, w.Body)
		}
	}
}

// TestWarpSignKnown: validators refuse to sign unknown messages, such as the README's example.
func TestWarpSignKnown(t *testing.T) {
	t.Parallel()
	const made = `{"message":"0x0000000000010427d4b22a2a78bcddd456742caf91b56badbff985ee19aef14573e7343fd65200000000"}`
	for flag, want := range map[string]string{"--warp-sign=known": "did not send the message", "--warp-sign=any": `"signedMessage"`} {
		if got := ask(serverWith(t, readWorld(t), flag), http.MethodPost, "/v1/signatureAggregator/mainnet/aggregateSignatures", made); !strings.Contains(got, want) {
			t.Errorf("%s: %s", flag, got)
		}
	}
}

// TestFaultsOfAFile: faults from a file apply from the start.
func TestFaultsOfAFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "faults.yaml")
	if err := os.WriteFile(file, []byte("- match: {operation: getChain}\n  action: {status: 503}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ask(serverWith(t, readWorld(t), "--faults", file), http.MethodGet, "/v1/chains/43114", ""); !strings.Contains(got, `"statusCode":503`) {
		t.Error(got)
	}
}

// TestExportFlags: exports obey the limits of the flags.
func TestExportFlags(t *testing.T) {
	t.Parallel()
	h := serverWith(t, tinyWorld(t), "--export-max-rows", "20", "--export-workers", "1", "--export-retention", "1h")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.Work(ctx) }()
	body := exportBody(t, "TRANSACTION_EXPORT_EVM", []string{alice}, []string{"43114", "43113"})
	var o operationState
	decode(t, ask(h, http.MethodPost, "/v1/operations/transactions:export", body), &o)
	text := ""
	for range 2000 {
		if text = ask(h, http.MethodGet, "/v1/operations/"+o.OperationID, ""); !strings.Contains(text, "RUNNING") {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if !regexp.MustCompile(`"COMPLETED_WITH_WARNING".*"WarnTruncatedExport".*"nextDate":"2026-\d\d-\d\d"`).MatchString(text) {
		t.Error(text)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestWhenBlocksAreMade reads the flags, under anvil's names, and checks how the chains behave.
func TestWhenBlocksAreMade(t *testing.T) {
	t.Parallel()
	w := tinyWorldOf(t, 1)
	for _, c := range []struct {
		args     []string
		automine bool
		interval time.Duration
	}{
		{nil, true, 0}, {[]string{"--block-time", "2s"}, false, 2 * time.Second}, {[]string{"--block-time", "12"}, false, 12 * time.Second},
		{[]string{"--block-time=500ms", "--mixed-mining"}, true, 500 * time.Millisecond}, {[]string{"--no-mining"}, false, 0},
	} {
		serverWith(t, w, c.args...)
		for _, m := range w.Miners {
			if m.Automine() != c.automine || m.Interval() != c.interval {
				t.Errorf("%v: automine %t, every %s", c.args, m.Automine(), m.Interval())
			}
			m.SetAutomine(true)
			m.SetInterval(0)
		}
	}
}

// TestStrictValues reads the flag's values.
func TestStrictValues(t *testing.T) {
	for text, want := range map[string]surface.State{"": surface.Never, "--strict": surface.On, "--strict=true": surface.On, "--strict=all": surface.Off, "--strict=false": surface.Never} {
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags := handlers.NewFlags(f)
		if err := f.Parse(strings.Fields(text)); err != nil {
			t.Fatal(err)
		}
		if o, err := flags.Options(io.Discard); err != nil || o.Node.Strict != want {
			t.Errorf("%q: %v %v", text, o.Node.Strict, err)
		}
	}
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	handlers.NewFlags(f)
	if err := f.Parse([]string{"--strict=more"}); err == nil || !strings.Contains(err.Error(), "true, false or all") {
		t.Errorf("more: %v", err)
	}
}
