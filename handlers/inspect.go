package handlers

import (
	"context"
	"errors"
	"time"

	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/verify"
)

// How often the server checks that the file still exists, and how long it waits, first and at most, before it retries an inspection that
// failed to run, or that found damage.
const (
	lookAfter    = 5 * time.Second
	firstPause   = time.Second
	longestPause = time.Minute
	confirmAfter = 3 * time.Second
)

// inspect checks the world's file for damage, and from then on watches that the file exists. Damage counts once a second inspection finds it, too.
// The server keeps serving a damaged file, because most of it may be intact.
func (s *Server) inspect(ctx context.Context) {
	if s.world.DB.InMemory() {
		return
	}
	found := false // damage, by the inspection before
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := s.inspectFile(ctx)
		var damage *store.DamageError
		if err == nil || ctx.Err() != nil {
			break
		}
		switch isDamage := errors.As(err, &damage) && s.world.DB.CheckFile() == nil; {
		case isDamage && found: // the file was not just truncated briefly
			s.world.ReportDamage()
			s.log.Error("the world's file is damaged: responses may be wrong", "error", err)
			s.watchFile(ctx)
			return
		case isDamage:
			found = true
			pause = max(pause, confirmAfter)
		default:
			found = false
			s.log.Warn("the world's file could not be inspected", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	s.watchFile(ctx)
}

// watchFile logs when the file disappears and when it is back. Clients ask GET /sim/health, which checks the file itself.
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
			s.log.Info("the world's file is back")
		}
		before = now
	}
}

func (s *Server) inspectFile(ctx context.Context) error {
	size, err := s.world.DB.Size(ctx)
	if err != nil {
		return err
	}
	if size <= smallFile {
		newYieldingPace(ctx, s.world.Gate, s.world.DB.Commits).untilQuiet(startWait)
		return verify.Inspect(ctx, s.world, nil)
	}
	return inspectBetweenCommits(ctx, s.world.Gate, s.world.DB.Commits, func(ctx context.Context, pace *yieldingPace) error {
		return verify.Inspect(ctx, s.world, pace)
	})
}

// inspectBetweenCommits inspects a file. It begins again whenever the inspection gives up; the last try runs to the end.
func inspectBetweenCommits(ctx context.Context, gate *sim.Gate, commits func() int64, inspect func(context.Context, *yieldingPace) error) error {
	patience := startWait // let clients that waited for the start go first
	for tries := 0; ; tries++ {
		within, giveUp := context.WithCancel(ctx)
		pace := newYieldingPace(within, gate, commits)
		pace.untilQuiet(patience)
		pace.from = commits()
		if tries < interrupted {
			pace.giveUp = giveUp
		}
		err := inspect(within, pace)
		gaveUp := within.Err() != nil && ctx.Err() == nil
		giveUp()
		if !gaveUp {
			return err
		}
		patience = firstPatience << tries
	}
}

// smallFile is the size up to which a file is inspected without pauses, in about a tenth of a second for the tiny world.
const smallFile = 8 << 20

const (
	quietTime    = 20 * time.Millisecond // without requests before the next step
	lookInterval = 5 * time.Millisecond
	startWait    = 300 * time.Millisecond // at most, before the first step
	shortestWait = 100 * time.Millisecond // for a quiet time, after a short step
	busyWait     = 20                     // multiple of the work since the last pause, at most, while requests come
	interrupted  = 4                      // times that a long step, or the inspection, yields before it runs regardless

	mostCommits   = 100             // during an inspection before it gives up
	firstPatience = 4 * time.Second // for a quiet time before it begins again
)

// yieldingPace paces background work. It rests half as long as it works, and it waits while clients send requests so as not to slow them down.
// If they never stop, it still runs for one twentieth of the time. While it reads, the log beside the file keeps every commit, and each commit
// takes longer: when clients send transactions, the work ends and begins anew later.
type yieldingPace struct {
	ctx     context.Context
	gate    *sim.Gate
	commits func() int64 // counts those of the world
	from    int64        // their number when the work began
	giveUp  func()       // ends the work; nil if it may not end before it is done

	begun time.Time // start of the work since the last pause
	came  uint64    // number of requests at the last look
	last  time.Time // time of the last request
}

func newYieldingPace(ctx context.Context, gate *sim.Gate, commits func() int64) *yieldingPace {
	now := time.Now()
	return &yieldingPace{ctx: ctx, gate: gate, commits: commits, from: commits(), begun: now, last: now}
}

func (g *yieldingPace) Pause() {
	worked := time.Since(g.begun)
	g.wait(worked / 2)
	g.until(max(busyWait*worked, shortestWait), func() bool { return g.quiet() || g.sending() })
	if g.sending() && g.giveUp != nil {
		g.giveUp()
	}
}

// sending reports whether clients have sent many transactions since the work began.
func (g *yieldingPace) sending() bool { return g.commits() > g.from+mostCommits }

// untilQuiet waits until no request is running, at most for a given time, and starts working.
func (g *yieldingPace) untilQuiet(most time.Duration) { g.until(most, g.quiet) }

func (g *yieldingPace) until(most time.Duration, holds func() bool) {
	for end := time.Now().Add(most); !holds() && time.Now().Before(end) && g.ctx.Err() == nil; {
		g.wait(lookInterval)
	}
	g.begun = time.Now()
}

func (g *yieldingPace) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-g.ctx.Done():
	}
}

// quiet reports whether no request is running and none has for some time.
func (g *yieldingPace) quiet() bool {
	if within, came := g.gate.Visits(); within > 0 || came != g.came {
		g.came, g.last = came, time.Now()
	}
	return time.Since(g.last) > quietTime
}

// Long interrupts a step when a request arrives, and restarts it when no request is running.
func (g *yieldingPace) Long(ctx context.Context, step func(context.Context) error) error {
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

// untilAsked waits for a step that began after so many visits, unless a request arrives first.
func (g *yieldingPace) untilAsked(before uint64, done <-chan error) (err error, whole bool) {
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
