// Exports of the built program across kills, and many at once.

//go:build !race

package handlers_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func (s *started) reads(t *testing.T, path string) string {
	t.Helper()
	answer, err := http.Get(s.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return string(text)
}

// state asks for the state of an export.
func (s *started) state(t *testing.T, id string) (o operationState) {
	t.Helper()
	if err := json.Unmarshal([]byte(s.reads(t, "/v1/operations/"+id)), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// begin posts an export.
func (s *started) begin(t *testing.T, body string) operationState {
	t.Helper()
	var o operationState
	if text := s.says(t, "/v1/operations/transactions:export", body); json.Unmarshal([]byte(text), &o) != nil || o.OperationStatus != "RUNNING" {
		t.Fatal(text)
	}
	return o
}

// ended waits for the end of an export.
func (s *started) ended(t *testing.T, id string) operationState {
	t.Helper()
	o := s.state(t, id)
	for deadline := time.Now().Add(time.Minute); o.OperationStatus == "RUNNING" && time.Now().Before(deadline); o = s.state(t, id) {
		time.Sleep(5 * time.Millisecond)
	}
	return o
}

// whole waits for the end of an export and reads its file.
func (s *started) whole(t *testing.T, id string) string {
	t.Helper()
	return s.completed(t, s.ended(t, id))
}

// completed reads the file of a completed export, and compares it with the export's own figures.
func (s *started) completed(t *testing.T, o operationState) string {
	t.Helper()
	path, found := strings.CutPrefix(o.Metadata.DownloadURL, s.url)
	if o.OperationStatus != "COMPLETED" || !found {
		t.Fatalf("%+v", o)
	}
	file := s.reads(t, path)
	rows, err := csv.NewReader(strings.NewReader(file)).ReadAll()
	if err != nil || len(rows) != o.Metadata.RowCount+1 {
		t.Fatalf("%d rows of %d: %v", len(rows)-1, o.Metadata.RowCount, err)
	}
	return file
}

// TestExportsSurviveKills kills the program repeatedly while it exports. Every export that is reported as complete is complete, and eventually all
// are.
func TestExportsSurviveKills(t *testing.T) {
	t.Parallel()
	fewest, most := times(t, 12), 60
	if testing.Short() {
		t.Log("left out of a short run: the larger export")
		most = fewest
	}
	folder, r := t.TempDir(), rand.New(rand.NewPCG(3, 4))
	flags := []string{"--quiet", "--db", "w.db", "--export-workers", "2"}
	s := start(t, folder, flags...)
	evm, primary := exportAll(t, s.reads(t, "/sim/world"))
	began := time.Now()
	want := map[string]string{evm: s.whole(t, s.begin(t, evm).OperationID), primary: s.whole(t, s.begin(t, primary).OperationID)}
	span := int64(time.Since(began)) // what a job takes on this machine
	pending, kills, unfinished := map[string]string{}, 0, 0
	for ; kills < fewest || unfinished == 0 && kills < most; kills++ {
		for _, body := range []string{evm, primary} {
			pending[s.begin(t, body).OperationID] = want[body]
		}
		time.Sleep(time.Duration(r.Int64N(span)))
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s = start(t, folder, flags...)
		for id, file := range pending {
			switch o := s.state(t, id); {
			case o.OperationStatus == "RUNNING":
				unfinished++
			case s.completed(t, o) != file:
				t.Errorf("%+v has another file", o)
			default:
				delete(pending, id)
			}
		}
	}
	for id, file := range pending {
		if s.whole(t, id) != file {
			t.Errorf("%s has another file", id)
		}
	}
	if most > fewest && unfinished == 0 {
		t.Error("no export was found unfinished")
	}
	s.stopped(t)
	verify := command(t, "verify", "--db", filepath.Join(folder, "w.db"))
	if code, stdout, stderr := outcome(t, verify); code != 0 || !regexp.MustCompile(fmt.Sprintf(`(?m)^ *exports +%d\b`, 2*kills+2)).MatchString(stdout) {
		t.Error(code, stdout, stderr)
	}
}

// stopped stops the program like a user.
func (s *started) stopped(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("exit: %v, %s", err, s.banner)
	}
}

// TestTwoHundredExportsAtOnce: the server accepts each at once and completes it eventually, while reads continue.
func TestTwoHundredExportsAtOnce(t *testing.T) {
	t.Parallel()
	const alice = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
	posts, files := times(t, 200), []string{"w.db", ":memory:"}
	if testing.Short() {
		t.Log("left out of a short run: all files but one")
		files = files[:1]
	}
	for _, db := range files {
		s := start(t, t.TempDir(), "--quiet", "--db", db)
		body := exportBody(t, "TRANSACTION_EXPORT_EVM", []string{alice}, []string{"43114", "43113"})
		operations, names := make([]operationState, posts), map[string]bool{}
		var all sync.WaitGroup
		for i := range operations {
			all.Go(func() { operations[i] = s.begin(t, body) })
		}
		all.Wait()
		want := s.whole(t, operations[0].OperationID)
		for i, o := range operations {
			names[o.OperationID] = true
			switch o = s.ended(t, o.OperationID); {
			case o.OperationStatus != "COMPLETED" || o.Metadata.RowCount != strings.Count(want, "\r\n")-1:
				t.Errorf("%+v", o)
			case i%20 == 0 && s.completed(t, o) != want:
				t.Errorf("%s has another file", o.OperationID)
			}
		}
		if len(names) != posts || !regexp.MustCompile(`(?m)^Avalanche`).MatchString(want) {
			t.Errorf("%s: %d operations, %.200s", db, len(names), want)
		}
		s.stopped(t)
	}
}
