package worlds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"snowglobe/fixtures/interchange"
	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/store/dbfile"
)

// Main is the name of the world that the process started with.
const Main = "main"

// Prefix precedes a world's name in a path.
const Prefix = "/w/"

// Server serves one world.
type Server interface {
	http.Handler
	Work(ctx context.Context) error // runs until the context ends
	Close()
}

// copiesAtOnce is the number of concurrent copies. Each reads a file, opens it and builds a world's server, which takes several times the
// memory that the world takes afterwards; more copies at once would not be faster.
const copiesAtOnce = 2

// Options configures a set.
type Options struct {
	Most      int   // number of worlds besides the main one
	MostBytes int64 // of each

	Now func() time.Time // the real time, for the time to live
	Log *slog.Logger

	Generator Generator
	// Serve makes a world's server.
	Serve func(all *Set, w *sim.World, name string) (Server, error)
}

// Generator makes worlds from a seed.
type Generator struct {
	Profiles map[string]int64 // built-in profiles, with the approximate bytes of a world of each
	// CheckUpgrades rejects choices of when upgrades activate, such as helicon=never; Generate takes all others.
	CheckUpgrades func(choices []string) error
	Generate      func(ctx context.Context, path string, seed int64, profile string, upgrades []string) error
	// GenerateWithL1 makes a world like an existing one as it began, with one more L1, whose files it reads.
	GenerateWithL1 func(ctx context.Context, of *sim.World, path string, l *interchange.L1) error
}

// Set holds the worlds of a process.
type Set struct {
	options Options
	world   *sim.World // the main one
	main    Server
	file    string // of the main world; empty if it is in memory

	working context.Context // of all worlds but the main one
	stop    context.CancelFunc

	generating sync.Mutex    // one at a time, because it takes all processors
	copying    chan struct{} // holds one element for each running copy, up to copiesAtOnce

	mu     sync.Mutex // guards the fields below
	hosted map[string]*hosted
	folder *folder // of the files that are not kept; nil before the first
	made   int     // worlds made without a chosen name
	closed bool
}

// New makes the set of a process with a main world, and finds kept worlds.
func New(w *sim.World, o Options) (*Set, error) {
	s := &Set{options: o, world: w, hosted: map[string]*hosted{}, copying: make(chan struct{}, copiesAtOnce)}
	if s.options.Now == nil {
		s.options.Now = time.Now
	}
	s.options.Log = cmp.Or(s.options.Log, slog.New(slog.DiscardHandler))
	s.working, s.stop = context.WithCancel(context.Background())
	if !w.DB.InMemory() {
		s.file = w.DB.Path()
	}
	var err error
	if s.main, err = o.Serve(s, w, Main); err == nil {
		err = s.findKept()
	}
	if err != nil {
		s.stop()
	}
	return s, err
}

// keptPath returns the file of a kept world.
func (s *Set) keptPath(name string) string {
	return strings.TrimSuffix(s.file, ".db") + ".w." + name + ".db"
}

func (s *Set) findKept() error {
	if s.file == "" {
		return nil
	}
	files, err := os.ReadDir(filepath.Dir(s.file))
	if err != nil {
		return err
	}
	before, after, _ := strings.Cut(filepath.Base(s.keptPath("*")), "*")
	for _, f := range files {
		rest, found := strings.CutPrefix(f.Name(), before)
		if name, unfinished := strings.CutSuffix(rest, after+".tmp"); found && unfinished && checkName(name) == nil && !s.world.DB.ReadOnly() {
			if err := dbfile.RemoveUnfinished(s.keptPath(name)); err != nil { // its maker was killed
				return err
			}
			continue
		}
		name, file := strings.CutSuffix(rest, after)
		if !found || !file || checkName(name) != nil || !f.Type().IsRegular() {
			continue
		}
		h := newHosted(s, name)
		h.path, h.keep, h.state = s.keptPath(name), true, closed
		close(h.made)
		if info, err := f.Info(); err == nil {
			h.created = info.ModTime()
		}
		s.hosted[name] = h
	}
	return nil
}

// ServeHTTP passes a request to the world that its path names.
func (s *Set) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := "/" + strings.TrimLeft(r.URL.Path, "/")
	after, found := strings.CutPrefix(path, Prefix)
	name, _, _ := strings.Cut(after, "/")
	switch {
	case !found || name == "":
		s.main.ServeHTTP(w, r)
		return
	case path != r.URL.Path:
		u := *r.URL
		u.Path, u.RawPath = path, ""
		r = r.WithContext(r.Context())
		r.URL = &u
	}
	below := rest.Below(r, Prefix+name)
	if name == Main {
		s.main.ServeHTTP(w, below)
		return
	}
	h, err := s.find(name)
	if err == nil {
		err = h.serve(w, below)
	}
	if err != nil {
		s.refuse(w, below, err)
	}
}

func (s *Set) refuse(w http.ResponseWriter, r *http.Request, err error) {
	var e *rest.Error
	if !errors.As(err, &e) {
		s.note("a world does not answer", err)
		e = errUnopened
	}
	rpc.Refuse(w, r, e)
}

var errUnopened = rest.Unavailable("the world cannot be opened; the simulator's log says why")

// note logs a failure with its cause in the words of the engine or the system, which no client sees.
func (s *Set) note(what string, err error, attributes ...any) {
	cause := store.Cause(err)
	if cause == nil {
		cause = err
	}
	s.options.Log.Error(what, append(attributes, "error", err, "cause", cause)...)
}

func (s *Set) find(name string) (*hosted, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.hosted[name]; h != nil {
		return h, nil
	}
	return nil, unknown(name)
}

func unknown(name string) error {
	return rest.NotFound("there is no world %.70q: GET /sim/worlds lists all worlds", name)
}

// Work runs the main world's work and ends idle worlds, until the context ends.
func (s *Set) Work(ctx context.Context) error {
	var beside sync.WaitGroup
	beside.Go(func() {
		every := time.NewTicker(time.Second)
		defer every.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-every.C:
				s.endIdle()
			}
		}
	})
	defer beside.Wait()
	return s.main.Work(ctx)
}

// endIdle ends the worlds that have been idle for their whole time to live.
func (s *Set) endIdle() {
	now := s.options.Now()
	for _, h := range s.list() {
		if !h.idle(now) {
			continue
		}
		if err := s.Delete(context.Background(), h.name); err != nil && !errors.As(err, new(*rest.Error)) {
			s.note("an idle world did not end cleanly", err, "world", h.name)
		}
	}
}

// list returns all worlds but the main one, by name.
func (s *Set) list() []*hosted {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.hosted), func(a, b *hosted) int { return cmp.Compare(a.name, b.name) })
}

// Open returns the number of worlds, including the main one.
func (s *Set) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return 1 + len(s.hosted)
}

// Delete ends a world and deletes its file. Even a request to the world itself may ask for that.
func (s *Set) Delete(ctx context.Context, name string) error {
	if name == Main {
		return rest.Conflict("the main world ends with the process: POST /sim/reset reverts it to its beginning")
	}
	h, err := s.find(name)
	if err == nil && h.keep && s.world.DB.ReadOnly() {
		err = store.ErrReadOnly
	}
	if err == nil {
		err = h.open(ctx) // no one else has it then
	}
	if err == nil {
		err = h.end(ctx, true)
	}
	return err
}

// forget frees the name of a world.
func (s *Set) forget(h *hosted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.hosted, h.name)
}

// Close ends all worlds, including those being made, and stops serving the main one, which stays open.
func (s *Set) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	var wait sync.WaitGroup
	all := s.list()
	errs := make([]error, len(all))
	for i, h := range all {
		wait.Go(func() {
			<-h.made
			errs[i] = h.end(context.Background(), !h.keep)
		})
	}
	wait.Wait()
	s.main.Close()
	if s.folder != nil {
		errs = append(errs, s.folder.remove())
	}
	return errors.Join(errs...)
}

// place reserves a name and returns the path of the world's file.
func (s *Set) place(name string, keep bool) (*hosted, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, rest.Unavailable("the server is stopping")
	case keep && s.file == "":
		return nil, rest.BadRequest("keep needs a main world in a file: this one is in memory; start the server with --db and a file")
	case keep && s.world.DB.ReadOnly():
		return nil, store.ErrReadOnly
	case len(s.hosted) >= s.options.Most:
		return nil, rest.Conflict(fmt.Sprintf("there are already %d worlds, which is the limit of --worlds: delete some, or set a ttl", len(s.hosted)))
	}
	for name == "" {
		s.made++
		if next := fmt.Sprintf("world-%d", s.made); s.hosted[next] == nil {
			name = next
		}
	}
	if s.hosted[name] != nil {
		return nil, rest.Conflict(fmt.Sprintf("a world %q already exists: delete it, or choose another name", name))
	}
	h := newHosted(s, name)
	h.keep, h.created, h.used = keep, s.options.Now(), s.options.Now()
	if h.path = s.keptPath(name); !keep {
		if s.folder == nil || !dbfile.Exists(s.folder.path) { // temporary files may have been cleaned up
			folder, err := newFolder()
			if err != nil {
				return nil, err
			}
			s.folder = folder
		}
		h.path = filepath.Join(s.folder.path, name+".db")
	}
	s.hosted[name] = h
	return h, nil
}
