package control

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"snowglobe/sim"
	"snowglobe/sim/query"
)

// ErrMove marks a move of the clock that cannot be parsed or leads nowhere.
var ErrMove = errors.New("the clock cannot be moved so")

// moveError explains why the clock does not move.
type moveError string

func (e moveError) Error() string { return string(e) }

func (e moveError) Is(target error) bool { return target == ErrMove }

func badMove(how string, err error) error { return moveError(how + ": " + err.Error()) }

// Move is a move of the clock: by a span, to a time, or to the next event of a kind.
type Move struct {
	span  time.Duration
	to    time.Time
	until string
}

// ParseMove reads a move. how is advance, set or until; now is the real time.
func ParseMove(how, value string, now time.Time) (m *Move, err error) {
	m = &Move{}
	switch how {
	case "advance":
		m.span, err = ParseSpan(value)
	case "set":
		m.to, err = ParseTime(value, now)
	case "until":
		m.until, err = value, checkNext(value)
	default:
		return nil, unknownMove(how, value)
	}
	if err != nil {
		return nil, badMove(how, err)
	}
	return m, nil
}

// ParseMoves reads the operands of the verb clock: a move, or nothing or "show" for none.
func ParseMoves(operands []string, now time.Time) (*Move, error) {
	switch {
	case len(operands) == 0, len(operands) == 1 && operands[0] == "show":
		return nil, nil
	case len(operands) == 2:
		return ParseMove(operands[0], operands[1], now)
	}
	return nil, unknownMove(operands...)
}

func unknownMove(operands ...string) error {
	return moveError(fmt.Sprintf("clock: expected show, advance SPAN, set TIME or until EVENT, not %.80q", strings.Join(operands, " ")))
}

// Make moves the world's clock, using a function that advances it to a time.
func (m *Move) Make(ctx context.Context, w *sim.World, advance func(context.Context, time.Time) error) error {
	to, err := m.target(ctx, w)
	if err != nil {
		return err
	}
	return advance(ctx, to)
}

// target returns the time to which the clock moves.
func (m *Move) target(ctx context.Context, w *sim.World) (time.Time, error) {
	switch {
	case m.span > 0:
		return w.Clock.Now().Add(m.span), nil
	case m.until == "":
		return m.to, nil
	case m.until == nextBlock:
		due, err := w.NextDue()
		if err == nil && !due.After(w.Clock.Now()) { // or nobody is left to trigger it
			err = moveError("until: no block falls due any more")
		}
		return due, err
	}
	all, err := query.Upcoming(ctx, w, math.MaxInt)
	if err != nil {
		return time.Time{}, err
	}
	kind := strings.TrimPrefix(m.until, nextPrefix)
	i := slices.IndexFunc(all, func(e query.Event) bool { return e.Kind == query.EventKind(kind) })
	if i < 0 {
		return time.Time{}, moveError("until: there is no " + kind + " to come")
	}
	return time.Unix(all[i].Time, 0), nil
}

const nextPrefix, nextBlock = "next-", "next-block"

// checkNext rejects a name that no kind of event has.
func checkNext(until string) error {
	kind, named := strings.CutPrefix(until, nextPrefix)
	if until == nextBlock || named && slices.Contains(query.EventKinds, query.EventKind(kind)) {
		return nil
	}
	names := []string{nextBlock}
	for _, k := range query.EventKinds {
		names = append(names, nextPrefix+string(k))
	}
	return fmt.Errorf("%.40q is not one of %s", until, strings.Join(names, ", "))
}

// maxSpan is the longest span accepted; the world ends before it does.
const maxSpan = 100 * 365 * 24 * time.Hour

var errSpan = errors.New("expected a time span of more than 0 such as 36h, 90m, 10s or 7d")

// ParseSpan reads a duration in Go's form, or a whole number of days.
func ParseSpan(text string) (time.Duration, error) {
	span, err := time.ParseDuration(text)
	for unit, long := range map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour} { // Go's durations have no days and no spans of centuries
		if count, ok := strings.CutSuffix(text, unit); ok && err != nil {
			var n uint64
			n, err = strconv.ParseUint(count, 10, 64)
			span = time.Duration(min(n, uint64(maxSpan/long))) * long
		}
	}
	if err != nil || span <= 0 {
		return 0, fmt.Errorf("%w, not %.40q", errSpan, text)
	}
	return min(span, maxSpan), nil
}

var errTime = errors.New("expected a time such as 2026-08-01T00:00:00Z, Unix seconds, or now")

// ParseTime reads a time in RFC 3339, Unix seconds, or now.
func ParseTime(text string, now time.Time) (time.Time, error) {
	if text == "now" {
		return now.Truncate(time.Second), nil
	}
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil && seconds >= 0 && seconds < 1<<40 {
		return time.Unix(seconds, 0), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("%w, not %.40q", errTime, text)
	}
	return t, nil
}
