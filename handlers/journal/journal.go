package journal

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unsafe"

	"snowglobe/handlers/events"
)

// DefaultSize is how many exchanges are remembered unless the user says otherwise.
const DefaultSize = 1000

// KeptBody is how much of a body is remembered.
const KeptBody = 16 << 10

// How many bytes all exchanges may take: so many, or so many each on average. Both bodies of most are far shorter than KeptBody; where
// clients read long lists all the time, fewer exchanges are remembered.
const (
	keptBytes = 4 << 20
	keptEach  = 4 << 10
)

// Exchange is a request and its answer, or a message over WebSocket and what was answered to it. It is not changed once it was
// added.
type Exchange struct {
	ID        int64 // counts from 1
	Time      time.Time
	Took      time.Duration
	World     string
	Client    string // address and port
	Interface string
	Operation string // or the method of JSON-RPC, or batch
	Template  string // the operation's path, with {name} for what varies
	RequestID string
	Fault     string // which was applied, empty for none
	Status    int
	WebSocket bool // a message on a connection that the request opened

	Method, Target, Host string
	URL                  *url.URL // as the operation sees it: without the prefix of a world or of a dialect
	RequestHeader        http.Header
	AnswerHeader         http.Header
	Request, Answer      Body
	Calls                []CallRecord // of JSON-RPC; nil for a request that makes none

	taken int // bytes of memory, about
}

// Body is as much of a body as is kept, and how long it is.
type Body struct {
	Kept []byte
	Size int64
}

// Whole says whether all of it was kept.
func (b *Body) Whole() bool { return int64(len(b.Kept)) >= b.Size }

// Keep is a body as it is remembered. What is in b must not change afterwards.
func Keep(b []byte) Body {
	kept := b
	if len(b) > KeptBody {
		kept = append(make([]byte, 0, KeptBody), b[:KeptBody]...)
	}
	return Body{Kept: kept, Size: int64(len(b))}
}

// Add takes down the next part of a body, as far as it is kept.
func (b *Body) Add(part []byte) {
	b.Size += int64(len(part))
	if room := KeptBody - len(b.Kept); room > 0 {
		b.Kept = append(b.Kept, part[:min(room, len(part))]...)
	}
}

// CallRecord is a call of JSON-RPC as it is remembered, with what came of it.
type CallRecord struct {
	Method string
	Params []byte // a part of the request that is kept, or nil
	Error  *CallError
}

// longestMethod is how many bytes are remembered of the name of a method.
const longestMethod = 100

// Record is a call in a body. The body is not held on to where only a part of it is kept.
func Record(body []byte, method string, params []byte) CallRecord {
	r := CallRecord{Method: method}
	if len(method) > longestMethod {
		r.Method = strings.Clone(method[:longestMethod])
	}
	if len(body) <= KeptBody {
		r.Params = params
	} else if end := cap(body) - cap(params) + len(params); params != nil && end <= KeptBody {
		r.Params = bytes.Clone(params)
	}
	return r
}

// Journal is a ring of exchanges.
type Journal struct {
	size    int
	limit   int // bytes
	secrets []string
	hub     *events.Hub

	mu    sync.Mutex
	ring  []Exchange
	bytes int   // of all in the ring
	last  int64 // id of the latest
	from  int64 // id of the first that was not deleted
}

// New makes a journal for so many exchanges, none for 0. The secrets, such as API keys, are hidden wherever they occur. Each
// exchange is told to the hub.
func New(size int, secrets []string, hub *events.Hub) *Journal {
	return &Journal{size: size, limit: max(keptBytes, size*keptEach), secrets: secrets, hub: hub, from: 1}
}

// Within limits how many bytes the journal takes.
func (j *Journal) Within(bytes int) *Journal {
	j.limit = min(j.limit, bytes)
	return j
}

// On says whether anything is remembered.
func (j *Journal) On() bool { return j != nil && j.size > 0 }

// Size is how many exchanges there is room for.
func (j *Journal) Size() int { return j.size }

// Add takes an exchange down.
func (j *Journal) Add(e *Exchange) {
	j.add(e)
	j.hub.Publish(events.Request, e.World, func() any { return j.Summarize(e) })
}

func (j *Journal) add(e *Exchange) {
	e.taken = e.bytes()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	e.ID = j.last
	if len(j.ring) < j.size {
		j.ring = append(j.ring, *e)
	} else {
		old := &j.ring[j.slot(e.ID)]
		j.bytes -= old.taken
		*old = *e
	}
	for j.bytes += e.taken; j.bytes > j.limit && j.first() < e.ID; j.from++ {
		j.from = j.first()
		oldest := &j.ring[j.slot(j.from)]
		j.bytes -= oldest.taken
		*oldest = Exchange{}
	}
}

// bytes is about how much memory an exchange takes.
func (e *Exchange) bytes() int {
	n := len(e.Request.Kept) + len(e.Answer.Kept) + 2*len(e.Target) + len(e.Host)
	n += len(e.Calls) * int(unsafe.Sizeof(CallRecord{}))
	for _, h := range []http.Header{e.RequestHeader, e.AnswerHeader} {
		for name, values := range h {
			for _, v := range values {
				n += len(name) + len(v)
			}
		}
	}
	return n
}

// slot is where an exchange stands in a ring that is full, or is being filled from its beginning.
func (j *Journal) slot(id int64) int { return int((id - 1) % int64(j.size)) }

// Latest are the exchanges that are remembered, the latest first, from before an id on; 0 for all.
func (j *Journal) Latest(before int64) []Exchange {
	j.mu.Lock()
	defer j.mu.Unlock()
	id := j.last
	if before > 0 {
		id = min(id, before-1)
	}
	var all []Exchange
	for ; id >= j.first(); id-- {
		all = append(all, j.ring[j.slot(id)])
	}
	return all
}

// first is the id of the earliest that is remembered.
func (j *Journal) first() int64 { return max(j.from, j.last-int64(len(j.ring))+1) }

// Find is the exchange with an id, if it is remembered.
func (j *Journal) Find(id int64) (e Exchange, found bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if id < j.first() || id > j.last {
		return e, false
	}
	return j.ring[j.slot(id)], true
}

// Clear forgets everything, and says how much that was. Ids go on from where they were.
func (j *Journal) Clear() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := int(j.last - j.first() + 1)
	j.from = j.last + 1
	for i := range j.ring {
		j.ring[i] = Exchange{}
	}
	j.bytes = 0
	return n
}
