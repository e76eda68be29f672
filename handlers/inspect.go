package handlers

import (
	"context"
	"errors"
	"time"

	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/verify"
)

// How often it is looked whether the file is still there, and how long it takes at first, and at most, until an inspection that could not
// be made is tried again.
const (
	lookAfter    = 5 * time.Second
	firstPause   = time.Second
	longestPause = time.Minute
)

// inspect looks for damage in the world's file, and from then on whether the file is still there. The server goes on when something is wrong:
// much may be right.
func (s *Server) inspect(ctx context.Context) {
	if s.world.DB.InMemory() {
		return
	}
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := s.inspectFile(ctx)
		var damage *store.DamageError
		if err == nil || ctx.Err() != nil {
			break
		}
		if errors.As(err, &damage) {
			s.world.ReportDamage()
			s.log.Error("the world's file is damaged: its answers may be wrong", "error", err)
			break
		}
		s.log.Warn("the world's file could not be inspected", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	s.watchFile(ctx)
}

// watchFile tells the log when something became of the file, and when it is there again. Clients ask GET /sim/health, which looks itself.
func (s *Server) watchFile(ctx context.Context) {
	every := time.NewTicker(lookAfter)
	defer every.Stop()
	var before error
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		now := s.world.DB.CheckFile()
		switch {
		case now != nil && !errors.Is(now, before):
			s.log.Error("the world's file has changed under the server", "error", now)
		case now == nil && before != nil:
			s.log.Info("the world's file is there again")
		}
		before = now
	}
}

func (s *Server) inspectFile(ctx context.Context) error {
	size, err := s.world.DB.Size(ctx)
	if err != nil {
		return err
	}
	pace := newGivingWay(ctx, s.world.Gate)
	pace.untilQuiet(startWait) // who waited for the start comes first
	if size <= smallFile {
		return verify.Inspect(ctx, s.world, nil)
	}
	return verify.Inspect(ctx, s.world, pace)
}

// smallFile is inspected without a pause, which takes less than a second for the default world: who asks meanwhile has another processor.
const smallFile = 128 << 20

const (
	quietTime    = 20 * time.Millisecond // after the last request, until the next step
	lookInterval = 5 * time.Millisecond
	startWait    = 300 * time.Millisecond // at most, before the first step
	shortestWait = 100 * time.Millisecond // for quiet, by a step that took no time
	busyWait     = 20                     // times what the work since the last pause took, at most, while requests come
	interrupted  = 4                      // times that a long step gives way, after which it is taken whatever comes
)

// givingWay is the pace of work in the background. It rests for half as long as it works, and while clients ask it waits until they do
// not, so that they are not slowed; but where they never cease it goes on all the same, one part in twenty of the time.
type givingWay struct {
	ctx   context.Context
	gate  *sim.Gate
	begun time.Time // when the work began, after the last pause
	came  uint64    // how many requests there had been when last looked
	last  time.Time // when there was one last
}

func newGivingWay(ctx context.Context, gate *sim.Gate) *givingWay {
	now := time.Now()
	return &givingWay{ctx: ctx, gate: gate, begun: now, last: now}
}

func (g *givingWay) Pause() {
	worked := time.Since(g.begun)
	g.wait(worked / 2)
	g.untilQuiet(max(busyWait*worked, shortestWait))
}

// untilQuiet waits until nobody asks, so long at most, and begins to work.
func (g *givingWay) untilQuiet(most time.Duration) {
	for end := time.Now().Add(most); !g.quiet() && time.Now().Before(end) && g.ctx.Err() == nil; {
		g.wait(lookInterval)
	}
	g.begun = time.Now()
}

func (g *givingWay) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-g.ctx.Done():
	}
}

// quiet reports whether nobody asks, nor has for some time.
func (g *givingWay) quiet() bool {
	if within, came := g.gate.Visits(); within > 0 || came != g.came {
		g.came, g.last = came, time.Now()
	}
	return time.Since(g.last) > quietTime
}

// Long ends a step when somebody asks, and begins it again in the next quiet.
func (g *givingWay) Long(ctx context.Context, step func(context.Context) error) error {
	for range interrupted {
		within, cancel := context.WithCancel(ctx)
		done := make(chan error, 1)
		_, before := g.gate.Visits()
		go func() { done <- step(within) }()
		err, whole := g.untilAsked(before, done)
		cancel()
		if whole {
			return err
		}
		<-done
		g.Pause()
	}
	return step(ctx)
}

// untilAsked waits for a step that began after so many visits, unless somebody asks before it is taken.
func (g *givingWay) untilAsked(before uint64, done <-chan error) (err error, whole bool) {
	look := time.NewTicker(lookInterval)
	defer look.Stop()
	for {
		select {
		case err := <-done:
			return err, true
		case <-look.C:
			if _, came := g.gate.Visits(); came != before {
				return nil, false
			}
		}
	}
}
