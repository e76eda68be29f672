package worlds

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"snowglobe/handlers/rest"
	"snowglobe/seed"
	"snowglobe/seed/seedtest"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/store/dbfile"
	"snowglobe/sim/store/filelock"
	"snowglobe/sim/verify/verifytest"
)

// many is a set whose worlds have the operations on worlds; /where, which returns how a request arrives; and /wait, which does not answer before its
// context ends.
type many struct {
	*testing.T
	*Set
	now     time.Time
	log     bytes.Buffer
	waiting chan struct{}
	begun   []string // the worlds that started to be served
	fails   error    // of the next world to be served
	worked  func(name string) error
	end     func() error
}

type one struct {
	*rest.Server
	http.Handler
	work func() error
}

func (o one) ServeHTTP(w http.ResponseWriter, r *http.Request) { o.Handler.ServeHTTP(w, r) }
func (o one) Close()                                           {}
func (o one) Work(ctx context.Context) error {
	if o.work != nil {
		return o.work()
	}
	<-ctx.Done()
	return nil
}

// copied is a world in a file, or in memory without a path.
func copied(t *testing.T, path string) *sim.World {
	t.Helper()
	if path == "" {
		return seedtest.Copy(t, 1)
	}
	w, err := seedtest.Shared(t, "tiny", 1).CopyTo(t.Context(), path, store.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func serveMany(t *testing.T, w *sim.World, most int) *many {
	t.Helper()
	m := &many{T: t, now: time.Unix(1_900_000_000, 0), waiting: make(chan struct{}, 1)}
	t.Setenv("TMPDIR", t.TempDir())
	check := func(choices []string) error { return seed.Options{Until: seed.DefaultUntil}.CheckUpgrades(choices) }
	generate := func(ctx context.Context, path string, seed int64, profile string, upgrades []string) error {
		c, err := w.CopyTo(ctx, path, store.Limits{})
		return errors.Join(err, c.Close())
	}
	serve := func(all *Set, w *sim.World, name string) (Server, error) {
		m.begun = append(m.begun, name)
		s, err := rest.New(rest.Options{Clock: w.Clock, WorldKey: w.Identity()})
		if err = errors.Join(err, m.fails); err != nil {
			return nil, err
		}
		routes := http.NewServeMux()
		routes.HandleFunc("/where", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "%s %s %s", name, r.URL.Path, rest.BaseURL(r))
		})
		routes.HandleFunc("/wait", func(_ http.ResponseWriter, r *http.Request) {
			m.waiting <- struct{}{}
			<-r.Context().Done()
		})
		routes.Handle("/", s)
		var work func() error
		if m.worked != nil {
			work = func() error { return m.worked(name) }
		}
		return one{s, routes, work}, Register(s, all, w)
	}
	var err error
	m.Set, err = New(w, Options{Most: most, MostBytes: 64 << 20, Now: func() time.Time { return m.now }, Log: slog.New(slog.NewTextHandler(&m.log, nil)), Serve: serve,
		Generator: Generator{Profiles: map[string]int64{"tiny": 1 << 20, "fits": 64 << 20, "large": 64<<20 + 1}, CheckUpgrades: check, Generate: generate}})
	if err != nil {
		t.Fatal(err)
	}
	m.end = sync.OnceValue(m.Close)
	t.Cleanup(func() {
		if err := m.end(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// want asks and expects a status, and parts of the answer.
func (m *many) want(status int, method, path, body string, parts ...string) string {
	m.Helper()
	r := httptest.NewRequestWithContext(m.Context(), method, "http://localhost"+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:1"
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	m.ServeHTTP(w, r)
	answer := w.Body.String()
	if w.Code != status {
		m.Errorf("%s %s %s: %d %.500s: want %d", method, path, body, w.Code, answer, status)
	}
	for _, part := range parts {
		if !strings.Contains(answer, part) {
			m.Errorf("%s %s %s: %.700s: want %s in it", method, path, body, answer, part)
		}
	}
	return answer
}

// shown is a world as its JSON has it.
func (m *many) shown(name string) (w World) {
	m.Helper()
	if err := json.Unmarshal([]byte(m.want(200, "GET", "/sim/worlds/"+name, "")), &w); err != nil {
		m.Error(err)
	}
	return w
}

// change advances a world's clock, which changes its digest.
func (m *many) change(w *sim.World) {
	m.Helper()
	if err := w.Advance(m.Context(), w.Clock.Now().Add(time.Hour)); err != nil {
		m.Fatal(err)
	}
}

// TestMakeWorlds of the head, of a snapshot, of another world, and of a seed.
func TestMakeWorlds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "my.db")
	main := copied(t, file)
	m := serveMany(t, main, 10)
	m.change(main)
	if _, err := main.TakeSnapshot(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	then := m.shown("main").Digest
	m.change(main)
	now := m.shown("main").Digest
	if then == now {
		t.Fatal("nothing changes the digest")
	}
	m.want(201, "POST", "/sim/worlds", "", `"name":"world-1"`, `"from":"head"`, `"keep":false`)
	m.want(201, "POST", "/sim/worlds", `{"name":"world-2","from":"0x1","ttl":"90m"}`, `"from":"snapshot 1"`, `"ttl":"1h30m0s"`, `"open":true`, `"rpcUrl":"http://localhost/w/world-2/ext/bc/C/rpc"`)
	m.want(201, "POST", "/w/world-2/sim/worlds", `{"from":"head","keep":true}`, `"name":"world-3"`, `"keep":true`, `"wsUrl":"ws://localhost/w/world-3/ext/bc/C/ws"`)
	m.want(201, "POST", "/sim/worlds", `{"name":"seeded","from":{"seed":7,"profile":"tiny"}}`, `"from":"seed 7, profile tiny"`)
	m.change(m.hosted["world-2"].world)
	for name, want := range map[string]string{"main": now, "world-1": now, "world-3": then, "seeded": now} {
		got := m.shown(name)
		if got.Digest != want || *got.Seed != 1 || got.Profile != "tiny" || got.Clock.Unix == 0 || got.TTL != "" || got.Bytes < 100_000 || got.Bytes > 64<<20 || got.Created != "" != (name != "main") {
			t.Errorf("%s is %+v", name, got)
		}
	}
	if got := m.shown("world-1").Created; got != "2030-03-17T17:46:40Z" {
		t.Errorf("it was made at %s", got)
	}
	if m.shown("world-2").Digest == then || m.Open() != 5 || !slices.Equal(m.begun, []string{"main", "world-1", "world-2", "world-3", "seeded"}) {
		t.Errorf("%d are open, of %v", m.Open(), m.begun)
	}
	list := m.want(200, "GET", "/sim/worlds", "", `"most":10`)
	var names []string
	for _, part := range strings.Split(list, `{"name":"`)[1:] {
		names = append(names, part[:strings.Index(part, `"`)])
	}
	if !slices.Equal(names, []string{"main", "seeded", "world-1", "world-2", "world-3"}) {
		t.Errorf("the worlds are %v", names)
	}
	m.want(409, "POST", "/sim/worlds", `{"name":"seeded"}`, `a world \"seeded\" already exists`)
	m.want(204, "DELETE", "/w/seeded/sim/worlds/seeded", "") // by itself
	m.want(404, "GET", "/w/seeded/where", "", "there is no world")
	if _, err := os.Stat(m.folder.path + "/seeded.db"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its file stays: %v", err)
	}
	m.want(201, "POST", "/sim/worlds", `{"name":"seeded"}`)
}

// TestWorldsThatFail leave neither a name nor a file, and what a client is not told goes to the log.
func TestWorldsThatFail(t *testing.T) {
	file := filepath.Join(t.TempDir(), "my.db")
	m := serveMany(t, copied(t, file), 10)
	m.fails = errors.New("no memory")
	m.want(500, "POST", "/sim/worlds", `{"name":"a","keep":true}`)
	m.fails = nil
	if m.Open() != 1 || dbfile.Exists(m.keptPath("a")) {
		t.Error("a world that failed stays")
	}
	if err := os.WriteFile(m.keptPath("a"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.want(409, "POST", "/sim/worlds", `{"name":"a","keep":true}`, "a file already exists")
	if text, err := os.ReadFile(m.keptPath("a")); err != nil || string(text) != "mine" {
		t.Errorf("a file that was there is %q, %v", text, err)
	}
	m.worked = func(string) error { return errors.New("out of work") }
	m.want(201, "POST", "/sim/worlds", `{"name":"b"}`)
	<-m.hosted["b"].worked
	if !strings.Contains(m.log.String(), `msg="the work of a world has ended" world=b error="out of work"`) {
		t.Errorf("the log has %s", &m.log)
	}
	m.worked = nil
	m.want(204, "DELETE", "/sim/worlds/b", "")
	if err := os.RemoveAll(m.folder.path); err != nil { // like somebody who cleans up
		t.Fatal(err)
	}
	m.want(201, "POST", "/sim/worlds", `{"name":"c"}`)
}

// TestWorldsAreBounded refuses requests beyond the bounds, with errors that a client can act on.
func TestWorldsAreBounded(t *testing.T) {
	m := serveMany(t, copied(t, ""), 1)
	m.want(201, "POST", "/sim/worlds", `{"name":"a","ttl":"1s"}`, `"ttl":"1s"`)
	for _, c := range []struct {
		status     int
		body, says string
	}{
		{409, `{"name":"b"}`, "there are already 1 worlds, which is the limit of --worlds"},
		{400, `{"name":"-b"}`, "without - at either end"},
		{400, `{"name":"main"}`, "it is the main world"},
		{400, `{"name":"` + strings.Repeat("b", 64) + `"}`, "1 to 63"},
		{400, `{"ttl":"soon"}`, "10m"},
		{400, `{"ttl":"999ms"}`, "at least 1s"},
		{400, `{"keep":true,"ttl":"10m"}`, "cannot be combined"},
		{400, `{"keep":true}`, "--db"},
		{409, `{"keep":false,"ttl":"10m"}`, "--worlds"},
		{400, `{"from":{"seed":1,"profile":"huge"}}`, "expected one of fits, large, tiny"},
		{400, `{"from":7}`, "from"},
		{400, `{"from":{"seed":1,"profile":"tiny"},"upgrades":["helicon=soon"]}`, `"message":"upgrades: \"soon\" is not never, now or a time in whole seconds like 2026-11-01T00:00:00Z"`},
		{400, `{"from":{"seed":1,"profile":"tiny"},"upgrades":["etna=never"]}`, "upgrades: "},
		{400, `{"from":{"seed":1,"profile":"tiny"},"upgrades":"helicon=never"}`, "upgrades"},
		{400, `{"upgrades":["helicon=never"]}`, "upgrades works only with from.seed and from.profile"},
		{400, `{"of":"head"}`, "expected one of from, keep, name, ttl, upgrades"},
		{404, `{"from":"12"}`, "GET /sim/snapshots"},
		{404, `{"from":"0"}`, "GET /sim/snapshots"},
		{404, `{"from":"tail"}`, "from is head"},
		{409, `{"from":{"seed":1,"profile":"large"}}`, "a world of profile large has about 64 MiB: --world-size allows 64"},
		{409, `{"from":{"seed":1,"profile":"fits"}}`, "--worlds"},
	} {
		m.want(c.status, "POST", "/sim/worlds", c.body, c.says)
	}
	m.want(409, "DELETE", "/sim/worlds/main", "", "POST /sim/reset")
	m.want(404, "DELETE", "/sim/worlds/b", "")
	m.want(404, "GET", "/sim/worlds/b", "")
	m.want(404, "POST", "/w/b/ext/bc/C/rpc", `{"id":7}`, `"id":7`, `"code":-32000`)
	m.options.MostBytes = 1 << 10
	m.want(204, "DELETE", "/sim/worlds/a", "")
	m.want(409, "POST", "/sim/worlds", `{"name":"b"}`, "the world has", "--world-size allows 0")
	m.options.MostBytes = 64 << 20
	m.want(201, "POST", "/sim/worlds", `{"name":"b"}`)
	if got := m.shown("main"); got.Keep || got.Bytes < 100_000 {
		t.Errorf("the main world in memory is %+v", got)
	}
	for _, state := range []state{making, ending} {
		want := 503
		if state == ending {
			want = 404
		}
		h := newHosted(m.Set, "c")
		h.state = state
		m.hosted["c"] = h
		m.want(want, "GET", "/w/c/where", "")
		m.want(want, "DELETE", "/sim/worlds/c", "")
		if list := m.want(200, "GET", "/sim/worlds", ""); strings.Contains(list, `"name":"c"`) == (state == making) {
			t.Errorf("in state %d the list is %s", state, list)
		}
		if err := h.end(t.Context(), false); err == nil || m.hosted["c"] != h {
			t.Errorf("it ends in state %d", state)
		}
	}
	delete(m.hosted, "c")
	if err := m.end(); err != nil {
		t.Error(err)
	}
	m.want(503, "POST", "/sim/worlds", "", "the server is stopping")
}

// TestPathsOfWorlds: a world sees its requests without its name in front, and the links in its answers have it.
func TestPathsOfWorlds(t *testing.T) {
	m := serveMany(t, copied(t, ""), 1)
	m.want(201, "POST", "/sim/worlds", `{"name":"a"}`)
	for path, want := range map[string]string{
		"/where": "main /where http://localhost", "/w/a/where": "a /where http://localhost/w/a", "//w/a/where": "a /where http://localhost/w/a", "/w/main/where": "main /where http://localhost/w/main",
	} {
		if got := m.want(200, "GET", path, ""); got != want {
			t.Errorf("%s arrives as %s: want %s", path, got, want)
		}
	}
	for _, path := range []string{"/w", "/wherever/w/a"} {
		m.want(404, "GET", path, "", "Cannot GET "+path+`"`)
	}
	m.want(404, "GET", "/w/", "", `"Cannot GET /w"`)
	m.want(404, "GET", "/w/nobody", "", `there is no world \"nobody\"`)
}

// TestIdleWorldsEnd after their time to live, but not while somebody uses them.
func TestIdleWorldsEnd(t *testing.T) {
	m := serveMany(t, copied(t, filepath.Join(t.TempDir(), "my.db")), 5)
	m.want(201, "POST", "/sim/worlds", `{"name":"idle","ttl":"10m"}`)
	m.want(201, "POST", "/sim/worlds", `{"name":"used","ttl":"10m"}`)
	m.want(201, "POST", "/sim/worlds", `{"name":"kept","keep":true}`)
	open := func(after time.Duration) string {
		m.now = m.now.Add(after)
		m.endIdle()
		var names []string
		for _, h := range m.list() {
			names = append(names, h.name)
		}
		return strings.Join(names, " ")
	}
	if got := open(10*time.Minute - 1); got != "idle kept used" {
		t.Errorf("before the time is over there are %s", got)
	}
	m.want(200, "GET", "/w/used/where", "")
	if got := open(1); got != "kept used" {
		t.Errorf("after it there are %s", got)
	}
	_, leave, _ := m.hosted["used"].enter(t.Context())
	if got := open(time.Hour); got != "kept used" {
		t.Errorf("while somebody uses it there are %s", got)
	}
	leave()
	m.hosted["used"].path = filepath.Dir(m.file) // it cannot be deleted, because it is not empty
	if got := open(10 * time.Minute); got != "kept" || !strings.Contains(m.log.String(), "an idle world did not end cleanly") {
		t.Errorf("at last there are %s, and the log has %s", got, &m.log)
	}
}

// TestARequestThatDoesNotEnd is given up when its world ends.
func TestARequestThatDoesNotEnd(t *testing.T) {
	m := serveMany(t, copied(t, ""), 5)
	m.want(201, "POST", "/sim/worlds", `{"name":"a"}`)
	left := make(chan string)
	go func() { left <- m.want(200, "GET", "/w/a/wait", "") }()
	<-m.waiting
	begun := time.Now()
	m.want(204, "DELETE", "/sim/worlds/a", "")
	<-left
	if took := time.Since(begun); took < endTime || took > 2*endTime {
		t.Errorf("it took %s", took)
	}
}

// TestKeptWorldsAreThereAgain keeps a world beside the main one's file, changes it, and finds it after a restart.
func TestKeptWorldsAreThereAgain(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "my.db")
	m := serveMany(t, copied(t, path), 5)
	m.want(201, "POST", "/sim/worlds", `{"name":"a","keep":true}`)
	m.want(201, "POST", "/sim/worlds", `{"name":"b"}`)
	m.change(m.hosted["a"].world)
	digest := m.shown("a").Digest
	if err := errors.Join(m.end(), m.world.Close()); err != nil {
		t.Fatal(err)
	}
	if left := filesOf(t, folder); !slices.Equal(left, []string{"my.db", "my.w.a.db"}) {
		t.Errorf("%v are left", left)
	}
	if testing.Short() {
		t.Log("left out of a short run: verification")
	} else {
		c, err := sim.Open(t.Context(), filepath.Join(folder, "my.w.a.db"))
		if err != nil {
			t.Fatal(err)
		}
		verifytest.Sound(t, c)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	half := filepath.Join(folder, "my.w.half.db") // of a world whose process was killed while deleting it
	for _, left := range []string{dbfile.Unfinished(half), half + "-wal", half + "-shm", filepath.Join(folder, "my.w.Strange.db.tmp")} {
		if err := os.WriteFile(left, []byte("left"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w, err := sim.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	m = serveMany(t, w, 5)
	if left := fmt.Sprint(filesOf(t, folder)); strings.Contains(left, "half") || !strings.Contains(left, "Strange") {
		t.Errorf("%s are left", left)
	}
	if list := m.want(200, "GET", "/sim/worlds", "", `"name":"a"`, `"open":false`, `"created":"20`); strings.Contains(list, `"name":"b"`) || len(m.begun) != 1 {
		t.Errorf("the worlds are %s", list)
	}
	if got := m.want(200, "GET", "/w/a/where", ""); got != "a /where http://localhost/w/a" || m.shown("a").Digest != digest || m.shown("a").From != "" || len(m.begun) != 2 {
		t.Errorf("the world that was kept says %s and is %s: want %s", got, m.shown("a").Digest, digest)
	}
	m.want(409, "POST", "/sim/worlds", `{"name":"a"}`)
	m.want(204, "DELETE", "/sim/worlds/a", "")
	if left := filesOf(t, folder); slices.Contains(left, "my.w.a.db") {
		t.Errorf("%v are left", left)
	}
	m.want(404, "GET", "/sim/worlds/half", "")
}

// TestKeptWorldsBesideAWorldThatIsOnlyRead: two processes serve the same files and write to neither.
func TestKeptWorldsBesideAWorldThatIsOnlyRead(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "my.db")
	for _, file := range []string{path, filepath.Join(folder, "my.w.a.db")} {
		if err := copied(t, file).Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "my.w.half.db.tmp"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		w, err := sim.OpenReadOnly(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		m := serveMany(t, w, 5)
		if m.shown("a").Digest != m.shown("main").Digest || !m.hosted["a"].world.DB.ReadOnly() {
			t.Error("the world that was kept is another one")
		}
		m.want(403, "POST", "/sim/worlds", `{"name":"b","keep":true}`, "--read-only")
		m.want(403, "DELETE", "/sim/worlds/a", "", "--read-only")
		m.want(201, "POST", "/sim/worlds", `{"name":"c"}`)
		m.change(m.hosted["c"].world)
		m.want(204, "DELETE", "/sim/worlds/c", "")
	}
	if left := filesOf(t, folder); !slices.Equal(left, []string{"my.db", "my.w.a.db", "my.w.half.db.tmp"}) {
		t.Errorf("%v are left", left)
	}
}

// TestAKeptWorldOfAnotherProcess is not served.
func TestAKeptWorldOfAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my.db")
	other := serveMany(t, copied(t, path), 5)
	other.want(201, "POST", "/sim/worlds", `{"name":"a","keep":true}`)
	m := serveMany(t, copied(t, ""), 5)
	a := newHosted(m.Set, "a")
	a.path, a.keep, a.state = other.hosted["a"].path, true, closed
	m.hosted["a"] = a
	close(a.made)
	m.want(409, "GET", "/w/a/where", "", `another process serves the world \"a\"`)
}

func filesOf(t *testing.T, folder string) (names []string) {
	t.Helper()
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

// TestFoldersOfWorldsDoNotStay leaves behind a folder of worlds like a killed process, one that a process is using, and one that a process has just
// made.
func TestFoldersOfWorldsDoNotStay(t *testing.T) {
	m := serveMany(t, copied(t, ""), 5)
	leave := func(name string, age time.Duration) (folder string, lock *os.File) {
		folder = filepath.Join(os.TempDir(), "snowglobe-worlds-"+name)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		lock, err := os.Create(filepath.Join(folder, "lock"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { lock.Close() })
		made := time.Now().Add(-age)
		if err := os.Chtimes(lock.Name(), made, made); err != nil {
			t.Fatal(err)
		}
		return folder, lock
	}
	killed, lock := leave("killed", time.Hour)
	lock.Close()
	young, lock := leave("young", 0)
	lock.Close()
	used, lock := leave("used", time.Hour)
	if taken, err := filelock.Lock(lock); !taken || err != nil {
		t.Fatal(taken, err)
	}
	m.want(201, "POST", "/sim/worlds", `{"name":"a"}`)
	if dbfile.Exists(killed) || !dbfile.Exists(young) || !dbfile.Exists(used) || abandoned(m.folder.lock.Name()) {
		t.Error("there are", filesOf(t, os.TempDir()))
	}
	if err := m.end(); err != nil {
		t.Error(err)
	}
	if dbfile.Exists(m.folder.path) || len(filesOf(t, os.TempDir())) != 2 {
		t.Error("there are", filesOf(t, os.TempDir()))
	}
}

// TestWhyAWorldCannotBeMade: each failure has a status that tells a client whether to retry.
func TestWhyAWorldCannotBeMade(t *testing.T) {
	m := serveMany(t, copied(t, ""), 5)
	for _, c := range []struct {
		err    error
		status int
		logged bool
	}{
		{store.ErrNotFound, 404, false}, {store.ErrExists, 409, false}, {context.Canceled, 503, false}, {os.ErrPermission, 403, true}, {store.FailedDisk(errors.New("full")), 503, true},
		{fs.ErrNotExist, 503, true}, {&fs.PathError{Op: "open", Path: "x", Err: errors.New("busy")}, 503, true},
	} {
		m.log.Reset()
		var e *rest.Error
		if got := m.refusal(fmt.Errorf("copy: %w", c.err)); !errors.As(got, &e) || e.Status != c.status || (m.log.Len() > 0) != c.logged {
			t.Errorf("%v is refused with %v, logged %s", c.err, got, &m.log)
		}
	}
	if other := errors.New("other"); m.refusal(other) != other {
		t.Error("another failure is refused otherwise")
	}
}
