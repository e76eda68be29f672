package control_test

import (
	"strings"
	"testing"
	"time"

	"snowglobe/handlers/control"
	"snowglobe/seed/seedtest"
)

// TestClockOperands resolves the operands of the verb clock from the world's present time.
func TestClockOperands(t *testing.T) {
	w := seedtest.Shared(t, "tiny", 1)
	now := time.Date(2026, 8, 1, 0, 0, 0, 999, time.UTC)
	for text, want := range map[string]time.Time{
		"advance 36h": w.Clock.Now().Add(36 * time.Hour), "advance 7d": w.Clock.Now().Add(7 * 24 * time.Hour), "advance 1ms": w.Clock.Now().Add(time.Millisecond),
		"advance 99999999h": w.Clock.Now().Add(100 * 365 * 24 * time.Hour), "advance 99999999d": w.Clock.Now().Add(100 * 365 * 24 * time.Hour),
		"set now": now.Truncate(time.Second), "set 2027-01-02T03:04:05Z": time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC), "set 0": time.Unix(0, 0), "set 1800000000": time.Unix(1_800_000_000, 0),
	} {
		target, err := control.ParseClockOperands(strings.Fields(text), now)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if at, err := target.Time(t.Context(), w); err != nil || !at.Equal(want) {
			t.Errorf("%s: %s %v, want %s", text, at, err, want)
		}
	}
	for _, none := range []string{"", "show"} {
		if target, err := control.ParseClockOperands(strings.Fields(none), now); target != nil || err != nil {
			t.Errorf("%q: %v %v", none, target, err)
		}
	}
	for text, want := range map[string]string{
		"advance": "not \"advance\"", "show now": "not \"show now\"", "leap 1h": "not \"leap 1h\"", "set now now": "not \"set now now\"",
		"advance 0h": "advance: expected a time span of more than 0", "advance -1h": "advance: expected a time span", "advance 1.5d": "advance: expected a time span",
		"set -1": "set: expected a time", "set 1099511627776": "set: expected a time", "set 2026-08-01": "set: expected a time", // 2^40
		"until tea": "until: \"tea\" is not one of next-block, next-", "until next-tea": "until: \"next-tea\" is not one of", "until validator-end": "is not one of",
	} {
		if _, err := control.ParseClockOperands(strings.Fields(text), now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
