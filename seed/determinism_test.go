package seed_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"snowglobe/seed"
	"snowglobe/sim"
	"snowglobe/sim/store"
	"snowglobe/sim/verify"
)

const digestFile = "../testdata/digests.txt"

var update = flag.Bool("update", false, "write the digests down instead of comparing them")

// worlds caches the worlds that tests share, by profile and seed. Tests only read them.
var worlds = map[string]*sim.World{}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	for name, w := range worlds {
		if err := w.Close(); err != nil {
			fmt.Fprintln(os.Stderr, name, err)
			code = 1
		}
	}
	os.Exit(code)
}

// world returns an in-memory world that other tests read, too.
func world(t testing.TB, profile string, number int64, upgrades ...string) *sim.World {
	t.Helper()
	name := fmt.Sprint(profile, " ", number, upgrades)
	if worlds[name] == nil {
		worlds[name] = newWorld(t, profile, number, upgrades...)
	}
	return worlds[name]
}

func newWorld(t testing.TB, profile string, number int64, upgrades ...string) *sim.World {
	t.Helper()
	p, err := seed.LoadProfile(profile)
	if err != nil {
		t.Fatal(err)
	}
	w, err := seed.Generate(context.Background(), seed.Options{Path: store.Memory, Seed: number, Profile: p, Until: seed.DefaultUntil, Upgrades: upgrades})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestDeterminism makes worlds with one processor and with many and compares their digests with the committed ones, which hold for every operating
// system and processor.
func TestDeterminism(t *testing.T) {
	known := readDigests(t)
	for _, profile := range profiles(t) {
		for _, processors := range []int{1, 8} {
			before := runtime.GOMAXPROCS(processors)
			w := newWorld(t, profile, 1)
			runtime.GOMAXPROCS(before)
			digest := fmt.Sprintf("%x", w.Meta.Digest)
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			if *update {
				known[profile] = digest
			}
			if digest != known[profile] {
				t.Errorf("%s with %d processors on %s: digest %s, committed is %s", profile, processors, runtime.GOARCH, digest, known[profile])
			}
		}
	}
	if *update {
		text := fmt.Sprintf("tiny %s\ndefault %s\n", known["tiny"], known["default"])
		if err := os.WriteFile(digestFile, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// profiles returns the profiles to test: only the smallest in a short run.
func profiles(t testing.TB) []string {
	if testing.Short() {
		t.Log("left out of a short run: profiles other than tiny")
		return []string{"tiny"}
	}
	return []string{"tiny", "default"}
}

// seeds returns the seeds of the tiny worlds to test: only two in a short run.
func seeds(t testing.TB) []int64 {
	if testing.Short() {
		t.Log("left out of a short run: most seeds")
		return []int64{1, 3}
	}
	return []int64{1, 2, 3, -7, 1 << 62}
}

func readDigests(t *testing.T) map[string]string {
	raw, err := os.ReadFile(digestFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	known := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		profile, digest, _ := strings.Cut(strings.TrimSpace(line), " ")
		known[profile] = digest
	}
	return known
}

// TestSeedsDiffer: different seeds give different worlds, and worlds of any seed verify.
func TestSeedsDiffer(t *testing.T) {
	digests := map[string]int64{}
	for _, number := range seeds(t) {
		w := world(t, "tiny", number)
		if other, known := digests[string(w.Meta.Digest)]; known {
			t.Errorf("seeds %d and %d make the same world", number, other)
		}
		digests[string(w.Meta.Digest)] = number
		if testing.Short() && len(digests) > 1 {
			t.Log("left out of a short run: verification of worlds after the first")
			continue
		}
		if _, err := verify.Verify(context.Background(), w, nil); err != nil {
			t.Errorf("seed %d: %v", number, err)
		}
	}
}
