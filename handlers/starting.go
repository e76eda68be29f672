package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"snowglobe/fixtures"
	"snowglobe/handlers/node"
	"snowglobe/handlers/node/rpc"
	"snowglobe/handlers/rest"
)

// liveListener is a server whose handler may change.
type liveListener struct {
	handler atomic.Pointer[http.Handler]
	stop    context.CancelFunc
	served  chan error
}

func (a *liveListener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(*a.handler.Load()).ServeHTTP(w, r)
}

// begin serves a handler on each listener, or replaces it. If one listener fails, the others stop.
func (l *Listeners) begin(h http.Handler, log *slog.Logger) {
	if l.live != nil {
		l.live.handler.Store(&h)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	a := &liveListener{stop: stop, served: make(chan error, 1)}
	a.handler.Store(&h)
	l.live = a
	go func() {
		group, ctx := errgroup.WithContext(ctx)
		main := http.Handler(a)
		if l.proxy != nil {
			main = l.proxy.Handler(a, func(network string) http.Handler { return node.ForNetwork(network, a) })
			group.Go(func() error { return Serve(ctx, l.proxy.Tunnels(), l.proxy.Inside(), log) })
			group.Go(func() error { return l.proxy.Direct(l.direct) })
			context.AfterFunc(ctx, func() { _ = l.direct.Close() })
		}
		group.Go(func() error { return Serve(ctx, l.Main, main, log) })
		if l.Fuji != nil {
			group.Go(func() error { return Serve(ctx, l.Fuji, node.ForNetwork(fixtures.FujiName, a), log) })
		}
		a.served <- group.Wait()
	}()
}

// Answer serves on each listener until the context ends, then lets running requests finish.
func (l *Listeners) Answer(ctx context.Context, h http.Handler, log *slog.Logger) error {
	l.begin(h, log)
	return l.wait(ctx)
}

// wait lets the listeners serve until the context ends.
func (l *Listeners) wait(ctx context.Context) error {
	select {
	case err := <-l.live.served:
		return err
	case <-ctx.Done():
		l.live.stop()
		return <-l.live.served
	}
}

// Starting returns a progress function for the generation of a world, which also calls another one if that is not nil. From the first call
// on, clients get the progress as their response, until Run takes over. Before that they wait, as they do while an existing world opens,
// which takes milliseconds.
func (l *Listeners) Starting(profile string, log *slog.Logger, also func(done, total int)) (progress func(done, total int)) {
	s := &starting{profile: profile, begun: time.Now()}
	begin := sync.OnceFunc(func() { l.begin(s, log) })
	return func(done, total int) {
		s.done.Store(int64(done))
		s.total.Store(int64(total))
		begin()
		if also != nil {
			also(done, total)
		}
	}
}

// starting answers clients while a world is generated.
type starting struct {
	profile     string
	begun       time.Time
	done, total atomic.Int64 // transactions
}

// Making is the progress of a world's generation.
type Making struct {
	Profile     string `json:"profile"`
	Done        int64  `json:"done"` // transactions
	Expected    int64  `json:"expected"`
	PerSecond   int64  `json:"perSecond"`
	SecondsLeft *int64 `json:"secondsLeft,omitempty"` // nil before the first transaction
}

// unready is the response of GET /sim/health meanwhile.
type unready struct {
	Healthy    bool   `json:"healthy"`
	Message    string `json:"message"`
	Error      string `json:"error"`
	StatusCode int    `json:"statusCode"`
	Making     Making `json:"making"`
}

const retryAfter = 1 // second

func (s *starting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m := s.progress()
	text := fmt.Sprintf("the world is being made (%d of %d transactions): try again", m.Done, m.Expected)
	if r.URL.Path != "/sim/health" || r.Method != http.MethodGet && r.Method != http.MethodHead {
		rpc.Refuse(w, r, rest.Starting(text, retryAfter))
		return
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Retry-After", fmt.Sprint(retryAfter))
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusServiceUnavailable)
	_ = json.NewEncoder(w).Encode(unready{Message: text, Error: http.StatusText(http.StatusServiceUnavailable), StatusCode: http.StatusServiceUnavailable, Making: m}) // the client has gone
}

func (s *starting) progress() Making {
	m := Making{Profile: s.profile, Done: s.done.Load(), Expected: s.total.Load()}
	if since := time.Since(s.begun).Seconds(); m.Done > 0 && since > 0 {
		rate := float64(m.Done) / since
		left := int64(math.Ceil(float64(max(m.Expected-m.Done, 0)) / rate))
		m.PerSecond, m.SecondsLeft = int64(rate), &left
	}
	return m
}

// Close stops the server and closes the listeners.
func (l *Listeners) Close() error {
	if l.live != nil {
		l.live.stop()
		return <-l.live.served
	}
	var errs []error
	for _, listener := range []net.Listener{l.Main, l.Fuji, l.direct} {
		if listener != nil {
			errs = append(errs, listener.Close())
		}
	}
	return errors.Join(errs...)
}
