package export

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"snowglobe/sim/store"
)

// Codes of an operation, named as in the live API.
const (
	ErrInvalidRequest   = "ErrInvalidRequest"
	ErrInternal         = "ErrInternal"
	WarnTruncatedExport = "WarnTruncatedExport"
)

var errPanic = errors.New("panic")

// Run runs exports until the context ends, starting with the ones that an earlier run left unfinished.
func (e *Jobs) Run(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { e.queue() })()
	e.deleteExpired(ctx)
	var all sync.WaitGroup
	for range e.Workers {
		all.Go(func() { e.work(ctx) })
	}
	all.Wait()
	return nil
}

func (e *Jobs) work(ctx context.Context) {
	for {
		id, within, ok := e.next(ctx)
		if !ok {
			return
		}
		e.runOne(within, id)
		e.deleteExpired(within)
		e.done(id)
	}
}

// readUnfinished queues the world's unfinished exports as soon as they can be read.
func (e *Jobs) readUnfinished(ctx context.Context) {
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, longestPause) {
		unfinished, err := e.world.DB.RunningOperations(ctx)
		if err == nil {
			e.queue(unfinished...)
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
			e.Log.Error("the unfinished exports cannot be read", "err", err)
		}
	}
}

// next waits for an export and takes it from the queue, with the context in which it runs.
func (e *Jobs) next(ctx context.Context) (int64, context.Context, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for (e.unread || len(e.waiting) == 0 || e.paused) && ctx.Err() == nil {
		if !e.unread || e.paused {
			e.woken.Wait()
			continue
		}
		e.unread = false
		e.mu.Unlock()
		e.readUnfinished(ctx)
		e.mu.Lock()
	}
	if ctx.Err() != nil {
		return 0, nil, false
	}
	if e.within == nil || e.within.Err() != nil {
		e.within, e.interrupt = context.WithCancel(ctx)
	}
	id := e.waiting[0]
	e.waiting = e.waiting[1:]
	e.running[id] = true
	return id, e.within, true
}

func (e *Jobs) done(id int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.running, id)
	e.woken.Broadcast()
}

// Delays before retrying a write that the disk refused: short at first, then longer.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 10 * time.Second
)

// runOne finishes an export. It leaves it unchanged if the program stops or the file is read-only.
func (e *Jobs) runOne(ctx context.Context, id int64) {
	for pause := firstPause; !e.tryOne(ctx, id); pause = min(2*pause, longestPause) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// tryOne makes an export and reports whether that ended it; if not, the result could not be stored.
func (e *Jobs) tryOne(ctx context.Context, id int64) (ended bool) {
	err := e.attempt(ctx, id)
	if err == nil || ctx.Err() != nil {
		return true
	}
	o, unread := e.world.DB.Operation(ctx, id)
	e.Log.Error("export failed", "operation", o.Name(), "err", err)
	switch {
	case errors.Is(err, store.ErrReadOnly) || errors.Is(unread, store.ErrNotFound):
		return true
	case errors.Is(err, store.ErrDisk) || unread != nil:
		return false
	}
	err = e.fail(ctx, o, ErrInternal, "the simulator failed; its log has the cause under operation "+o.Name())
	if err != nil && ctx.Err() == nil {
		e.Log.Error("export cannot be given up", "operation", o.Name(), "err", err)
	}
	return err == nil
}

// attempt measures an export's file, which makes it complete.
func (e *Jobs) attempt(ctx context.Context, id int64) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, p, debug.Stack())
		}
	}()
	o, err := e.world.DB.Operation(ctx, id)
	if err != nil {
		return err
	}
	scope, err := ParseScope(o.Request)
	if err != nil {
		return err
	}
	if now := e.world.Clock.Unix(); scope.From > now {
		return e.fail(ctx, o, ErrInvalidRequest, fmt.Sprintf("firstDate %s is after the world's time, %s",
			dateOf(scope.From), time.Unix(now, 0).UTC().Format(time.RFC3339)))
	}
	file, err := Measure(ctx, e.world, scope, func(sofar store.ExportFile) error { return e.update(ctx, o, sofar) })
	if err != nil {
		return err
	}
	o.Status = store.OperationCompleted
	if file.Next != 0 {
		o.Status, o.Code = store.OperationCompletedWithWarning, WarnTruncatedExport
		o.Message = fmt.Sprintf("the export has as many whole days as fit the limit of rows; to continue, request another with firstDate %s", dateOf(file.Next))
	}
	return e.update(ctx, o, file)
}

// dateOf formats the day that begins at a time in Unix seconds.
func dateOf(unix int64) string { return time.Unix(unix, 0).UTC().Format(time.DateOnly) }

// fail ends an export without a file.
func (e *Jobs) fail(ctx context.Context, o *store.Operation, code, message string) error {
	o.Status, o.Code, o.Message = store.OperationFailed, code, message
	return e.update(ctx, o, store.ExportFile{Content: []byte{}})
}

func (e *Jobs) update(ctx context.Context, o *store.Operation, file store.ExportFile) error {
	o.ExportFile, o.Updated = file, e.world.Clock.Unix()
	return e.world.UpdateOperation(ctx, o)
}

// deleteExpired deletes the exports past their retention, then the oldest beyond the number to keep.
func (e *Jobs) deleteExpired(ctx context.Context) {
	var expired, ended []int64
	var err error
	if e.Retention > 0 {
		expired, err = e.world.DB.EndedOperations(ctx, e.world.Clock.Unix()-e.Retention)
	}
	if err = errors.Join(err, e.delete(ctx, expired)); e.Kept > 0 && err == nil {
		ended, err = e.world.DB.EndedOperations(ctx, math.MaxInt64)
		err = errors.Join(err, e.delete(ctx, ended[:max(len(ended)-e.Kept, 0)]))
	}
	if err != nil && ctx.Err() == nil {
		e.Log.Error("old exports cannot be deleted", "err", err)
	}
}

func (e *Jobs) delete(ctx context.Context, numbers []int64) error {
	for _, id := range numbers {
		if err := e.world.DeleteOperation(ctx, id); err != nil {
			return err
		}
	}
	return nil
}
