package export

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"

	"github.com/google/uuid"

	"snowglobe/sim"
	"snowglobe/sim/store"
)

// Options limits the exports of a world.
type Options struct {
	Workers   int          // exports that run at once, at least one
	MaxRows   int64        // per file, 0 for no limit; a day's rows stay together
	Queue     int          // unfinished exports at once, 0 for any number
	Kept      int          // ended exports to keep, latest first, 0 for all
	Retention int64        // seconds of the world's clock before an ended export is deleted, 0 for never
	Log       *slog.Logger // receives failures; nil for none
}

// Jobs holds a world's transaction exports: clients start operations, and Run carries them out. Operations are rows of the world, so after
// a crash the next Run starts the unfinished ones over.
type Jobs struct {
	world *sim.World
	Options

	starting sync.Mutex // held while an export is added to the world

	mu      sync.Mutex
	woken   *sync.Cond
	waiting []int64 // numbers, in starting order
	unread  bool    // whether a worker must look for unfinished ones first
	running map[int64]bool

	paused    bool
	within    context.Context // of running exports; nil before Run
	interrupt context.CancelFunc
}

// ErrQueue means that no further unfinished export is allowed.
var ErrQueue = errors.New("too many exports are unfinished")

// NewJobs opens the exports of a world.
func NewJobs(w *sim.World, o Options) *Jobs {
	o.Workers = max(o.Workers, 1)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	e := &Jobs{world: w, Options: o, unread: true, running: map[int64]bool{}}
	e.woken = sync.NewCond(&e.mu)
	w.BeforeRewind(e.pause)
	return e
}

// pause stops the running exports. On resume, the unfinished exports that the world then has start over.
func (e *Jobs) pause() (resume func(sim.RewindOptions)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.paused = true
	if e.interrupt != nil {
		e.interrupt()
	}
	for len(e.running) > 0 {
		e.woken.Wait()
	}
	return func(sim.RewindOptions) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.paused, e.waiting, e.unread = false, nil, true
		e.woken.Broadcast()
	}
}

// Start begins an export of everything up to now. The scope needs no row limit and no chain heights.
func (e *Jobs) Start(ctx context.Context, scope Scope) (*store.Operation, error) {
	e.starting.Lock()
	defer e.starting.Unlock()
	if unfinished := e.unfinished(); e.Queue > 0 && unfinished >= e.Queue {
		return nil, fmt.Errorf("%w: %d of at most %d", ErrQueue, unfinished, e.Queue)
	}
	scope.MaxRows = e.MaxRows
	scope.Chains = slices.Clone(scope.Chains)
	o, err := e.world.AddOperation(ctx, func(number int64) (o *store.Operation, err error) {
		for i := range scope.Chains {
			if scope.Chains[i].Head, err = Height(ctx, e.world, scope.Chains[i]); err != nil {
				return nil, err
			}
		}
		request, err := scope.Text()
		name, now := OperationUUID(e.world, number), e.world.Clock.Unix()
		return &store.Operation{ID: number, UUID: name[:], Status: store.OperationRunning, Created: now, Updated: now,
			ExportFile: store.ExportFile{Content: []byte{}}, Request: request}, err
	})
	if err != nil {
		return nil, fmt.Errorf("start an export: %w", err)
	}
	e.queue(o.ID)
	return o, nil
}

func (e *Jobs) unfinished() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.waiting) + len(e.running)
}

// Operation returns the operation with a UUID. One past its retention does not exist, deleted or not.
func (e *Jobs) Operation(ctx context.Context, uuid []byte) (*store.Operation, error) {
	o, err := e.world.DB.OperationByUUID(ctx, uuid)
	if err != nil {
		return nil, err
	}
	if e.expired(o) {
		return nil, store.ErrNotFound
	}
	return o, nil
}

// List lists operations below a number, newest first, without those past their retention.
func (e *Jobs) List(ctx context.Context, before int64, limit int) ([]store.Operation, error) {
	all, err := e.world.DB.Operations(ctx, before, limit)
	return slices.DeleteFunc(all, func(o store.Operation) bool { return e.expired(&o) }), err
}

func (e *Jobs) expired(o *store.Operation) bool {
	return e.Retention > 0 && o.Status != store.OperationRunning && o.Updated <= e.world.Clock.Unix()-e.Retention
}

// Before returns how many exports run before a waiting one; -1 if it no longer waits.
func (e *Jobs) Before(id int64) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Index(e.waiting, id)
}

func (e *Jobs) queue(numbers ...int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, id := range numbers {
		if !e.running[id] && !slices.Contains(e.waiting, id) {
			e.waiting = append(e.waiting, id)
		}
	}
	e.woken.Broadcast()
}

// OperationUUID derives a version 5 UUID from an operation's number, in a name space of the world's own.
func OperationUUID(w *sim.World, number int64) uuid.UUID {
	return uuid.NewSHA1(uuid.UUID(w.Identity()[:16]), strconv.AppendInt(nil, number, 10))
}
