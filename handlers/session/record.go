package session

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
)

// Bounds on what a Recorder keeps: the bytes of all actions, and of one.
const (
	keptBytes = 4 << 20
	keptEach  = 1 << 20
)

// action is one call that changed the world.
type action struct {
	chain  string // of a node's method; empty for an operation of the simulator
	method string // of the node, or of HTTP
	path   string // of an operation
	data   []byte // parameters or body, as they came
	result []byte // JSON, if the line needs it

	ended, void, failed bool
	large               int    // size of the data, if too large to keep
	line                string // the text, once written

	before int64  // the clock at its start, in milliseconds, if the clock had moved by itself before; otherwise 0
	people bool   // whether people acted on the way
	after  int64  // the clock at its end
	digest []byte // of the world at its end; nil if other actions were under way
}

func (a *action) bytes() int {
	return int(unsafe.Sizeof(*a)) + len(a.chain) + len(a.method) + len(a.path) + len(a.data) + len(a.result) + len(a.line)
}

// Recorder keeps what was done to a world since it was opened.
type Recorder struct {
	world  *sim.World
	people func() bool // whether people act while the clock runs
	limit  int
	begun  []byte // digest of the world at the beginning

	begunAt int64 // the clock at the beginning
	fresh   bool  // whether the session began with the freshly generated world, to which a reset leads

	going atomic.Bool // while the world goes back to a line, nothing is recorded

	mu      sync.Mutex
	actions []*action // in the order of their turns
	bytes   int
	dropped int   // number of the earliest actions, no longer kept
	open    int   // actions under way that have had their turn
	clock   int64 // after the last action
}

// NewRecorder records what is done to a world from now on. people reports whether people act while its clock runs.
func NewRecorder(w *sim.World, people func() bool) *Recorder {
	last := w.DB.LastCommit()
	r := &Recorder{world: w, people: people, limit: keptBytes, begun: w.Digest(), fresh: last != nil && last.Sequence == 0, clock: w.Clock.UnixMilli(), begunAt: w.Clock.UnixMilli()}
	w.SetSchedule(func(ctx context.Context, c *reader.Chain) (context.Context, func(error)) {
		within, done := r.begin(ctx, &action{chain: sim.NameOf(c), method: scheduled})
		return within, func(err error) { done(nil, err != nil) }
	})
	return r
}

// KeepAll keeps the whole session, up to the size that a Player reads.
func (r *Recorder) KeepAll() { r.limit = MostBytes }

// scheduled is the method name of blocks that no client asked for.
const scheduled = "scheduled"

// reading lists methods, without their prefixes, that count as changing the world but only read it, or concern keys and logs.
var reading = []string{
	"accounts", "requestAccounts", "fillTransaction", "pendingTransactions", "dumpState", "setLoggingEnabled", "addAccount", "verbosity", "setHead",
}

// forgettable reports whether a session leaves a method out: it signs, reads, or concerns keys and logs, none of which the digest covers.
func forgettable(method string) bool {
	_, name, _ := strings.Cut(method, "_")
	if strings.HasPrefix(method, "personal_") {
		return name != "sendTransaction"
	}
	return strings.HasPrefix(method, "admin") || strings.HasPrefix(name, "sign") || slices.Contains(reading, name)
}

// Call records a call of a node's method on a chain. The method runs in the returned context; done gets its result.
func (r *Recorder) Call(ctx context.Context, chain, method string, params []byte) (within context.Context, done func(result any, failed bool)) {
	if forgettable(method) {
		return ctx, func(any, bool) {}
	}
	return r.begin(ctx, &action{chain: chain, method: method, data: params})
}

// operations lists the operations that belong to a session.
var operations = []string{
	"moveClock", "takeSnapshot", "revertToSnapshot", "deleteSnapshot", "resetWorld", "addFault", "deleteFaults", "deleteFault", "setIndexLag", "catchUpIndex",
	"setNodeTrouble", "endNodeTrouble", "import", "requestFunds",
}

// Operation does the same for an operation of the simulator.
func (r *Recorder) Operation(ctx context.Context, id, method, path string, body []byte) (within context.Context, done func(result any, failed bool)) {
	if !slices.Contains(operations, id) {
		return ctx, func(any, bool) {}
	}
	return r.begin(ctx, &action{method: method, path: path, data: body})
}

func (r *Recorder) begin(ctx context.Context, a *action) (within context.Context, done func(result any, failed bool)) {
	if r.going.Load() {
		return ctx, func(any, bool) {}
	}
	if len(a.data) > keptEach {
		a.data, a.large = nil, len(a.data)
	} else {
		a.data = bytes.Clone(a.data)
	}
	var once sync.Once
	var taken atomic.Bool
	revision := r.world.Revision()
	begun := func() {
		once.Do(func() {
			r.take(a)
			taken.Store(true)
		})
	}
	return sim.WithTurn(ctx, begun), func(result any, failed bool) {
		if !failed {
			begun()
			a.keep(result)
		}
		if taken.Load() { // else it failed before it could change anything
			r.end(a, failed, r.world.Revision() != revision)
		}
	}
}

// keep keeps the part of a result that the line needs.
func (a *action) keep(result any) {
	_, name, _ := strings.Cut(a.method, "_")
	switch name {
	case "snapshot", "revert", "sendTransaction", "sendTransactionSync":
	default:
		if a.path != "/sim/snapshots" && a.path != "/sim/clock" {
			return
		}
	}
	a.result, _ = json.Marshal(result) // a result without JSON is an error for the client too
}

// take gives an action its place in the order, while it holds the writer's lock or once it has ended.
func (r *Recorder) take(a *action) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.world.Clock.UnixMilli(); r.open == 0 && now > r.clock {
		a.before, a.people = now, r.people()
	}
	r.open++
	r.actions = append(r.actions, a)
	r.bytes += a.bytes()
	for r.bytes > r.limit && len(r.actions) > 1 && r.actions[0].ended {
		r.bytes -= r.actions[0].bytes()
		r.actions[0] = nil
		r.actions = r.actions[1:]
		r.dropped++
	}
}

func (r *Recorder) end(a *action, failed, changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open--
	a.ended, a.failed = true, failed
	a.void = failed && !changed || string(a.result) == "false" && strings.HasSuffix(a.method, "_revert")
	r.clock = r.world.Clock.UnixMilli()
	if a.after = r.clock; r.open == 0 {
		a.digest = r.world.Digest()
	}
	r.bytes += len(a.result)
	if a.void && a.before == 0 {
		r.bytes -= a.bytes()
		at := slices.Index(r.actions, a)
		r.actions = slices.Delete(r.actions, at, at+1)
	}
}

// snapshot returns the actions so far, and the time to which the clock has moved since.
func (r *Recorder) snapshot() (all []*action, dropped int, clock int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.world.Clock.UnixMilli(); r.open == 0 && now > r.clock {
		clock = now
	}
	all = slices.DeleteFunc(slices.Clone(r.actions), func(a *action) bool { return !a.ended })
	return all, r.dropped, clock
}

func timeText(milliseconds int64) string {
	return time.UnixMilli(milliseconds).UTC().Format(time.RFC3339Nano)
}
