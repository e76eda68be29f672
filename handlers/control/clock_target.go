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

// ErrClockTarget marks a target that cannot be parsed or that no time matches.
var ErrClockTarget = errors.New("bad clock target")

// targetError explains why the clock does not move, and is an ErrClockTarget.
type targetError string

func (e targetError) Error() string { return string(e) }

func (e targetError) Is(target error) bool { return target == ErrClockTarget }

// ClockTarget tells how far to advance the clock: by a span, to a time, or to the next event of a kind.
type ClockTarget struct {
	span  time.Duration
	to    time.Time
	until string
}

// ParseClockTarget parses a target. how is advance, set or until; now is the real time.
func ParseClockTarget(how, value string, now time.Time) (t *ClockTarget, err error) {
	t = &ClockTarget{}
	switch how {
	case "advance":
		t.span, err = ParseSpan(value)
	case "set":
		t.to, err = ParseTime(value, now)
	case "until":
		t.until, err = value, checkNext(value)
	default:
		return nil, unknownTarget(how, value)
	}
	if err != nil {
		return nil, targetError(how + ": " + err.Error())
	}
	return t, nil
}

// ParseClockOperands parses the operands of the verb clock. Without operands, or with "show", there is no target.
func ParseClockOperands(operands []string, now time.Time) (*ClockTarget, error) {
	switch {
	case len(operands) == 0, len(operands) == 1 && operands[0] == "show":
		return nil, nil
	case len(operands) == 2:
		return ParseClockTarget(operands[0], operands[1], now)
	}
	return nil, unknownTarget(operands...)
}

func unknownTarget(operands ...string) error {
	return targetError(fmt.Sprintf("clock: expected show, advance SPAN, set TIME or until EVENT, not %.80q", strings.Join(operands, " ")))
}

// Time resolves the target from the world's present time.
func (t *ClockTarget) Time(ctx context.Context, w *sim.World) (time.Time, error) {
	switch {
	case t.span > 0:
		return w.Clock.Now().Add(t.span), nil
	case t.until == "":
		return t.to, nil
	case t.until == nextBlock:
		due, err := w.NextDue(ctx)
		if err == nil && !due.After(w.Clock.Now()) { // or nothing is left to trigger it
			err = targetError("until: no more blocks fall due")
		}
		return due, err
	}
	all, err := query.Upcoming(ctx, w, math.MaxInt)
	if err != nil {
		return time.Time{}, err
	}
	kind := strings.TrimPrefix(t.until, nextPrefix)
	i := slices.IndexFunc(all, func(e query.Event) bool { return e.Kind == query.EventKind(kind) })
	if i < 0 {
		return time.Time{}, targetError("until: there is no " + kind + " to come")
	}
	return time.Unix(all[i].Time, 0), nil
}

const nextPrefix, nextBlock = "next-", "next-block"

// checkNext rejects a name that no kind of event has.
func checkNext(until string) error {
	kind, named := strings.CutPrefix(until, nextPrefix)
	if until == nextBlock || slices.Contains(query.Activations, query.EventKind(until)) || named && slices.Contains(query.EventKinds, query.EventKind(kind)) {
		return nil
	}
	names := []string{nextBlock}
	for _, k := range query.EventKinds {
		if !slices.Contains(query.Activations, k) {
			names = append(names, nextPrefix+string(k))
		}
	}
	for _, k := range query.Activations {
		names = append(names, string(k))
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
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fmt.Errorf("%w, not %.40q", errTime, text)
	}
	return at, nil
}
