package rest

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// maxClients bounds the limiter's memory. When more clients are active within one window, the one whose window began
// first is forgotten, which can only give it a fresh window early.
const maxClients = 16384

// keyFactor is how much more than an unknown client one with a key may ask.
const keyFactor = 2

// limiter counts requests in fixed windows. A client's window begins with its first request and lasts as long as
// everyone's, so windows end in the order in which they began.
type limiter struct {
	mu      sync.Mutex
	length  time.Duration
	most    int
	clients map[string]*window
	order   []*window // by start; the first are dropped as they end
}

type window struct {
	client string
	end    time.Time
	used   int
}

func newLimiter(length time.Duration, most int) *limiter {
	return &limiter{length: length, most: most, clients: map[string]*window{}}
}

// take counts one request and reports how many are left, or how long until the window ends.
func (l *limiter) take(client string, limit int, now time.Time) (left int, wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(now)
	w := l.clients[client]
	if w == nil {
		w = l.open(client, now)
	}
	if w.used >= limit {
		return 0, w.end.Sub(now), false
	}
	w.used++
	return limit - w.used, w.end.Sub(now), true
}

func (l *limiter) drop(now time.Time) {
	for len(l.order) > 0 && !now.Before(l.order[0].end) {
		l.forgetFirst()
	}
}

func (l *limiter) forgetFirst() {
	delete(l.clients, l.order[0].client)
	l.order[0] = nil
	l.order = l.order[1:]
}

func (l *limiter) open(client string, now time.Time) *window {
	if len(l.order) >= l.most {
		l.forgetFirst()
	}
	w := &window{client: client, end: now.Add(l.length)}
	l.clients[client] = w
	l.order = append(l.order, w)
	return w
}

// limit counts the request against the client's allowance and tells it where it stands.
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

// allowance is how many requests per minute a client may make, zero for any number, and whose they are: the key's if
// it counts as one, else the peer's.
func (a *access) allowance(r *http.Request, key *Key) (limit int, client string) {
	if key == nil {
		return a.rateLimit, "ip " + peer(r)
	}
	if key.Limit > 0 {
		return key.Limit, "key " + key.Key
	}
	return keyFactor * a.rateLimit, "key " + key.Key
}
