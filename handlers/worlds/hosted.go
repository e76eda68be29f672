package worlds

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/store/dbfile"
)

// hosted is a world other than the main one.
type hosted struct {
	set        *Set
	name, path string
	from       string // the world's origin
	keep       bool
	ttl        time.Duration // idle time after which it ends; 0 for never
	created    time.Time
	made       chan struct{} // closed when it is made, or has failed to be

	opening sync.Mutex // held while the file is opened or closed

	mu     sync.Mutex // guards the fields below
	state  state
	world  *sim.World
	server Server
	users  int       // running requests
	used   time.Time // when the last one ended
	left   chan struct{}

	stop     context.CancelFunc // ends the work
	worked   chan struct{}      // closed when that has ended
	requests context.Context    // ends when running requests are given up
	giveUp   context.CancelFunc
}

// state is the stage in a world's life.
type state int

const (
	making state = iota
	closed       // its file is kept
	open
	ending
)

// Resources of one world among many: most are small and serve one client.
const (
	readers  = 2
	cacheKiB = 512
	idleRead = 20 * time.Second // after which a connection's memory is freed
)

// endTime bounds how long requests may continue in a world that is ending.
const endTime = 3 * time.Second

var nameShape = schema.Shape(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// checkName rejects a name that is not a DNS label (RFC 1123).
func checkName(name string) error {
	if !nameShape().MatchString(name) {
		return fmt.Errorf("name %.70q is not allowed: expected 1 to 63 characters from a to z, 0 to 9 and -, without - at either end", name)
	}
	if name == Main {
		return fmt.Errorf("name %q is not allowed: it is the main world's", name)
	}
	return nil
}

func newHosted(s *Set, name string) *hosted {
	return &hosted{set: s, name: name, made: make(chan struct{})}
}

func (h *hosted) limits() store.Limits {
	return store.Limits{Readers: readers, CacheKiB: cacheKiB, Idle: idleRead, Bytes: h.set.options.MostBytes}
}

// open opens a kept world, unless it is open.
func (h *hosted) open(ctx context.Context) error {
	h.opening.Lock()
	defer h.opening.Unlock()
	switch h.current() {
	case making:
		return rest.Starting(fmt.Sprintf("the world %q is being made: try again", h.name), 1)
	case ending:
		return unknown(h.name)
	case open:
		return nil
	}
	var w *sim.World
	var err error
	if h.set.world.DB.ReadOnly() { // a read-only world has no files beside its own
		w, err = sim.OpenReadOnly(ctx, h.path)
		if errors.Is(err, store.ErrInUse) {
			return rest.Conflict(fmt.Sprintf("another process serves the world %q, or was killed while it did", h.name))
		}
	} else {
		w, err = sim.OpenWithin(ctx, h.path, h.limits())
	}
	if err != nil {
		return h.unopened(err)
	}
	return h.begin(ctx, w)
}

// unopened logs why a kept world could not be opened, and tells the client as much as it can act on.
func (h *hosted) unopened(err error) error {
	h.set.note("a world cannot be opened", err, "world", h.name)
	if store.Internal(err) {
		return errUnopened
	}
	return rest.Unavailable(err.Error())
}

func (h *hosted) current() state {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state
}

// begin serves a world, or closes it.
func (h *hosted) begin(ctx context.Context, w *sim.World) error {
	err := w.Claim(ctx)
	if errors.Is(err, dbfile.ErrLocked) {
		err = rest.Conflict(fmt.Sprintf("another process serves the world %q", h.name))
	}
	var server Server
	if err == nil {
		server, err = h.set.options.Serve(h.set, w, h.name)
	}
	if err != nil {
		return errors.Join(err, w.Close())
	}
	working, stop := context.WithCancel(h.set.working)
	requests, giveUp := context.WithCancel(context.Background())
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		if err := server.Work(working); err != nil && working.Err() == nil {
			h.set.note("the work of a world has ended", err, "world", h.name)
		}
	}()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.world, h.server, h.stop, h.worked, h.requests, h.giveUp = w, server, stop, worked, requests, giveUp
	h.state, h.used = open, h.set.options.Now()
	return nil
}

// serve answers a request.
func (h *hosted) serve(w http.ResponseWriter, r *http.Request) error {
	if h.current() != open {
		if err := h.open(r.Context()); err != nil {
			return err
		}
	}
	ctx, leave, entered := h.enter(r.Context())
	if !entered {
		return unknown(h.name)
	}
	defer leave()
	h.server.ServeHTTP(w, r.WithContext(ctx))
	return nil
}

// visit is a running request.
type visit struct {
	of   *hosted
	once sync.Once
}

type visitKey struct{}

func (h *hosted) enter(ctx context.Context) (within context.Context, leave func(), entered bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.state != open {
		return nil, nil, false
	}
	h.users++
	v := &visit{of: h}
	within, cancel := context.WithCancel(context.WithValue(ctx, visitKey{}, v))
	unlink := context.AfterFunc(h.requests, cancel)
	return within, func() {
		unlink()
		cancel()
		v.leave()
	}, true
}

func (v *visit) leave() {
	v.once.Do(func() {
		h := v.of
		h.mu.Lock()
		defer h.mu.Unlock()
		h.users--
		h.used = h.set.options.Now()
		if h.users == 0 && h.left != nil {
			close(h.left)
		}
	})
}

// idle reports whether the world has been idle for its whole time to live.
func (h *hosted) idle(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ttl > 0 && h.state == open && h.users == 0 && now.Sub(h.used) >= h.ttl
}

// end closes the world, and deletes its file or keeps it. Running requests get some time; the one that asks for it, whose context this is,
// does not wait for itself. Then the name is free.
func (h *hosted) end(ctx context.Context, remove bool) error {
	if v, within := ctx.Value(visitKey{}).(*visit); within && v.of == h {
		v.leave()
	}
	h.opening.Lock()
	defer h.opening.Unlock()
	h.mu.Lock()
	was := h.state
	if was == making || was == ending {
		h.mu.Unlock()
		return unknown(h.name)
	}
	h.state, h.left = ending, make(chan struct{})
	if h.users == 0 {
		close(h.left)
	}
	h.mu.Unlock()
	var errs []error
	if was == open {
		errs = append(errs, h.close())
	}
	if remove {
		errs = append(errs, dbfile.Delete(h.path))
	}
	h.set.forget(h)
	return errors.Join(errs...)
}

// close ends the work and the requests, and closes the file.
func (h *hosted) close() error {
	h.stop()
	<-h.worked
	h.server.Close()
	if !h.leftWithin(endTime) {
		h.giveUp()
		h.leftWithin(endTime)
	}
	h.giveUp()
	h.world.DB.Caches().Suspend()
	return h.world.Close()
}

// leftWithin waits until no request is running.
func (h *hosted) leftWithin(most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-h.left:
		return true
	case <-timer.C:
		return false
	}
}
