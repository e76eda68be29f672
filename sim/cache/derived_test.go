package cache_test

import (
	"errors"
	"testing"

	"snowglobe/sim/cache"
)

// TestDerivedIsMadeOnce: a value is made again only when its key changes, or after a failure.
func TestDerivedIsMadeOnce(t *testing.T) {
	var d cache.Derived[string, int]
	made, failing := 0, errors.New("no")
	of := func(from string, err error) int {
		v, got := d.Of(from, func() (int, error) { made++; return made, err })
		if !errors.Is(got, err) {
			t.Errorf("%v, want %v", got, err)
		}
		return v
	}
	of("", failing)
	if v := of("", nil); v != 2 {
		t.Errorf("a value that could not be made was kept: %d", v)
	}
	if v := of("", nil); v != 2 {
		t.Errorf("%d: it was made again", v)
	}
	if v := of("b", nil); v != 3 {
		t.Errorf("%d: it was not made anew", v)
	}
}
