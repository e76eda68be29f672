// Flags of a server, from the command line to what clients notice.

package handlers_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
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
