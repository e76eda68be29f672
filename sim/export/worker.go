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

// Run carries exports out until the context ends, starting with those that an earlier run left unfinished.
func (e *Jobs) Run(ctx context.Context) error {
	e.readUnfinished(ctx)
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
	for (len(e.waiting) == 0 || e.paused) && ctx.Err() == nil {
		if e.unread && !e.paused {
			e.unread = false
			e.mu.Unlock()
			e.readUnfinished(ctx)
			e.mu.Lock()
			continue
		}
		e.woken.Wait()
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

// tryOne continues an export and reports whether that ended it; if not, the result could not be stored.
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

// attempt makes the missing chunks of an export's file.
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
	if now := e.world.Clock.Unix(); o.Chunks == 0 && scope.From > now {
		return e.fail(ctx, o, ErrInvalidRequest, fmt.Sprintf("firstDate %s is after the world's time, %s",
			dateOf(scope.From), time.Unix(now, 0).UTC().Format(time.RFC3339)))
	}
	for o.Status == store.OperationRunning {
		if o, err = e.resume(ctx, o, scope.Before(o.Next)); err != nil {
			return err
		}
	}
	return nil
}

// dateOf formats the day that begins at a time in Unix seconds.
func dateOf(unix int64) string { return time.Unix(unix, 0).UTC().Format(time.DateOnly) }

// resume makes one chunk after another, until the file is complete or a day exceeds its row limit.
func (e *Jobs) resume(ctx context.Context, o *store.Operation, scope Scope) (*store.Operation, error) {
	var last *store.ChunkInfo
	if o.Chunks > 0 {
		pieces, err := e.world.DB.ChunkInfos(ctx, o.ID, o.Chunks-1, o.Chunks-1)
		if err != nil || len(pieces) == 0 {
			return nil, errors.Join(fmt.Errorf("operation %d has no chunk %d", o.ID, o.Chunks-1), err)
		}
		last = &pieces[0]
	}
	cutter, err := NewChunker(ctx, e.world, scope, o.ID, last)
	if err != nil {
		return nil, err
	}
	for {
		step, err := cutter.Next(ctx)
		if err != nil {
			return nil, err
		}
		if step.Full != 0 {
			return e.truncate(ctx, o, step.Full)
		}
		if o, err = e.store(ctx, o, step); err != nil || step.Last {
			return o, err
		}
	}
}

// store writes a chunk, and with the last one marks the export complete.
func (e *Jobs) store(ctx context.Context, o *store.Operation, step *Step) (*store.Operation, error) {
	next := WithChunks(*o, o.Chunks+1, step.Chunk.ChunkInfo)
	next.Updated = e.world.Clock.Unix()
	switch {
	case step.Last && o.Next != 0:
		next.Status, next.Code = store.OperationCompletedWithWarning, WarnTruncatedExport
		next.Message = fmt.Sprintf("the export has as many whole days as fit in the limit of rows; another one with firstDate %s goes on", dateOf(o.Next))
	case step.Last:
		next.Status = store.OperationCompleted
	}
	return &next, e.world.UpdateOperation(ctx, &next, func(b *store.Batch) error { return b.AddChunk(step.Chunk) })
}

// truncate ends an export before a day, and drops the chunks that reach into that day.
func (e *Jobs) truncate(ctx context.Context, o *store.Operation, day int64) (*store.Operation, error) {
	pieces, err := e.world.DB.ChunkInfos(ctx, o.ID, 0, o.Chunks-1)
	if err != nil {
		return nil, err
	}
	kept := 0
	for kept < len(pieces) && pieces[kept].Reached < day {
		kept++
	}
	next := WithChunks(*o, 0, store.ChunkInfo{})
	if kept > 0 {
		next = WithChunks(*o, kept, pieces[kept-1])
	}
	next.Next, next.Updated = day, e.world.Clock.Unix()
	return &next, e.world.UpdateOperation(ctx, &next, func(b *store.Batch) error { return b.DropChunks(o.ID, kept) })
}

// fail ends an export without a file.
func (e *Jobs) fail(ctx context.Context, o *store.Operation, code, message string) error {
	next := WithChunks(*o, 0, store.ChunkInfo{})
	next.Status, next.Code, next.Message, next.Next, next.Updated = store.OperationFailed, code, message, 0, e.world.Clock.Unix()
	return e.world.UpdateOperation(ctx, &next, func(b *store.Batch) error { return b.DropChunks(o.ID, 0) })
}

// WithChunks returns an operation with a number of chunks, given the last of them.
func WithChunks(o store.Operation, chunks int, last store.ChunkInfo) store.Operation {
	o.Chunks, o.Size, o.Rows, o.Reached, o.Content = chunks, last.Start+last.Size, last.Rows, last.Reached, last.Digest
	if o.Content == nil {
		o.Content = []byte{}
	}
	return o
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

// Content returns the file of a complete export, plain or gzipped.
func (e *Jobs) Content(ctx context.Context, o *store.Operation, zipped bool) (*FileReader, error) {
	return OpenFile(ctx, e.world.DB, o, zipped)
}
