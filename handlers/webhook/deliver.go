package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"snowglobe/handlers/data"
	"snowglobe/handlers/data/primary"
	"snowglobe/handlers/events"
	"snowglobe/handlers/fault"
	"snowglobe/handlers/journal"
	"snowglobe/sim"
	"snowglobe/sim/evm/reader"
	"snowglobe/sim/store"
	"snowglobe/sim/store/outbox"
	webhooks "snowglobe/sim/webhook"
)

// The time that a receiver has to respond, and the delays from the start of a failed attempt to the next: the live service's intervals,
// counted from the third attempt on from the end of that time. After the tenth failure the webhook is deactivated.
const answerTime = 10 * time.Second

var retries = []time.Duration{
	10 * time.Second, answerTime + time.Minute, answerTime + 5*time.Minute, answerTime + 10*time.Minute, answerTime + 30*time.Minute,
	answerTime + 2*time.Hour, answerTime + 6*time.Hour, answerTime + 12*time.Hour, answerTime + 24*time.Hour,
}

const (
	atOnce     = 16                     // webhooks served concurrently
	keptAnswer = 1 << 10                // bytes of a response that are stored
	readAnswer = 64 << 10               // bytes of a response that are read; more is not needed and closes the connection
	lastWords  = 2 * time.Second        // for running attempts when the server stops
	shortly    = 20 * time.Millisecond  // until a block that was just committed can be read
	afterwards = 500 * time.Millisecond // first delay before the file is read or written again; it grows up to longest
	longest    = 10 * time.Second
	together   = 10 * time.Millisecond // commits within this time are handled together, because handling each would slow down senders
)

// Deliverer sends the messages of a world's webhooks.
type Deliverer struct {
	world  *sim.World
	writer *writer
	client *http.Client
	now    func() time.Time
	opts   Options
	log    *slog.Logger
	wake   chan struct{}

	mu      sync.Mutex
	busy    map[int64]bool
	reached map[int64]reached
	asked   int64            // number of requests to deliver again; a position read before one is outdated
	again   map[string]int64 // the latest such request by message uuid, until an attempt that began after it has ended
}

// reached is the last of a webhook's messages up to which all are finished.
type reached struct {
	number int64
	uuid   string // detects that the world was reverted
}

// Options configures webhooks.
type Options struct {
	Targets Targets
	Now     func() time.Time // the wall's clock
	Log     *slog.Logger
	Data    data.Options
	Journal *journal.Journal
	Events  *events.Hub
	Faults  *fault.Set
	World   string // its name among those of the process
}

// New makes a deliverer; from then on the world promises messages. Run delivers them.
func New(w *sim.World, o Options) *Deliverer {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	d := &Deliverer{
		world: w, writer: &writer{w, primary.NewViews(data.NewBase(w, o.Data))}, client: o.Targets.NewClient(answerTime), now: o.Now, opts: o, log: o.Log,
		wake: make(chan struct{}, 1), busy: map[int64]bool{}, reached: map[int64]reached{}, again: map[string]int64{},
	}
	if !w.DB.ReadOnly() {
		webhooks.Start(w, newName)
	}
	w.BeforeRewind(func() func(sim.RewindOptions) { return d.forgetUndone })
	return d
}

// forgetUndone drops requests for messages that a revert has removed.
func (d *Deliverer) forgetUndone(sim.RewindOptions) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name := range d.again {
		if _, err := outbox.Named(context.Background(), d.world.DB, []byte(name)); errors.Is(err, store.ErrNotFound) {
			delete(d.again, name)
		}
	}
}

// Wake makes the deliverer look for due messages.
func (d *Deliverer) Wake() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Run delivers messages until the context ends, then gives running attempts a little time to finish.
func (d *Deliverer) Run(ctx context.Context) {
	if d.world.DB.ReadOnly() {
		return
	}
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lastWords, cancel) })
	defer stop()
	var senders sync.WaitGroup
	defer senders.Wait()
	for ctx.Err() == nil {
		committed := d.world.Committed()
		next, err := d.start(ctx, sending, &senders)
		if err != nil && ctx.Err() == nil {
			d.log.Error("webhooks could not be read", "error", err)
			next = afterwards
		}
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
		case <-d.wake:
		case <-committed:
			time.Sleep(together)
		case <-timer.C:
		}
		timer.Stop()
	}
}

// start serves each webhook that has a due message and is not being served, and returns when the next message is due.
func (d *Deliverer) start(ctx, sending context.Context, senders *sync.WaitGroup) (next time.Duration, err error) {
	next = time.Hour
	active, err := outbox.Active(ctx, d.world.DB)
	if err != nil {
		return 0, err
	}
	for i := range active {
		id := active[i].ID
		d.mu.Lock()
		taken := d.busy[id] || len(d.busy) >= atOnce
		d.mu.Unlock()
		if taken {
			continue
		}
		v, _, err := d.first(ctx, id)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return 0, err
		}
		if wait := time.UnixMilli(v.Next).Sub(d.now()); v.Next > 0 && wait > 0 {
			next = min(next, wait)
			continue
		}
		d.mu.Lock()
		d.busy[id] = true
		d.mu.Unlock()
		senders.Go(func() {
			d.tell(ctx, sending, id)
			d.mu.Lock()
			delete(d.busy, id)
			d.mu.Unlock()
			d.Wake()
		})
	}
	return next, nil
}

// first returns a webhook's first unfinished message, and the number of requests to deliver again before it was read.
func (d *Deliverer) first(ctx context.Context, id int64) (v *outbox.View, asked int64, err error) {
	d.mu.Lock()
	at, asked := d.reached[id], d.asked
	d.mu.Unlock()
	if at.number > 0 {
		v, err := outbox.Numbered(ctx, d.world.DB, id, at.number)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, asked, err
		}
		if string(v.UUID) != at.uuid {
			at = reached{}
		}
	}
	last, err := outbox.Messages(ctx, d.world.DB, id, 1<<62, 1)
	if err != nil {
		return nil, asked, err
	}
	v, err = outbox.NextUndelivered(ctx, d.world.DB, id, at.number)
	if errors.Is(err, store.ErrNotFound) && len(last) > 0 {
		d.reach(&last[0], asked)
	}
	return v, asked, err
}

// tell sends a webhook's due messages one after another.
func (d *Deliverer) tell(ctx, sending context.Context, id int64) {
	pause := afterwards
	for ctx.Err() == nil {
		now := d.now() // before the webhook is read: what falls due once it is inactive must wait
		w, err := outbox.ByID(ctx, d.world.DB, id)
		var v *outbox.View
		var asked int64
		if err == nil {
			v, asked, err = d.first(ctx, id)
		}
		switch {
		case err == nil && w.Active && (v.Next == 0 || !time.UnixMilli(v.Next).After(now)):
			err = d.deliver(sending, w, v, asked)
		case err == nil, errors.Is(err, store.ErrNotFound):
			return
		}
		switch {
		case errors.Is(err, reader.ErrUnfinalized), errors.Is(err, store.ErrNotFound): // not published yet, or gone by now
			time.Sleep(shortly)
		case err != nil && ctx.Err() == nil && sending.Err() == nil:
			name, _ := uuid.FromBytes(w.UUID) // there is none if it could not be read
			d.log.Error("a webhook's message could not be sent", "webhook", name, "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
			pause = min(2*pause, longest)
			continue
		}
		pause = afterwards
	}
}

// deliver makes one attempt, which a fault may change.
func (d *Deliverer) deliver(ctx context.Context, w *outbox.Webhook, v *outbox.View, asked int64) error {
	copies, err := d.disturb(ctx, w, v)
	if err != nil {
		return err
	}
	return d.attempt(ctx, w, v, asked, copies)
}

// attempt sends a message, more than once if a fault asks for copies, and records the last outcome.
func (d *Deliverer) attempt(ctx context.Context, w *outbox.Webhook, v *outbox.View, asked int64, copies int) error {
	request := d.request(v)
	secret, err := outbox.Secret(ctx, d.world.DB, w.Account)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	body, err := d.writer.write(ctx, w, &v.Message)
	switch {
	case errors.Is(err, errVoid):
		return d.note(ctx, w, v, nil, &outbox.State{Status: outbox.Void}, asked, request)
	case errors.Is(err, reader.ErrUnfinalized), errors.Is(err, store.ErrNotFound), store.Internal(err):
		return err
	}
	a := &outbox.Attempt{Started: d.now().UnixMilli()}
	if err != nil {
		a.Error = fmt.Sprintf("the message could not be written: %v", err)
	} else {
		for range max(copies, 1) {
			a.Status, a.Answer, a.Error = 0, "", ""
			d.post(ctx, w.URL, sign(secret, body), body, a)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	a.Took = d.now().UnixMilli() - a.Started
	s := &outbox.State{Status: outbox.Delivered, Attempts: v.Attempts + 1}
	switch {
	case a.Error == "":
	case s.Attempts > len(retries):
		s.Status = outbox.Failed
	default:
		s.Status, s.Next = outbox.Undelivered, a.Started+retries[s.Attempts-1].Milliseconds()
	}
	return d.note(ctx, w, v, a, s, asked, request)
}

// post sends a body and judges the response: any success status counts.
func (d *Deliverer) post(ctx context.Context, url, signature string, body []byte, a *outbox.Attempt) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		a.Error = err.Error()
		return
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "X-Signature": {signature}, "User-Agent": {"snowglobe"}}
	e := &journal.Exchange{
		Time: d.now(), World: d.opts.World, Interface: "webhook", Operation: "deliverMessage", Method: r.Method, Target: r.URL.RequestURI(),
		Host: r.URL.Host, URL: r.URL, RequestHeader: r.Header, Request: journal.Keep(body),
	}
	defer func() {
		if e.Took = d.now().Sub(e.Time); d.opts.Journal.On() {
			d.opts.Journal.Add(e)
		}
	}()
	answer, err := d.client.Do(r)
	if err != nil {
		a.Error = shorten(err.Error())
		return
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, readAnswer)) // only the status counts
	e.Status, e.AnswerHeader, e.Answer = answer.StatusCode, answer.Header, journal.Keep(text)
	a.Status, a.Answer = answer.StatusCode, shorten(string(text))
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		a.Error = "the receiver answered " + answer.Status
	}
}

func shorten(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text[:min(len(text), keptAnswer)], "\x00", ""), "")
}

// note records the outcome of an attempt. If a message's last attempt failed, it also deactivates the webhook.
func (d *Deliverer) note(ctx context.Context, w *outbox.Webhook, v *outbox.View, a *outbox.Attempt, s *outbox.State, asked, request int64) error {
	err := d.world.WriteUncounted(ctx, func(b *store.Batch) error {
		if d.request(v) != request { // a client asked for it again during this attempt
			s = &outbox.State{Status: outbox.Undelivered}
		}
		if a != nil {
			if err := outbox.AddAttempt(b, v.UUID, a); err != nil {
				return err
			}
		}
		return outbox.SetState(b, v.UUID, s)
	})
	if err != nil {
		return err
	}
	d.mu.Lock()
	if d.again[string(v.UUID)] == request {
		delete(d.again, string(v.UUID))
	}
	d.mu.Unlock()
	if a != nil {
		d.opts.Events.Publish(events.Delivery, d.opts.World, func() any {
			return &delivered{uuid.UUID(w.UUID).String(), uuid.UUID(v.UUID).String(), w.URL, a.Number, a.Status, a.Error, s.Status}
		})
	}
	if s.Status != outbox.Undelivered {
		d.reach(v, asked)
	}
	if s.Status == outbox.Failed {
		return d.world.Write(ctx, func(b *store.Batch) error { return outbox.Deactivate(b, w.ID) })
	}
	return nil
}

// reach records that a message and all before it are finished.
func (d *Deliverer) reach(v *outbox.View, asked int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if asked == d.asked {
		d.reached[v.Webhook] = reached{v.Number, string(v.UUID)}
	}
}

// delivered is the payload of a delivery event.
type delivered struct {
	WebhookID string `json:"webhookId"`
	MessageID string `json:"messageId"`
	URL       string `json:"url"`
	Attempt   int    `json:"attempt"`
	Answer    int    `json:"answerStatus,omitempty"`
	Error     string `json:"error,omitempty"`
	Status    string `json:"status"` // of the message
}

// request returns the latest request to deliver a message again, 0 for none.
func (d *Deliverer) request(v *outbox.View) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.again[string(v.UUID)]
}

// Again delivers a message again, at once and with all its attempts, even while an attempt is running.
func (d *Deliverer) Again(ctx context.Context, v *outbox.View) error {
	d.mu.Lock()
	d.asked++
	d.again[string(v.UUID)] = d.asked
	d.mu.Unlock()
	err := d.world.WriteUncounted(ctx, func(b *store.Batch) error {
		return outbox.SetState(b, v.UUID, &outbox.State{Status: outbox.Undelivered})
	})
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.asked++
	delete(d.reached, v.Webhook)
	d.mu.Unlock()
	d.Wake()
	return nil
}

// Promise delivers a message in addition to the automatic ones.
func (d *Deliverer) Promise(ctx context.Context, m *outbox.Message) (*outbox.View, error) {
	name := newName()
	m.UUID = name[:]
	if err := d.world.Write(ctx, func(b *store.Batch) error { return outbox.Promise(b, m) }); err != nil {
		return nil, err
	}
	d.Wake()
	return outbox.Named(ctx, d.world.DB, m.UUID)
}

// newName returns a UUID that begins with the time, so that the file's index of names grows at its end.
func newName() [16]byte { return uuid.Must(uuid.NewV7()) }
