package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/permit"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
)

// People act as the world's time passes.
type People interface {
	// Advance moves the world's clock to a time and lets people act on the way.
	Advance(ctx context.Context, to time.Time) error
}

// ClockState is the answer of GET /sim/clock.
type ClockState struct {
	Time         string  `json:"time" doc:"RFC 3339."`
	Unix         int64   `json:"unix" doc:"Seconds."`
	Milliseconds int64   `json:"milliseconds" doc:"Milliseconds since 1970."`
	Rate         float64 `json:"rate" doc:"Multiple of real time at which it runs; 0 while it stands still."`
	Populate     bool    `json:"populate" doc:"Whether the world's people act while it moves."`
	Target       string  `json:"target,omitempty" doc:"Time to which a call is moving the clock, RFC 3339; only during the call."`

	Settled []SettledBlock `json:"settled,omitempty" doc:"C-Chains since Helicon on which moving the clock settled blocks."`
}

// SettledBlock is a block whose results a later header has.
type SettledBlock struct {
	ChainID string `json:"chainId"`
	Block   uint64 `json:"block" doc:"Number of the last settled block: finalized and safe."`
}

// ClockRunner makes a world's clock run.
type ClockRunner struct {
	world       *sim.World
	people      People  // nil for a world without people
	defaultRate float64 // the rate after a reset
	defaultLive bool    // whether people act after a reset

	moving     sync.Mutex // held while the clock moves, and during a revert
	mu         sync.Mutex
	rate       float64
	live       bool      // whether people act while the clock moves
	from       time.Time // real time of the last start
	at         time.Time // the world's time then
	jumps      uint64    // the clock's jump count then
	changed    chan struct{}
	advances   []*advanceCall     // under way
	background chan *advanceCall  // for Run, which advances without a client waiting
	stop       context.CancelFunc // stops the background advance; nil if there is none
}

// advanceCall advances the clock for a client.
type advanceCall struct {
	ctx  context.Context
	to   time.Time
	live bool
}

// MaxRate is the highest rate: a year passes in less than a minute.
const MaxRate = 1_000_000

const (
	tick         = 100 * time.Millisecond // interval at which a running clock moves
	firstPause   = 200 * time.Millisecond // before the first retry after a failure
	longestPause = 10 * time.Second
)

// NewClockRunner runs a clock at a rate, with or without people acting, both at the start and after a reset. At rate 0 the clock stands
// still. people may be nil.
func NewClockRunner(w *sim.World, people People, defaultRate float64, defaultLive bool) *ClockRunner {
	c := &ClockRunner{world: w, people: people, defaultRate: defaultRate, defaultLive: defaultLive, changed: make(chan struct{}, 1), background: make(chan *advanceCall, 1)}
	c.restore()
	w.BeforeRewind(c.pause)
	return c
}

// restore reapplies the rate that the user chose.
func (c *ClockRunner) restore() {
	c.SetLive(c.defaultLive)
	c.Set(c.defaultRate)
}

// pause stops the clock while the world reverts.
func (c *ClockRunner) pause() (resume func(sim.RewindOptions)) {
	c.stopBackground()
	c.moving.Lock()
	return func(o sim.RewindOptions) {
		if o.Reset {
			c.restore()
		}
		c.restart()
		c.moving.Unlock()
	}
}

// Live reports whether people act while the clock moves.
func (c *ClockRunner) Live() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.live
}

// SetLive makes people act while the clock moves, or stop acting.
func (c *ClockRunner) SetLive(live bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live = live && c.people != nil
}

// advanceWorld moves the clock, with or without people acting.
func (c *ClockRunner) advanceWorld(ctx context.Context, to time.Time, live bool) error {
	if live && c.people != nil {
		return c.people.Advance(ctx, to)
	}
	return c.world.Advance(ctx, to)
}

// Advance moves the clock to a time; people act on the way if the world is live.
func (c *ClockRunner) Advance(ctx context.Context, to time.Time) error {
	return c.run(&advanceCall{ctx, to, c.Live()})
}

// run advances the clock, and lists the call while it lasts.
func (c *ClockRunner) run(m *advanceCall) error {
	c.mu.Lock()
	c.advances = append(c.advances, m)
	c.mu.Unlock()
	defer c.finish(m)
	return c.advanceWorld(m.ctx, m.to, m.live)
}

// finish removes a call that has ended.
func (c *ClockRunner) finish(m *advanceCall) {
	c.restart()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advances = slices.DeleteFunc(c.advances, func(other *advanceCall) bool { return other == m })
}

// startInBackground hands Run an advance that no client waits for.
func (c *ClockRunner) startInBackground(to time.Time, live bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop != nil {
		return errMoving
	}
	m := &advanceCall{to: to, live: live}
	m.ctx, c.stop = context.WithCancel(context.Background())
	c.advances = append(c.advances, m)
	c.background <- m
	return nil
}

// runInBackground advances the clock as startInBackground asked, and retries if the disk is full.
func (c *ClockRunner) runInBackground(ctx context.Context, m *advanceCall, failed func(error)) error {
	c.moving.Lock()
	defer c.moving.Unlock()
	defer context.AfterFunc(ctx, c.stopBackground)()
	err := c.advanceWorld(m.ctx, m.to, m.live)
	for pause := firstPause; passes(err) && m.ctx.Err() == nil; pause = min(2*pause, longestPause) {
		if pause == firstPause {
			failed(err)
		}
		select {
		case <-m.ctx.Done():
		case <-time.After(pause):
			err = c.advanceWorld(m.ctx, m.to, m.live)
		}
	}
	if m.ctx.Err() != nil || errors.Is(err, sim.ErrBackwards) { // stopped, or blocks moved the clock further
		err = nil
	}
	c.stopBackground()
	c.finish(m)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop = nil
	return err
}

var errMoving = errors.New("the clock is already moving: GET /sim/clock shows how far it is, freeze stops it")

func (c *ClockRunner) stopBackground() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop != nil {
		c.stop()
	}
}

// advancingTo returns the time to which clients are advancing the clock, or zero, and whether people act on the way.
func (c *ClockRunner) advancingTo() (to time.Time, live bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.advances {
		if m.to.After(to) {
			to = m.to
		}
		live = live || m.live
	}
	return to, live
}

// Rate returns the multiple of real time at which the clock runs, 0 if it stands still.
func (c *ClockRunner) Rate() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rate
}

// Set makes the clock run at a multiple of real time from its current time; 0 stops it.
func (c *ClockRunner) Set(rate float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rate = rate
	c.restartLocked()
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// restartLocked is restart for a caller that holds mu.
func (c *ClockRunner) restartLocked() {
	c.jumps = c.world.Clock.Jumps()
	c.from, c.at = time.Now(), c.world.Clock.Now()
}

// due returns the time that a running clock should have reached by now. Blocks that waited for their parents may have moved it further; the
// clock then stands still until real time catches up, so it runs ahead only while such blocks arrive faster than time passes. A client that
// chose a block's time moved the clock on purpose, so it continues from there.
func (c *ClockRunner) due() (at time.Time, runs bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.jumps != c.world.Clock.Jumps() {
		c.restartLocked()
	}
	return c.at.Add(time.Duration(c.rate * float64(time.Since(c.from)))), c.rate > 0
}

// restart lets a running clock go on from its current time.
func (c *ClockRunner) restart() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.restartLocked()
}

// passes reports whether the failure that stops the clock may be temporary, such as a full disk.
func passes(err error) bool {
	return err != nil && !errors.Is(err, sim.ErrFar) && !errors.Is(err, sim.ErrBackwards) && !errors.Is(err, store.ErrReadOnly)
}

// Run moves the clock until the context ends. If the clock fails, Run reports the error to failed once and retries after growing pauses; it
// gives up only on an error that cannot pass.
func (c *ClockRunner) Run(ctx context.Context, failed func(error)) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	var pause time.Duration // since the last failure, 0 after a success
	var again time.Time     // earliest time of the next try
	for {
		var ticks <-chan time.Time
		if c.Rate() > 0 {
			ticks = ticker.C
		}
		select {
		case <-ctx.Done():
			return
		case <-c.changed:
			again = time.Time{}
			continue
		case m := <-c.background:
			if err := c.runInBackground(ctx, m, failed); err != nil {
				c.Set(0)
				failed(err)
			}
			continue
		case now := <-ticks:
			if now.Before(again) {
				continue
			}
		}
		switch err := c.tick(ctx); {
		case ctx.Err() != nil:
		case passes(err):
			if pause == 0 {
				failed(err)
			}
			pause = min(max(2*pause, firstPause), longestPause)
			again = time.Now().Add(pause)
		case err == nil || errors.Is(err, sim.ErrBackwards):
			pause = 0
		default:
			c.Set(0)
			failed(err)
		}
	}
}

// tick moves the clock to its target.
func (c *ClockRunner) tick(ctx context.Context) error {
	c.moving.Lock()
	defer c.moving.Unlock()
	target, runs := c.due()
	if !runs || !c.world.Clock.Now().Before(target) {
		return nil
	}
	return c.advanceWorld(ctx, target, c.Live())
}

// clockBody is the body of a request that moves the clock.
type clockBody struct {
	Advance *string  `json:"advance,omitempty" doc:"How far to move the clock, such as 36h, 90m, 10s or 7d."`
	Set     *string  `json:"set,omitempty" doc:"The new time: RFC 3339, Unix seconds as a string, or now."`
	Until   *string  `json:"until,omitempty" doc:"Move to the next event of a kind in GET /sim/clock/events, such as next-validator-end; to next-block, when a P-Chain next makes a block by itself; or to helicon, the next activation of that upgrade."`
	Rate    *float64 `json:"rate,omitempty" doc:"Run at this multiple of real time, at most 1000000; 0 stops it."`
	Freeze  *bool    `json:"freeze,omitempty" doc:"true stops the clock."`

	Wait     *bool `json:"wait,omitempty" doc:"With false, the call returns the old time at once and moves the clock in the background. GET /sim/clock shows the time and, while the clock moves, the target; freeze stops it."`
	Populate *bool `json:"populate,omitempty" doc:"Whether the world's people act along the way, or while the clock runs. Default: as before."`
}

// target parses where the body moves the clock, if it sets no rate.
func (b *clockBody) target() (*ClockTarget, error) {
	switch {
	case b.Advance != nil:
		return ParseClockTarget("advance", *b.Advance, time.Now())
	case b.Set != nil:
		return ParseClockTarget("set", *b.Set, time.Now())
	}
	return ParseClockTarget("until", *b.Until, time.Now())
}

// Event is something that time will bring.
type Event struct {
	Kind         string `json:"kind" doc:"validator-start, validator-end, delegator-start, delegator-end, l1-deactivation, unlock, or the name of an upgrade that activates, such as helicon."`
	Time         string `json:"time" doc:"RFC 3339."`
	Unix         int64  `json:"unix" doc:"Seconds."`
	Network      string `json:"network"`
	TxID         string `json:"txId,omitempty" doc:"Id of the staker's transaction, or of the transaction that created the output."`
	NodeID       string `json:"nodeId,omitempty"`
	ValidationID string `json:"validationId,omitempty" doc:"Only for an L1 validator."`
}

// Events is the answer of GET /sim/clock/events.
type Events struct {
	Events []Event `json:"events"`
}

// maxEvents is the largest number of events listed, earliest first.
const maxEvents = 1000

// RegisterClock registers the operations on the clock.
func RegisterClock(s *rest.Server, w *sim.World, runner *ClockRunner) error {
	a := &clockAPI{w, runner}
	clock := reflect.TypeFor[ClockState]()
	return s.Register(rest.Sim,
		rest.Operation{ID: "getClock", Path: "/sim/clock", Summary: "The world's time", Live: true, Answer: clock,
			Handle: func(*rest.Request) (any, error) { return a.show(), nil }},
		rest.Operation{ID: "moveClock", Method: http.MethodPost, Path: "/sim/clock", Summary: "Move the world's time, or let it run",
			Doc: "Set exactly one member besides populate and wait. With populate, the people of the generated history continue to act: they pay, call " +
				"contracts, stake and send messages, as the seed and the world's time decide. Everything that falls due on the way happens, in blocks of the P-Chain. " +
				"A C-Chain since Helicon gets a block that settles its transactions once that is due, five seconds after they were executed, unless automine is off or a client set the next block's time or base fee. " +
				"Advancing takes as long as executing all of that; if the client leaves, the clock stops where it is. The clock never runs backwards, and moves at most 30 years beyond the generated history.",
			Body: reflect.TypeFor[clockBody](), Strict: true, Class: permit.Control, Slow: true, Answer: clock, Handle: a.moveClock},
		rest.Operation{ID: "listClockEvents", Path: "/sim/clock/events", Summary: "Upcoming events, soonest first",
			Params: []rest.Param{{Name: "limit", Kind: schema.KindInteger, Default: strconv.Itoa(maxEvents), Min: "1", Max: strconv.Itoa(maxEvents), Doc: "How many at most."}},
			Doc:    "Lists only each network's first L1 validator to run out of balance.",
			Answer: reflect.TypeFor[Events](), Handle: a.events})
}

type clockAPI struct {
	world  *sim.World
	runner *ClockRunner
}

func (a *clockAPI) show() *ClockState {
	now := a.world.Clock.Now()
	s := &ClockState{Time: rfc3339(now.Unix()), Unix: now.Unix(), Milliseconds: now.UnixMilli(), Rate: a.runner.Rate(), Populate: a.runner.Live()}
	if to, live := a.runner.advancingTo(); !to.IsZero() {
		s.Target, s.Populate = rfc3339(to.Unix()), s.Populate || live
	}
	return s
}

func (a *clockAPI) moveClock(r *rest.Request) (any, error) {
	b := rest.Body[clockBody](r)
	given := 0
	for _, set := range []bool{b.Advance != nil, b.Set != nil, b.Until != nil, b.Rate != nil, b.Freeze != nil} {
		if set {
			given++
		}
	}
	if given != 1 {
		return nil, rest.BadRequest("expected exactly one of advance, set, until, rate, freeze")
	}
	switch {
	case a.world.DB.ReadOnly():
		return nil, store.ErrReadOnly
	case b.Wait != nil && (b.Rate != nil || b.Freeze != nil):
		return nil, rest.BadRequest("wait works only with advance, set or until: a rate takes effect at once")
	case b.Rate != nil:
		if *b.Rate < 0 || *b.Rate > MaxRate {
			return nil, rest.BadRequest(fmt.Sprintf("rate must be from 0 to %d", MaxRate))
		}
		if b.Populate != nil {
			a.runner.SetLive(*b.Populate)
		}
		a.runner.Set(*b.Rate)
		return a.show(), nil
	case b.Freeze != nil:
		if !*b.Freeze {
			return nil, rest.BadRequest("freeze can only be true; set a rate to let the clock run")
		}
		a.runner.stopBackground()
		a.runner.Set(0)
		return a.show(), nil
	}
	live := a.runner.Live()
	if b.Populate != nil {
		live = *b.Populate
	}
	before, err := a.settled(r.Context())
	if err != nil {
		return nil, err
	}
	target, err := b.target()
	if err == nil {
		err = a.advance(r.Context(), target, live, b.Wait == nil || *b.Wait)
	}
	switch {
	case errors.Is(err, errMoving):
		return nil, rest.Conflict(err.Error())
	case errors.Is(err, ErrClockTarget), errors.Is(err, sim.ErrBackwards), errors.Is(err, sim.ErrFar):
		return nil, rest.BadRequest(err.Error())
	case err != nil:
		return nil, err
	}
	state := a.show()
	now, err := a.settled(r.Context())
	for _, b := range now {
		if !slices.Contains(before, b) {
			state.Settled = append(state.Settled, b)
		}
	}
	return state, err
}

// settled returns the last settled block of each C-Chain that settles blocks after it accepted them.
func (a *clockAPI) settled(ctx context.Context) (all []SettledBlock, err error) {
	for _, n := range a.world.Networks {
		c := n.CChain()
		if c == nil {
			continue
		}
		head, err := c.Head(ctx)
		if err != nil {
			return nil, err
		}
		if head.Header.Asynchronous() {
			all = append(all, SettledBlock{strconv.FormatUint(c.Row.EVMID, 10), head.Settled()})
		}
	}
	return all, nil
}

func (a *clockAPI) advance(ctx context.Context, target *ClockTarget, live, wait bool) error {
	to, err := target.Time(ctx, a.world)
	if err != nil {
		return err
	}
	if wait {
		return a.runner.run(&advanceCall{ctx, to, live})
	}
	if err := a.world.CanAdvance(to); err != nil {
		return err
	}
	return a.runner.startInBackground(to, live)
}

func (a *clockAPI) events(r *rest.Request) (any, error) {
	all, err := query.Upcoming(r.Context(), a.world, int(r.Int("limit")))
	if err != nil {
		return nil, err
	}
	answer := &Events{Events: []Event{}}
	for _, e := range all {
		shown := Event{Kind: string(e.Kind), Time: rfc3339(e.Time), Unix: e.Time, Network: e.Network.Name, TxID: idText(e.Tx), ValidationID: idText(e.Validation)}
		if e.Node != nil {
			shown.NodeID = ids.NodeID(e.Node).String()
		}
		answer.Events = append(answer.Events, shown)
	}
	return answer, nil
}
