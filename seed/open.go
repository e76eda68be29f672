package seed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"snowglobe/sim"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/store/dbfile"
)

// Open opens the world in a file, or makes it if there is none yet. chosen names the options that the user set: an existing world must
// agree with those, and may differ from the defaults.
func Open(ctx context.Context, o Options, chosen map[string]bool) (*sim.World, error) {
	if o.Path == store.Memory {
		return Generate(ctx, o)
	}
	open := sim.Open
	if info, err := os.Stat(o.Path); o.ReadOnly {
		if err != nil {
			return nil, fmt.Errorf("--read-only: no world: %w; make one with generate, or name another file with --db", err)
		}
		open = sim.OpenReadOnly
	} else if errors.Is(err, os.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		w, err := Generate(ctx, o)
		if !errors.Is(err, store.ErrExists) {
			return w, err
		} // another process has made it meanwhile
	}
	w, err := open(ctx, o.Path)
	if errors.Is(err, dbfile.ErrVersion) && o.Anew {
		return Regenerate(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	if err := o.agree(w, chosen); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", o.Path, err), w.Close())
	}
	return w, nil
}

// Regenerate makes a world. Once it is complete, an existing file is renamed and kept next to it.
func Regenerate(ctx context.Context, o Options) (*sim.World, error) {
	if err := dbfile.CheckUnserved(o.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("--regenerate: %w", err)
	}
	o.replaces = true
	return Generate(ctx, o)
}

// agree compares an existing world with the user's options.
func (o Options) agree(w *sim.World, chosen map[string]bool) error {
	m := w.Meta
	shape, err := o.Profile.YAML()
	if err != nil {
		return err
	}
	const advice = "name another file with --db, or delete this one to generate it again"
	until := time.Unix(m.Until, 0).UTC()
	switch {
	case chosen["seed"] && m.Seed != o.Seed:
		return fmt.Errorf("the file holds the world of seed %d, not of seed %d; %s", m.Seed, o.Seed, advice)
	case chosen["profile"] && m.Profile != o.Profile.Name:
		return fmt.Errorf("the file holds a world of profile %s, not of profile %s; %s", m.Profile, o.Profile.Name, advice)
	case chosen["profile"] && m.Shape != shape:
		return fmt.Errorf("the file holds a world of a different profile %s; %s", m.Profile, advice)
	case chosen["until"] && !o.UntilNow && !until.Equal(o.Until):
		return fmt.Errorf("the file's history ends at %s, not at %s; %s", until.Format(time.RFC3339), o.Until.Format(time.RFC3339), advice)
	case chosen["upgrade"]:
		return o.agreeOnUpgrades(w, until, advice)
	}
	return nil
}

// agreeOnUpgrades compares when upgrades activate in an existing world with the user's choices, whose now is where its history ends.
func (o Options) agreeOnUpgrades(w *sim.World, until time.Time, advice string) error {
	of := make([]*rules.Network, len(w.Networks))
	for i, n := range w.Networks {
		of[i] = n.Rules
	}
	wanted, _, err := chosenRules(of, o.Upgrades, until)
	if err != nil {
		return err
	}
	for i, n := range of {
		for _, u := range rules.Upgrades() {
			if have, want := n.ActivationTime(u), wanted[i].ActivationTime(u); have != want {
				return fmt.Errorf("%s activates %s on %s in the file's world, not %s; %s", u, activationText(have), n.Name, activationText(want), advice)
			}
		}
	}
	return nil
}
