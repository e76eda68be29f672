package search

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"snowglobe/handlers/fault"
)

// Outcome is the outcome of one run of the command.
type Outcome struct {
	Failure string        // why it failed, such as exit code 1; empty if it passed
	Output  string        // the end of what it printed
	Applied fault.List    // the faults that it met
	Took    time.Duration // by the command alone
}

// Run runs the command in a fresh world that follows a schedule.
type Run func(ctx context.Context, s *fault.Schedule) (*Outcome, error)

// Options configures a search.
type Options struct {
	Runs     int
	Workers  int
	Budget   time.Duration // for the whole search; 0 for no limit
	Reorg    bool
	Known    []fault.List // to try first
	Progress func(done, total int)
}

// Result is the result of a search.
type Result struct {
	Plain    *Outcome
	Runs     []Record
	Planned  int      // runs that were asked for
	Found    *Finding // nil if the command passed every run
	Unsteady int      // runs that failed once and then passed with the same faults
	Stopped  string   // why the search ended early; empty if it didn't
}

// Record is a run of a search.
type Record struct {
	Number  int64 // of the schedule; 0 for a known one
	Outcome *Outcome
}

// Finding is a schedule that makes the command fail.
type Finding struct {
	Number   int64 // of the run that failed first; 0 for a known schedule
	List     fault.List
	From     int // faults before shrinking
	Attempts int // runs that shrinking took
	Outcome  *Outcome

	Unfinished bool // the search ended before it knew that every fault is needed
}

// searcher is a running search.
type searcher struct {
	Options
	run    Run
	result *Result

	requests fault.Requests // of the command without faults
}

// Why a search ends early.
const (
	overBudget  = "the budget is used up"
	interrupted = "interrupted"
)

// ErrPlain reports that the command fails without faults.
var ErrPlain = errors.New("the command fails without faults, so no fault can be blamed")

// Find searches until the command fails, the runs are done or the budget is used up. If the context ends, it returns what it has found so far beside
// the error.
func Find(ctx context.Context, run Run, o Options) (*Result, error) {
	s := &searcher{Options: o, run: run, result: &Result{Planned: o.Runs}}
	calm := fault.Repeat(nil)
	plain, err := run(ctx, calm)
	if err != nil {
		return nil, err
	}
	if s.result.Plain = plain; plain.Failure != "" {
		return s.result, fmt.Errorf("%w: %s\n%s", ErrPlain, plain.Failure, indented(plain.Output))
	}
	s.requests = calm.Requests()
	within := ctx
	if o.Budget > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, o.Budget)
		defer cancel()
	}
	err = s.search(within)
	switch {
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		s.result.Stopped = interrupted
	case errors.Is(err, context.DeadlineExceeded):
		s.result.Stopped, err = overBudget, nil
	}
	return s.result, err
}

func indented(text string) string {
	if strings.TrimSpace(text) == "" {
		return "  (it printed nothing)"
	}
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ")
}

func (s *searcher) search(ctx context.Context) error {
	for _, list := range s.Known {
		o, err := s.run(ctx, fault.Repeat(list))
		if err != nil {
			return err
		}
		s.result.Runs = append(s.result.Runs, Record{0, o})
		if o.Failure != "" {
			s.result.Found = &Finding{List: list, From: len(list), Outcome: o}
			return nil
		}
	}
	for next := int64(1); next <= int64(s.Runs); {
		failed, last, err := s.batch(ctx, next)
		if err != nil && (len(failed) == 0 || ctx.Err() == nil) {
			return err
		}
		for _, r := range failed {
			if len(r.Outcome.Applied) == 0 {
				return fmt.Errorf("run %d failed without a fault (%s): the command does not always pass\n%s", r.Number, r.Outcome.Failure, indented(r.Outcome.Output))
			}
			found, err := s.shrink(ctx, r)
			if s.result.Found = found; found != nil || err != nil {
				return err
			}
			s.result.Unsteady++
		}
		next = last
	}
	return nil
}

// batch runs schedules from a number on, until one fails and those started beside it have ended. It returns the failed runs in order, and the next
// number.
func (s *searcher) batch(ctx context.Context, first int64) (failed []Record, next int64, err error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	next = first
	for range max(s.Workers, 1) {
		all.Go(func() {
			for {
				mu.Lock()
				number := next
				if err != nil || len(failed) > 0 || number > int64(s.Runs) || ctx.Err() != nil {
					mu.Unlock()
					return
				}
				next++
				mu.Unlock()
				o, wrong := s.run(ctx, fault.Draw(number, s.requests, s.Reorg))
				mu.Lock()
				if wrong != nil {
					err = errors.Join(err, wrong)
				} else {
					s.add(Record{number, o}, &failed)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if err == nil {
		err = ctx.Err()
	}
	return failed, next, err
}

func (s *searcher) add(r Record, failed *[]Record) {
	s.result.Runs = append(s.result.Runs, r)
	if r.Outcome.Failure != "" {
		*failed = append(*failed, r)
	}
	if s.Progress != nil {
		s.Progress(len(s.result.Runs), s.Runs)
	}
}
