package seed_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snowglobe/fixtures"
	"snowglobe/seed"
	"snowglobe/sim"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/verify/verifytest"
)

// TestUpgradesAreChosen makes worlds in which Helicon activates never, now, or at a time within history: each keeps the times, has its own digest,
// and verifies.
func TestUpgradesAreChosen(t *testing.T) {
	until := seed.DefaultUntil
	within := until.AddDate(0, 0, -7)
	digests := map[string]bool{}
	for _, c := range []struct {
		upgrades      []string
		mainnet, fuji int64
	}{
		{nil, 1_790_089_200, 1_785_250_800},
		{[]string{"helicon=never"}, fixtures.Unscheduled, fixtures.Unscheduled},
		{[]string{"helicon=never", "fuji:helicon=now"}, fixtures.Unscheduled, until.Unix()},
		{[]string{"helicon=" + within.Format(time.RFC3339)}, within.Unix(), within.Unix()},
	} {
		profile, err := seed.LoadProfile("tiny")
		if err != nil {
			t.Fatal(err)
		}
		profile.Upgrades = c.upgrades
		w, err := seed.Generate(t.Context(), seed.Options{Path: store.Memory, Seed: 1, Profile: profile, Until: until})
		if err != nil {
			t.Fatalf("%v: %v", c.upgrades, err)
		}
		for i, want := range []int64{c.mainnet, c.fuji} {
			if got := w.Networks[i].Rules.ActivationTime(rules.Helicon); got != uint64(want) {
				t.Errorf("%v: on %s Helicon activates at %d, want %d", c.upgrades, w.Networks[i].Name, got, want)
			}
		}
		if digests[string(w.Digest())] {
			t.Errorf("%v: another choice has this digest", c.upgrades)
		}
		digests[string(w.Digest())] = true
		verifytest.Sound(t, w)
		copied, err := w.Copy(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(copied.Digest(), w.Digest()) || times(copied) != times(w) {
			t.Errorf("%v: a copy has %v", c.upgrades, times(copied))
		}
		if err := copied.Close(); err != nil {
			t.Error(err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// times returns when Helicon activates on the networks of a world.
func times(w *sim.World) (at [2]uint64) {
	for i, n := range w.Networks {
		at[i] = n.Rules.ActivationTime(rules.Helicon)
	}
	return at
}

// TestUpgradeMistakes reports each invalid choice, in a profile with its line.
func TestUpgradeMistakes(t *testing.T) {
	for choice, want := range map[string]string{
		"helicon":                        `"helicon" is not like helicon=never`,
		"granite=never":                  "granite activates before every history",
		"nitrogen=now":                   `unknown upgrade "nitrogen": one of granite, helicon`,
		"devnet:helicon=now":             `unknown network "devnet"`,
		"helicon=soon":                   `"soon" is not never, now or a time in whole seconds`,
		"helicon=2026-09-22T15:00:00.5Z": "is not never, now or a time in whole seconds",
		"helicon=2020-01-01T00:00:00Z":   "helicon cannot activate at 2020-01-01T00:00:00Z: it builds on granite",
	} {
		_, err := seed.ParseProfile("my.yaml", []byte("name: my\ndays: 14\nupgrades: ["+`"`+choice+`"`+"]\n"))
		if err == nil || !strings.HasPrefix(err.Error(), "my.yaml:3: upgrades[0]: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", choice, err, want)
		}
	}
}

// TestAFileKeepsItsUpgrades opens files with choices that agree with them and with others, however a choice is written and whatever the profile.
func TestAFileKeepsItsUpgrades(t *testing.T) {
	until := seed.DefaultUntil
	o := seed.Options{Path: filepath.Join(t.TempDir(), "w.db"), Seed: 1, Profile: small, Upgrades: []string{"helicon=now", "fuji:helicon=never"}, Until: until, Today: until}
	w, err := seed.Generate(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	other, err := seed.LoadProfile("tiny")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		upgrades []string
		want     string
	}{
		{nil, ""},
		{[]string{"fuji:helicon=never"}, ""},
		{[]string{"testnet:helicon=never", "mainnet:helicon=" + until.Format(time.RFC3339)}, ""},
		{[]string{"helicon=now"}, "helicon activates never on fuji in the file's world, not at 2026-11-01T00:00:00Z"},
		{[]string{"helicon=never"}, "helicon activates at 2026-11-01T00:00:00Z on mainnet in the file's world, not never"},
	} {
		for _, profile := range []*seed.Profile{small, other} {
			o.Upgrades, o.Profile = c.upgrades, profile
			w, err := seed.Open(t.Context(), o, map[string]bool{"upgrade": c.upgrades != nil, "profile": profile == small})
			if err == nil {
				err = w.Close()
			}
			if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(got, c.want) {
				t.Errorf("%v: %s, want %q", c.upgrades, got, c.want)
			}
		}
	}
}
