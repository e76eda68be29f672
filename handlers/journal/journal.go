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

// DefaultSize is the default number of exchanges remembered.
const DefaultSize = 1000

// KeptBody is the number of a body's bytes remembered.
const KeptBody = 16 << 10

// Bounds on the bytes of all exchanges: a total, and an average for each. Most bodies are far shorter than KeptBody; if clients read long
// lists all the time, the journal remembers fewer exchanges.
const (
	keptBytes = 4 << 20
	keptEach  = 4 << 10
)

// Exchange is a request and its response, or a WebSocket message and its answer. It does not change once added.
type Exchange struct {
	ID        int64 // counts from 1
	Time      time.Time
	Took      time.Duration
	World     string
	Client    string // address and port
	Interface string
	Operation string // or the JSON-RPC method, or batch
	Template  string // the operation's path, with {name} for variables
	RequestID string
	Fault     string // the fault applied, empty for none
	Status    int
	WebSocket bool // a message on a connection that the request opened

	Method, Target, Host string
	Scheme               string   // of the URL, if the client named a host of the real network; empty for this server's own addresses
	URL                  *url.URL // as the operation sees it: without the prefix of a world or of a dialect
	RequestHeader        http.Header
	AnswerHeader         http.Header
	Request, Answer      Body
	Calls                []CallRecord // of JSON-RPC; nil if the request makes none

	taken int // approximate bytes of memory
}

// Body is the remembered part of a body, with its full length.
type Body struct {
	Kept []byte
	Size int64
}

// Whole reports whether all of it is remembered.
func (b *Body) Whole() bool { return int64(len(b.Kept)) >= b.Size }

// Keep remembers a body. The caller must not change b afterwards.
func Keep(b []byte) Body {
	kept := b
	if len(b) > KeptBody {
		kept = append(make([]byte, 0, KeptBody), b[:KeptBody]...)
	}
	return Body{Kept: kept, Size: int64(len(b))}
}

// Add appends the next part of a body, up to the limit.
func (b *Body) Add(part []byte) {
	b.Size += int64(len(part))
	if room := KeptBody - len(b.Kept); room > 0 {
		b.Kept = append(b.Kept, part[:min(room, len(part))]...)
	}
}

// CallRecord is a remembered JSON-RPC call with its outcome.
type CallRecord struct {
	Method string
	Params []byte // a slice of the remembered request, or nil
	Error  *CallError

	Console []string // what contracts logged
	Stack   []string // the functions that failed, innermost first
}

// longestMethod is the number of bytes remembered of a method's name.
const longestMethod = 100

// Record remembers a call in a body. If only part of the body is remembered, it does not retain the rest.
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

	// Decode describes the contract call or transaction that a call is about, with the contract's names; empty for none. It may be nil.
	Decode func(method string, params []byte) string

	mu    sync.Mutex
	ring  []Exchange
	bytes int   // of all in the ring
	last  int64 // id of the latest
	from  int64 // id of the first not deleted
}

// New makes a journal for a number of exchanges; 0 remembers none. It hides the given secrets, such as API keys, wherever they occur, and
// publishes each exchange to the hub.
func New(size int, secrets []string, hub *events.Hub) *Journal {
	return &Journal{size: size, limit: max(keptBytes, size*keptEach), secrets: secrets, hub: hub, from: 1}
}

// Within limits the journal's bytes.
func (j *Journal) Within(bytes int) *Journal {
	j.limit = min(j.limit, bytes)
	return j
}

// On reports whether the journal remembers anything.
func (j *Journal) On() bool { return j != nil && j.size > 0 }

// Size returns the number of exchanges that the journal has room for.
func (j *Journal) Size() int { return j.size }

// Add records an exchange.
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

// bytes estimates an exchange's memory.
func (e *Exchange) bytes() int {
	n := len(e.Request.Kept) + len(e.Answer.Kept) + 2*len(e.Target) + len(e.Host)
	n += len(e.Calls) * int(unsafe.Sizeof(CallRecord{}))
	for i := range e.Calls {
		for _, texts := range [][]string{e.Calls[i].Console, e.Calls[i].Stack} {
			for _, text := range texts {
				n += len(text) + int(unsafe.Sizeof(text))
			}
		}
	}
	for _, h := range []http.Header{e.RequestHeader, e.AnswerHeader} {
		for name, values := range h {
			for _, v := range values {
				n += len(name) + len(v)
			}
		}
	}
	return n
}

// slot returns an exchange's position in a ring that is full or still filling.
func (j *Journal) slot(id int64) int { return int((id - 1) % int64(j.size)) }

// Latest iterates over the remembered exchanges below an id, latest first; 0 for all.
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

// first returns the id of the earliest exchange remembered.
func (j *Journal) first() int64 { return max(j.from, j.last-int64(len(j.ring))+1) }

// Find returns the exchange with an id, if it is remembered.
func (j *Journal) Find(id int64) (e Exchange, found bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if id < j.first() || id > j.last {
		return e, false
	}
	return j.ring[j.slot(id)], true
}

// Clear forgets all exchanges and returns their number. Ids continue.
func (j *Journal) Clear() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := int(j.last - j.first() + 1)
	j.from = j.last + 1
	clear(j.ring)
	j.bytes = 0
	return n
}
