package rest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"snowglobe/sim"
	"snowglobe/sim/cache"
)

// refused reports whether something has to wait for room.
func refused(t *testing.T, try func(context.Context) error) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := try(ctx)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	return err != nil
}

// TestLargeAnswersWaitForRoom makes the largest allowed number of responses, sends them to clients that don't read, and finds room again after they
// have left.
func TestLargeAnswersWaitForRoom(t *testing.T) {
	var all []*LargeAnswer
	begin := func(ctx context.Context) error {
		ctx, l := WithLargeAnswer(ctx, nil)
		if err := AwaitLargeAnswer(ctx); err != nil {
			return err
		}
		all = append(all, l)
		return AwaitLargeAnswer(ctx) // like a second call of a batch
	}
	for range largeAnswers {
		if refused(t, begin) {
			t.Fatal("no room for an answer")
		}
	}
	if !refused(t, begin) {
		t.Error("more answers are made at once than there is room for")
	}
	for i, l := range all {
		if large, err := l.Send(t.Context(), largeBytes/len(all)); !large || err != nil {
			t.Errorf("answer %d: %v %v", i, large, err)
		}
	}
	if refused(t, begin) {
		t.Error("an answer that is on its way keeps others from being made")
	}
	last := all[len(all)-1]
	if !refused(t, func(ctx context.Context) error { _, err := last.Send(ctx, 1); return err }) {
		t.Error("more bytes are on their way than there is room for")
	}
	all[0].Release()
	if _, err := last.Send(t.Context(), 1); err != nil {
		t.Error(err)
	}
	for _, l := range all {
		l.Release()
	}
	if !largeMaking.TryAcquire(largeAnswers) || !largeSending.TryAcquire(largeBytes) {
		t.Error("not all room was given back")
	}
	largeMaking.Release(largeAnswers)
	largeSending.Release(largeBytes)
}

// TestAConnectionHasOneLargeAnswer, even if two of its requests want one.
func TestAConnectionHasOneLargeAnswer(t *testing.T) {
	turn := make(chan struct{}, 1)
	ctx, first := WithLargeAnswer(t.Context(), turn)
	if err := AwaitLargeAnswer(ctx); err != nil {
		t.Fatal(err)
	}
	second := func(ctx context.Context) error {
		ctx, l := WithLargeAnswer(ctx, turn)
		defer l.Release()
		return AwaitLargeAnswer(ctx)
	}
	if !refused(t, second) {
		t.Error("two large answers of one connection are made at once")
	}
	first.Release()
	if refused(t, second) {
		t.Error("the turn was not given back")
	}
}

// TestUnexpectedLargeAnswersAreBounded makes responses grow unexpectedly large, for clients that don't read.
func TestUnexpectedLargeAnswersAreBounded(t *testing.T) {
	_, small := WithLargeAnswer(t.Context(), nil)
	if large, err := small.Send(t.Context(), unexpected-1); large || err != nil {
		t.Errorf("a small answer: %v %v", large, err)
	}
	_, first := WithLargeAnswer(t.Context(), nil)
	if large, err := first.Send(t.Context(), largeBytes); !large || err != nil {
		t.Fatalf("the first: %v %v", large, err)
	}
	waiting, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	for range 2 {
		go func() {
			_, l := WithLargeAnswer(waiting, nil)
			_, err := l.Send(waiting, unexpectedBytes/2)
			ended <- err
		}()
	}
	for largeWaiting.TryAcquire(1) { // until both wait
		largeWaiting.Release(1)
		time.Sleep(time.Millisecond)
	}
	_, last := WithLargeAnswer(t.Context(), nil)
	if _, err := last.Send(t.Context(), unexpected); !errors.Is(err, errTooManyLarge) {
		t.Errorf("one more than may wait: %v", err)
	}
	cancel()
	for range 2 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	first.Release()
	if large, err := last.Send(t.Context(), unexpected); !large || err != nil {
		t.Errorf("with room again: %v %v", large, err)
	}
	last.Release()
}

// deadlined is a response that keeps its deadline.
type deadlined struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (d *deadlined) SetWriteDeadline(at time.Time) error {
	d.until = at
	return nil
}

// TestStreamedAnswersTakeTheirTime: a client may read slowly, but not for ever, and is not sent two histories or more than fits.
func TestStreamedAnswersTakeTheirTime(t *testing.T) {
	if err := StreamAnswer(t.Context(), largeBytes, largeBytes); err != nil {
		t.Errorf("of no request: %v", err)
	}
	s, err := New(Options{Clock: sim.NewClock(time.Now()), WorldKey: make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	var streamed error
	body := make([]byte, unexpected)
	s.Mount("node", "/ext", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if streamed = StreamAnswer(r.Context(), 3*slowest+1, unexpected); r.URL.Path == "/ext/write" {
			_, streamed = w.Write(body)
		}
	}))
	ask := func(ctx context.Context, path string) *deadlined {
		w := &deadlined{httptest.NewRecorder(), time.Time{}}
		s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", path, nil))
		return w
	}
	began := time.Now()
	if w := ask(t.Context(), "/ext/stream"); streamed != nil || w.until.Sub(began) < largeTimeout+3*time.Second || w.until.Sub(began) > largeTimeout+13*time.Second {
		t.Errorf("%v, until %s after the start", streamed, w.until.Sub(began))
	}
	if w := ask(t.Context(), "/ext/write"); streamed != nil || w.Body.Len() != len(body) {
		t.Errorf("%v, %d bytes are written", streamed, w.Body.Len())
	}
	gate := sim.NewGate(&cache.Group{}, time.Millisecond)
	late, leave, err := gate.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	gate.Close()
	gate.Open()
	if ask(late, "/ext/stream"); !errors.Is(streamed, ErrOvertaken) {
		t.Errorf("of a request that was overtaken: %v", streamed)
	}
	if !largeWaiting.TryAcquire(unexpectedBytes) {
		t.Fatal("something waits already")
	}
	defer largeWaiting.Release(unexpectedBytes)
	if ask(t.Context(), "/ext/stream"); !errors.Is(streamed, errTooManyLarge) {
		t.Errorf("of one more than may wait: %v", streamed)
	}
	if w := ask(t.Context(), "/ext/write"); !errors.Is(streamed, errTooManyLarge) || w.Code != 503 || w.Header().Get("Retry-After") != "1" || w.Body.Len() > 200 {
		t.Errorf("%v: %d %v %.200s", streamed, w.Code, w.Header(), w.Body)
	}
}
