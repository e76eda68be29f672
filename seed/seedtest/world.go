// Package seedtest makes the worlds of tests.
package seedtest

import (
	"context"
	"strings"
	"sync"
	"testing"

	"snowglobe/seed"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

// Generate makes the world of a profile and seed, in a file or in memory, with upgrades at other times than the public ones. The test closes it.
func Generate(t testing.TB, path, profile string, number int64, upgrades ...string) *sim.World {
	t.Helper()
	p, err := seed.LoadProfile(profile)
	if err != nil {
		t.Fatal(err)
	}
	w, err := seed.Generate(context.Background(), seed.Options{Path: path, Seed: number, Profile: p, Until: seed.DefaultUntil, Upgrades: upgrades})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

type chosen struct {
	profile  string
	number   int64
	upgrades string
}

var (
	sharing sync.Mutex
	shared  = map[chosen]*sim.World{}
)

// Shared returns the world of a profile and seed that all tests of a package share, which only read or copy it. It is never closed.
func Shared(t testing.TB, profile string, number int64, upgrades ...string) *sim.World {
	t.Helper()
	sharing.Lock()
	defer sharing.Unlock()
	c := chosen{profile, number, strings.Join(upgrades, ",")}
	if shared[c] == nil {
		shared[c] = Generate(t, store.Memory, profile, number, upgrades...)
	}
	return shared[c]
}

// Copy returns a copy of the shared tiny world of a seed, until the test ends.
func Copy(t testing.TB, number int64, upgrades ...string) *sim.World {
	t.Helper()
	w, err := Shared(t, "tiny", number, upgrades...).Copy(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}
