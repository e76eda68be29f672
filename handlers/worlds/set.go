package worlds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/store/dbfile"
)

// Main is the name of the world that the process was started with.
const Main = "main"

// Prefix is before the name of a world in a path.
const Prefix = "/w/"

// Server answers for one world.
type Server interface {
	http.Handler
	Work(ctx context.Context) error // until the context ends
	Close()
}

// copiesAtOnce is how many copies are made at a time. Each reads a file, opens it and builds the server of a world, which takes several times
// the memory that the world takes afterwards; more at once would not be there sooner.
const copiesAtOnce = 2

// Options are what a set needs to know.
type Options struct {
	Most      int   // worlds beside the main one
	MostBytes int64 // of each

	Now func() time.Time // the real time, for those that end when nobody asks them
	Log *slog.Logger

	Generator Generator
	// Serve makes the server of a world.
	Serve func(all *Set, w *sim.World, name string) (Server, error)
}

// Generator makes worlds of a seed.
type Generator struct {
	Profiles map[string]int64 // the built-in ones, and about how many bytes a world of each takes
	Generate func(ctx context.Context, path string, seed int64, profile string) error
}

// Set is the worlds of a process.
type Set struct {
	options Options
	world   *sim.World // the main one
	main    Server
	file    string // of the main world; empty when it is in memory

	working context.Context // of all but the main world
	stop    context.CancelFunc

	generating sync.Mutex    // one at a time: it takes all processors
	copying    chan struct{} // holds one for each copy that is being made, of copiesAtOnce

	mu     sync.Mutex // guards what follows
	hosted map[string]*hosted
	folder *folder // of the files that are not kept; nil before the first
	made   int     // worlds without a name of their own
	closed bool
}

// New makes the set of a process with a main world, and finds the worlds that were kept.
func New(w *sim.World, o Options) (*Set, error) {
	s := &Set{options: o, world: w, hosted: map[string]*hosted{}, copying: make(chan struct{}, copiesAtOnce)}
	if s.options.Now == nil {
		s.options.Now = time.Now
	}
	if s.options.Log == nil {
		s.options.Log = slog.New(slog.DiscardHandler)
	}
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

// keptPath is the file of a world that is kept.
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

// ServeHTTP answers for the world below whose path a request is.
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
		s.options.Log.Error("a world does not answer", "error", err)
		e = rest.Unavailable("the world cannot be opened; the simulator's log says why")
	}
	rpc.Refuse(w, r, e)
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
	return rest.NotFound("there is no world %.70q: GET /sim/worlds lists those that are", name)
}

// Work does the work of the main world, and ends worlds that nobody asks any more, until the context ends.
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

// endIdle ends the worlds that nobody has asked for as long as they are to live then.
func (s *Set) endIdle() {
	now := s.options.Now()
	for _, h := range s.list() {
		if !h.idle(now) {
			continue
		}
		if err := s.Delete(context.Background(), h.name); err != nil && !errors.As(err, new(*rest.Error)) {
			s.options.Log.Error("a world that nobody asks did not end well", "world", h.name, "error", err)
		}
	}
}

// list are all worlds beside the main one, by name.
func (s *Set) list() []*hosted {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*hosted, 0, len(s.hosted))
	for _, h := range s.hosted {
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b *hosted) int { return cmp.Compare(a.name, b.name) })
	return all
}

// Open is how many worlds are there, the main one included.
func (s *Set) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return 1 + len(s.hosted)
}

// Delete ends a world and removes its file. The request that asks for it may be one to the world itself.
func (s *Set) Delete(ctx context.Context, name string) error {
	if name == Main {
		return rest.Conflict("the main world ends with the process: POST /sim/reset brings it back to its beginning")
	}
	h, err := s.find(name)
	if err == nil && h.keep && s.world.DB.ReadOnly() {
		err = rest.Forbidden(store.ErrReadOnly.Error())
	}
	if err == nil {
		err = h.open(ctx) // nobody else has it then
	}
	if err == nil {
		err = h.end(ctx, true)
	}
	return err
}

// forget gives the name of a world free.
func (s *Set) forget(h *hosted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.hosted, h.name)
}

// Close ends all worlds, those that are being made as well, and stops serving the main one, which stays open.
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

// place reserves a name, and says where the world's file is to be.
func (s *Set) place(name string, keep bool) (*hosted, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, rest.Unavailable("the server stops")
	case keep && s.file == "":
		return nil, rest.BadRequest("keep needs a main world in a file: this one is in memory; start the server with --db and a file")
	case keep && s.world.DB.ReadOnly():
		return nil, rest.Forbidden(store.ErrReadOnly.Error())
	case len(s.hosted) >= s.options.Most:
		return nil, rest.Conflict(fmt.Sprintf("there are %d worlds already, as many as --worlds allows: delete some, or give them a ttl", len(s.hosted)))
	}
	for name == "" {
		s.made++
		if next := fmt.Sprintf("world-%d", s.made); s.hosted[next] == nil {
			name = next
		}
	}
	if s.hosted[name] != nil {
		return nil, rest.Conflict(fmt.Sprintf("there is a world %q already: delete it, or choose another name", name))
	}
	h := newHosted(s, name)
	h.keep, h.created, h.used = keep, s.options.Now(), s.options.Now()
	if h.path = s.keptPath(name); !keep {
		if s.folder == nil || !dbfile.Exists(s.folder.path) { // whoever tidies up temporary files may have taken it
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
