package seed

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"snowglobe/sim/store"
)

// Flags holds the command line's flags about the world.
type Flags struct {
	db, profile, until string
	seed               int64
	upgrades           []string
	readOnly, anew     bool
}

// NewFlags declares the flags about the world.
func NewFlags(f *pflag.FlagSet) *Flags {
	w := &Flags{}
	f.StringVar(&w.db, "db", "snowglobe.db", "the world's `FILE`; :memory: keeps the world in memory")
	f.Int64Var(&w.seed, "seed", 1, "seed `N` for a new world's random numbers")
	f.StringVar(&w.profile, "profile", "default", "`NAME` of a new world's profile: "+strings.Join(BuiltInProfiles(), ", ")+", or a YAML file")
	f.StringVar(&w.until, "until", DefaultUntil.Format(time.RFC3339), "`TIME` when the history of a new world ends (RFC 3339), or now. History begins after Granite (2025-11-19) and ends at most ten years from now. Only a fixed TIME always gives the same bytes")
	f.StringSliceVar(&w.upgrades, "upgrade", nil, "`NAME=TIME` when an upgrade activates in a new world, instead of the public network's date: helicon=never, helicon=now (when the history ends) or helicon=2026-12-01T00:00:00Z; fuji:helicon=… for one network; repeatable, or separated by commas")
	f.BoolVar(&w.readOnly, "read-only", false, "open a file that several processes may share, and refuse changes")
	f.BoolVar(&w.anew, "regenerate", false, "generate the world again if another version of the program made its file (generate always does); the old file becomes FILE.old, FILE.old.1 and so on")
	return w
}

// BareUpgrade removes the first --upgrade without a time, and returns its name; "" if all have a time.
func (w *Flags) BareUpgrade() string {
	for i, choice := range w.upgrades {
		if !strings.Contains(choice, "=") {
			w.upgrades = slices.Delete(w.upgrades, i, i+1)
			return choice
		}
	}
	return ""
}

// untilNow asks for a history that ends now.
const untilNow = "now"

// Options returns the options that the flags set; now is the real time.
func (w *Flags) Options(now time.Time) (o Options, err error) {
	o = Options{Path: w.db, Seed: w.seed, Today: now, UntilNow: w.until == untilNow, ReadOnly: w.readOnly, Anew: w.anew}
	if o.Until = now.UTC().Truncate(time.Second); !o.UntilNow {
		if o.Until, err = time.Parse(time.RFC3339, w.until); err != nil {
			return o, fmt.Errorf("--until: %q is not a time like %s, or %s", w.until, DefaultUntil.Format(time.RFC3339), untilNow)
		}
		if o.Until = o.Until.UTC(); o.Until.Nanosecond() != 0 {
			return o, fmt.Errorf("--until: %q has a fraction of a second; a world's time is in whole seconds", w.until)
		}
	}
	if o.Path == "" {
		return o, errors.New("--db: the name of the file is empty")
	}
	if o.ReadOnly && o.Path == store.Memory {
		return o, errors.New("--read-only: it needs a file, and --db names none")
	}
	if o.ReadOnly && o.Anew {
		return o, errors.New("--regenerate cannot be combined with --read-only")
	}
	if o.Profile, err = LoadProfile(w.profile); err != nil {
		return o, err
	}
	if err := o.CheckUpgrades(w.upgrades); err != nil {
		return o, fmt.Errorf("--upgrade: %w", err)
	}
	o.Upgrades = w.upgrades
	return o, o.Profile.CheckSpan(o.Until, o.Today)
}
