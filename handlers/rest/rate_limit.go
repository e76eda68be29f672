package rest

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common/lru"
)

// maxClients bounds the limiter's memory. If more clients are active within one window, the limiter forgets the one that asked least
// recently; all that does is give it a fresh window early.
const maxClients = 16384

// keyFactor multiplies the limit of an unknown client for one with a key.
const keyFactor = 2

// limiter counts requests in fixed windows. A client's window begins with its first request.
type limiter struct {
	mu      sync.Mutex
	length  time.Duration
	clients lru.BasicLRU[string, *window]
}

type window struct {
	end  time.Time
	used int
}

func newLimiter(length time.Duration, most int) *limiter {
	return &limiter{length: length, clients: lru.NewBasicLRU[string, *window](most)}
}

// take counts a request and returns how many are left, or how long until the window ends.
func (l *limiter) take(client string, limit int, now time.Time) (left int, wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, oldest, found := l.clients.GetOldest(); found && !now.Before(oldest.end); _, oldest, found = l.clients.GetOldest() {
		l.clients.RemoveOldest()
	}
	w, known := l.clients.Get(client)
	if !known || !now.Before(w.end) {
		w = &window{end: now.Add(l.length)}
		l.clients.Add(client, w)
	}
	if w.used >= limit {
		return 0, w.end.Sub(now), false
	}
	w.used++
	return limit - w.used, w.end.Sub(now), true
}

// Allowance limits how often each client may do something.
type Allowance struct {
	limiter *limiter
	times   int
	what    string
}

// NewAllowance allows each client a number of times in a period of real time; what describes them, such as "payments per hour".
func NewAllowance(times int, period time.Duration, what string) *Allowance {
	return &Allowance{newLimiter(period, maxClients), times, what}
}

// Spend counts a request against its client's allowance, or returns a 429.
func (a *Allowance) Spend(r *Request) error {
	if _, wait, ok := a.limiter.take(peer(r.HTTP), a.times, r.server.opts.Now()); !ok {
		return TooMany(fmt.Sprintf("the limit of %d %s is used up", a.times, a.what), int64((wait+time.Second-1)/time.Second))
	}
	return nil
}

// limit counts the request against the client's allowance and reports the allowance in the headers.
func (a *access) limit(h http.Header, r *http.Request, key *Key) error {
	limit, client := a.allowance(r, key)
	if limit == 0 {
		return nil
	}
	left, wait, ok := a.limiter.take(client, limit, a.now())
	h.Set("ratelimit-policy", strconv.Itoa(limit)+";w=60")
	h.Set("ratelimit-limit", strconv.Itoa(limit))
	h.Set("ratelimit-remaining", strconv.Itoa(left))
	if ok {
		return nil
	}
	seconds := int64((wait + time.Second - 1) / time.Second)
	h.Set("ratelimit-reset", strconv.FormatInt(seconds, 10))
	return TooMany(fmt.Sprintf("the limit of %d requests per minute is used up", limit), seconds)
}

// allowance returns a client's requests per minute, zero for no limit, and whose limit it is: the key's if the key counts, otherwise the
// peer's.
func (a *access) allowance(r *http.Request, key *Key) (limit int, client string) {
	if key == nil {
		return a.rateLimit, "ip " + peer(r)
	}
	if key.Limit > 0 {
		return key.Limit, "key " + key.Key
	}
	return keyFactor * a.rateLimit, "key " + key.Key
}
