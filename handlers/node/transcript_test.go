package node

import (
	"bytes"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ava-labs/avalanchego/ids"
)

var update = flag.Bool("update", false, "write the transcripts anew")

var transcripts = filepath.Join(testdata(), "transcripts", "node")

// testdata returns the folder of that name at the root of the module.
func testdata() string {
	root, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if parent := filepath.Dir(root); parent != root {
			root = parent
			continue
		}
		err = os.ErrNotExist
	}
	return filepath.Join(root, "testdata")
}

// TestTranscripts replays recorded conversations. A file holds comments (#), the path to call (POST), requests (-->) and the answer to each, byte for
// byte (<--). {L1} in a path is the L1's blockchain id.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(transcripts, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			written, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w := newTestWorld(t)
			keep(t, file, string(written), converse(t, w.server.URL, w.names(), string(written)))
		})
	}
}

// names returns the names that transcripts may use.
func (w *testWorld) names() *strings.Replacer {
	return strings.NewReplacer("{L1}", ids.ID(w.l1.Row.BlockchainID).String())
}

// keep rewrites a transcript with -update, or compares it with the conversation.
func keep(t *testing.T, file, written string, spoken []byte) {
	t.Helper()
	if !*update {
		differ(t, written, string(spoken))
		return
	}
	if err := os.WriteFile(file, spoken, 0o644); err != nil {
		t.Fatal(err)
	}
}

// differ reports every line that differs.
func differ(t *testing.T, written, spoken string) {
	t.Helper()
	want, got := strings.Split(written, "\n"), strings.Split(spoken, "\n")
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) {
			t.Fatalf("%d lines, want %d", len(got), len(want))
		}
		if want[i] != got[i] {
			t.Errorf("line %d:\n got %s\nwant %s", i+1, got[i], want[i])
		}
	}
}

// converse sends every request of a transcript and returns the transcript with the actual responses. A GET is its own request.
func converse(t *testing.T, url string, names *strings.Replacer, script string) []byte {
	var out bytes.Buffer
	path := "/ext/bc/C/rpc"
	for line := range strings.Lines(script) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "<-- ") {
			continue
		}
		out.WriteString(line + "\n")
		said := names.Replace(line)
		if target, found := strings.CutPrefix(said, "POST "); found {
			path = target
		}
		if target, found := strings.CutPrefix(said, "GET "); found {
			out.WriteString("<-- " + send(t, http.MethodGet, url+target, "") + "\n")
		}
		if request, found := strings.CutPrefix(said, "--> "); found {
			out.WriteString("<-- " + send(t, http.MethodPost, url+path, request) + "\n")
		}
	}
	return out.Bytes()
}

// post sends a body and returns the response.
func (w *testWorld) post(t testing.TB, path, body string) string {
	t.Helper()
	return send(t, http.MethodPost, w.server.URL+path, body)
}

// send returns the response to a body, without the final newline.
func send(t testing.TB, method, url, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(answer), "\n")
}
