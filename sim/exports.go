package sim

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"

	"github.com/google/uuid"

	"snowglobe/sim/export"
	"snowglobe/sim/store"
)

// ExportOptions bound what the exports of a world may do.
type ExportOptions struct {
	Workers   int          // how many run at once, at least one
	MaxRows   int64        // of one file, 0 for no limit; a day's rows stay together
	Retention int64        // seconds of the world's clock for which an export that ended is kept, 0 for ever
	Log       *slog.Logger // of what went wrong; nil for none
}

// Exports are the transaction exports of a world: operations that clients start and that Run carries out. An operation
// and its file are rows of the world: after a crash, the next Run goes on where the rows end.
type Exports struct {
	world *World
	ExportOptions

	mu      sync.Mutex
	woken   *sync.Cond
	waiting []int64 // numbers, in the order in which they begin
	running map[int64]bool
}

// NewExports opens the exports of a world.
func NewExports(w *World, o ExportOptions) *Exports {
	o.Workers = max(o.Workers, 1)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	e := &Exports{world: w, ExportOptions: o, running: map[int64]bool{}}
	e.woken = sync.NewCond(&e.mu)
	return e
}

// Start begins an export of what happened up to now. The scope needs no limit of rows and no heights of chains.
func (e *Exports) Start(ctx context.Context, scope export.Scope) (*store.Operation, error) {
	scope.MaxRows = e.MaxRows
	scope.Lanes = slices.Clone(scope.Lanes)
	source := exportSource(e.world)
	var err error
	for i := range scope.Lanes {
		if scope.Lanes[i].Head, err = source.Height(ctx, scope.Lanes[i]); err != nil {
			return nil, err
		}
	}
	request, err := scope.Text()
	if err != nil {
		return nil, err
	}
	now := e.world.Clock.Unix()
	o, err := e.world.AddOperation(ctx, func(number int64) *store.Operation {
		name := OperationUUID(e.world, number)
		return &store.Operation{ID: number, UUID: name[:], Status: store.Running, Created: now, Updated: now,
			Content: []byte{}, Request: request}
	})
	if err != nil {
		return nil, fmt.Errorf("start an export: %w", err)
	}
	e.queue(o.ID)
	return o, nil
}

// Operation is the one with a UUID. One past its retention does not exist, whether it was deleted already or not.
func (e *Exports) Operation(ctx context.Context, uuid []byte) (*store.Operation, error) {
	o, err := e.world.DB.OperationByUUID(ctx, uuid)
	if err != nil {
		return nil, err
	}
	if e.Retention > 0 && o.Status != store.Running && o.Updated <= e.world.Clock.Unix()-e.Retention {
		return nil, store.ErrNotFound
	}
	return o, nil
}

// Before is how many exports have to begin before one that waits; -1 when it waits no more.
func (e *Exports) Before(id int64) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Index(e.waiting, id)
}

// queue puts exports at the end of those that wait.
func (e *Exports) queue(numbers ...int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, id := range numbers {
		if !e.running[id] && !slices.Contains(e.waiting, id) {
			e.waiting = append(e.waiting, id)
		}
	}
	e.woken.Broadcast()
}

// exportSource is the world as exports read it.
func exportSource(w *World) export.World {
	return export.World{DB: w.DB, Seed: w.Meta.Seed, Chains: w.Chains}
}

// OperationUUID names the operation with a number, by a UUID of version 5 in a name space of the world's own.
func OperationUUID(w *World, number int64) uuid.UUID {
	return uuid.NewSHA1(uuid.UUID(w.Identity()[:16]), strconv.AppendInt(nil, number, 10))
}
