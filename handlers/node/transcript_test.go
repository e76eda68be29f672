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

const transcripts = "../../testdata/transcripts/node"

// TestTranscripts replays recorded conversations. A file holds comments (#), the path that is called (POST), requests
// (-->) and the answer to each, byte for byte (<--). {L1} in a path is the L1's blockchain id.
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
			spoken := converse(t, newTestWorld(t), string(written))
			if *update {
				if err := os.WriteFile(file, spoken, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			differ(t, string(written), string(spoken))
		})
	}
}

// differ reports every line that came out otherwise.
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

// converse says every request of a transcript and writes the transcript again with the answers that came.
func converse(t *testing.T, w *testWorld, script string) []byte {
	var out bytes.Buffer
	path := "/ext/bc/C/rpc"
	for line := range strings.Lines(script) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "<-- ") {
			continue
		}
		out.WriteString(line + "\n")
		if target, found := strings.CutPrefix(line, "POST "); found {
			path = strings.ReplaceAll(target, "{L1}", ids.ID(w.l1.Row.BlockchainID).String())
		}
		if request, found := strings.CutPrefix(line, "--> "); found {
			out.WriteString("<-- " + w.post(t, path, request) + "\n")
		}
	}
	return out.Bytes()
}

// post sends a body and answers what comes back, without the newline at its end.
func (w *testWorld) post(t testing.TB, path, body string) string {
	t.Helper()
	response, err := http.Post(w.server.URL+path, "application/json", strings.NewReader(body))
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
