package eth

import (
	"cmp"
	"context"
	"io"
	"slices"
	"sync"
	"unsafe"

	"github.com/ethereum/go-ethereum/core/types"

	"snowglobe/handlers/node/eth/marshal"
	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
)

// logAPI implements the eth method that searches for logs.
type logAPI struct{ *api }

// GetLogs returns the logs that match a client's criteria (coreth eth/filters.FilterAPI.GetLogs).
func (a *logAPI) GetLogs(ctx context.Context, wanted filterCriteria) (rpc.Result, error) {
	if err := wanted.filter.Check(); err != nil {
		return rpc.Result{}, err
	}
	if from, to := wanted.from, wanted.to; from != nil && to != nil && *to > 0 && *from > *to {
		return rpc.Result{}, errRange
	}
	return wanted.answer(ctx, a.api)
}

// A search keeps logs in memory up to keptLogs bytes of JSON. Beyond that it keeps only their positions; writing the response reads the
// logs again, in parts of about logPart bytes and at most logsOfPart logs, as fast as the client reads.
const (
	keptLogs   = 2 << 20
	logPart    = 64 << 10
	logsOfPart = 512
)

// logParts pools written parts for reuse.
var logParts = sync.Pool{New: func() any { return new([logPart]byte) }}

// foundLogs collects the logs of a response.
type foundLogs struct {
	chain  *reader.Chain
	head   int      // JSON bytes of removed logs, which precede the logs found
	parts  [][]byte // JSON of the logs found, while it is kept: consecutive parts of about logPart bytes
	before int      // bytes in all parts but the last
	found  []foundLog
	bytes  int // JSON bytes of the logs found
}

// foundLog is a log's position in the chain and in the JSON.
type foundLog struct {
	at         store.Position
	begin, len int32
}

// newFoundLogs starts a response with logs whose blocks are gone.
func newFoundLogs(chain *reader.Chain, removed []*types.Log) *foundLogs {
	var w marshal.Writer
	w.Open('[')
	for _, log := range removed {
		w.Log(log)
	}
	return &foundLogs{chain: chain, head: len(w.JSON), parts: [][]byte{w.JSON}}
}

func (f *foundLogs) add(at store.Position, log *types.Log) {
	if !f.kept() {
		f.release()
		f.parts = f.parts[:1]
		f.parts[0] = f.parts[0][:f.head]
	}
	last := &f.parts[len(f.parts)-1]
	if len(*last) > logPart-1<<10 {
		*last = append(*last, ',')
		f.before += len(*last)
		f.parts = append(f.parts, logParts.Get().(*[logPart]byte)[:0])
		last = &f.parts[len(f.parts)-1]
	}
	w := marshal.Writer{JSON: *last}
	begin, end := appendLog(&w, log)
	*last = w.JSON
	f.found = append(f.found, foundLog{at, int32(f.before + begin), int32(end - begin)})
	f.bytes += end - begin
}

// release frees the parts no longer needed: all but the first, which grows with the search.
func (f *foundLogs) release() {
	for _, part := range f.parts[1:] {
		if cap(part) == logPart {
			logParts.Put((*[logPart]byte)(part[:logPart]))
		}
	}
}

// appendLog appends a log and records its position.
func appendLog(w *marshal.Writer, log *types.Log) (begin, end int) {
	begin = len(w.JSON)
	w.Log(log)
	if w.JSON[begin] == ',' {
		begin++
	}
	return begin, len(w.JSON)
}

func (f *foundLogs) kept() bool { return f.bytes <= keptLogs }

// result returns the response.
func (f *foundLogs) result() rpc.Result {
	inOrder := func(a, b foundLog) int { return cmp.Compare(a.at, b.at) }
	sorted := slices.IsSortedFunc(f.found, inOrder)
	slices.SortFunc(f.found, inOrder)
	commas := max(len(f.found)-1, 0)
	if f.head > len("[") && len(f.found) > 0 {
		commas++
	}
	size := f.head + f.bytes + commas + len("]")
	if !f.kept() {
		f.parts = [][]byte{slices.Clone(f.parts[0][:f.head])}
		held := f.head + 4*logPart + cap(f.found)*int(unsafe.Sizeof(foundLog{}))
		return rpc.Written(size, held, f.write)
	}
	if sorted {
		return f.send(size)
	}
	all := slices.Concat(f.parts...)
	f.release()
	answer := marshal.Writer{JSON: append(make([]byte, 0, size), all[:f.head]...)}
	for _, log := range f.found {
		answer.Separate()
		answer.JSON = append(answer.JSON, all[log.begin:log.begin+log.len]...)
	}
	answer.Close(']')
	return rpc.Bytes(answer.JSON)
}

// send returns the response for logs that were found in order.
func (f *foundLogs) send(size int) rpc.Result {
	last := &f.parts[len(f.parts)-1]
	*last = append(*last, ']')
	if len(f.parts) == 1 {
		return rpc.Bytes(*last)
	}
	return rpc.Written(size, size, func(_ context.Context, w io.Writer) error {
		defer f.release()
		for _, part := range f.parts {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		return nil
	})
}

// write reads the logs again and writes them. They are the same unless the world reverts meanwhile.
func (f *foundLogs) write(ctx context.Context, w io.Writer) error {
	part, written := marshal.Writer{JSON: f.parts[0]}, 0
	places := make([]store.Position, 0, logsOfPart)
	for left := f.found; len(left) > 0; left = left[len(places):] {
		places = places[:0]
		for size := 0; len(places) < min(len(left), logsOfPart) && size < logPart; {
			size += int(left[len(places)].len)
			places = append(places, left[len(places)].at)
		}
		logs, err := f.chain.LogsAt(ctx, places)
		if err != nil {
			return err
		}
		for i, log := range logs {
			if begin, end := appendLog(&part, log); end-begin != int(left[i].len) {
				return rest.ErrOvertaken
			}
		}
		if len(logs) != len(places) || sim.Overtaken(ctx) {
			return rest.ErrOvertaken
		}
		if _, err := w.Write(part.JSON[written:]); err != nil {
			return err
		}
		part.JSON, written = append(part.JSON[:0], '}'), 1 // replaces the comma after the previous log
	}
	_, err := w.Write([]byte{']'})
	return err
}
