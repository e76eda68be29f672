// A server with a damaged file: its health and its log report it, and it keeps serving.

package handlers_test

import (
	"bytes"
	"context"
	"database/sql"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/verify"
)

// TestServeNoticesDamage serves intact and damaged files. Soon after the start the health checks, and the log once, report the damage, and the server
// keeps serving.
func TestServeNoticesDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.db")
	worldFile(t, path)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ damage, where string }{
		{"", ""},
		{"UPDATE tx SET gas_used = gas_used + 1 WHERE id = (SELECT max(id) FROM tx)", "its gas does not add up"},
		{"page", ""},
	} {
		t.Run(c.where, func(t *testing.T) {
			t.Parallel()
			copied := filepath.Join(t.TempDir(), "copy.db")
			damaged := bytes.Clone(sound)
			if c.damage == "page" {
				offset, size := leafPage(t, path, "log")
				clear(damaged[offset : offset+size])
			}
			if err := os.WriteFile(copied, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			if c.damage != "" && c.damage != "page" {
				change(t, copied, c.damage)
			}
			said := health(t, copied, c.damage != "")
			if c.damage == "" {
				if strings.Contains(said, "damage") {
					t.Error(said)
				}
				return
			}
			if strings.Count(said, "level=ERROR") != 1 || !strings.Contains(said, c.where) {
				t.Errorf("the log says: %s", said)
			}
		})
	}
}

// TestDamageIsNoticedSoon inspects a damaged file of the default size and finds the damage within two seconds of the start, using half of one
// processor.
func TestDamageIsNoticedSoon(t *testing.T) {
	if testing.Short() {
		t.Log("left out of a short run: the rest, whose world takes seconds to make")
		return // making the world takes seconds
	}
	path := filepath.Join(t.TempDir(), "world.db")
	if err := readWorldOf(t, "default").DB.WriteCopy(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	change(t, path, "UPDATE primary_block SET gas_excess = gas_excess + 1 WHERE id = (SELECT max(id) FROM primary_block)") // these rows are inspected last
	w, err := sim.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	least := time.Hour
	for range 3 { // the machine may be busy
		before := worked(t)
		if err := verify.Inspect(t.Context(), w, nil); err == nil {
			t.Fatal("nothing is found")
		}
		least = min(least, worked(t)-before)
	}
	t.Logf("found within %s of a processor's time", least)
	if least > 2*time.Second { // a quiet machine takes less than half of that
		t.Errorf("found within %s of a processor's time", least)
	}
}

// leafPage locates a leaf page of a table, which holds only rows, in the file.
func leafPage(t *testing.T, path, table string) (offset, size int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT pgoffset, pgsize FROM dbstat WHERE name = ? AND pagetype = 'leaf'", table).Scan(&offset, &size); err != nil {
		t.Fatal(err)
	}
	return offset, size
}

// change runs a statement on a file, like another program.
func change(t *testing.T, path, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(text); err != nil {
		t.Fatal(err)
	}
}

// health serves a file until its inspection is over, compares the health checks, and returns the log.
func health(t *testing.T, path string, damaged bool) string {
	t.Helper()
	w, err := sim.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	log := &logLines{}
	s, err := handlers.New(w, handlers.Options{Network: "mainnet", Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- s.Work(ctx) }()
	for limit := time.Now().Add(20 * time.Second); damaged && w.Health(ctx) == nil && time.Now().Before(limit); {
		time.Sleep(10 * time.Millisecond)
	}
	if !damaged {
		time.Sleep(200 * time.Millisecond)
	}
	for path, want := range map[string][2]string{ // without damage and with it
		"/sim/health":      {`"healthy":true`, "the world's file is damaged"},
		"/v1/health-check": {`"status":"ok"`, "the world's file is damaged"},
		"/v2/health-check": {`"status":"ok"`, "the world's file is damaged"},
		"/ext/health":      {`"healthy":true`, `"error":"the world's file is damaged`},
		"/fuji/ext/health": {`"healthy":true`, `"healthy":false`},
	} {
		say := want[0]
		if damaged {
			say = want[1]
		}
		if answer := ask(s, "GET", path, ""); !strings.Contains(answer, say) {
			t.Errorf("%s: %s", path, answer)
		}
	}
	if answer := ask(s, "GET", "/v1/chains", ""); !strings.Contains(answer, "43114") {
		t.Errorf("the server does not go on: %s", answer)
	}
	stop()
	<-stopped
	return log.String()
}

// logLines is a log that a test reads while others write.
type logLines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logLines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
