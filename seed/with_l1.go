package seed

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"snowglobe/fixtures"
	"snowglobe/fixtures/interchange"
	"snowglobe/fixtures/worldfile"
	"snowglobe/sim"
	"snowglobe/sim/rules"
)

// WithL1 returns the options that generate an existing world again, with one more L1. The L1 gets its own validator, because the profile's may all be
// taken. WithL1 reads the L1's files; an error in them wraps interchange.ErrGenesis.
func (o Options) WithL1(w *sim.World, l *interchange.L1) (Options, error) {
	wrong := func(err error) (Options, error) { return o, fmt.Errorf("%w: %w", interchange.ErrGenesis, err) }
	network, err := fixtures.NetworkNamed(cmp.Or(l.Network, fixtures.Networks[0].Name))
	if err != nil {
		return wrong(err)
	}
	g, err := l.Read(uint64(network.Upgrades.Durango))
	if err != nil {
		return o, err
	}
	p := Profile{}
	if _, err := worldfile.Decode(w.Meta.Profile, []byte(w.Meta.Shape), &p); err != nil {
		return o, err
	}
	p.L1s = append(p.L1s, worldfile.L1{Name: l.Name, Network: network.Name, Genesis: interchange.Text(g.Document), Upgrade: interchange.Text(g.Upgrades),
		Validators: []worldfile.L1Validator{{Name: l.Name + "-1"}}})
	text, err := p.YAML()
	if err != nil {
		return o, err
	}
	if o.Profile, err = ParseProfile(w.Meta.Profile, []byte(text)); err != nil {
		return wrong(err)
	}
	o.Seed, o.Until, o.UntilNow, o.Upgrades = w.Meta.Seed, time.Unix(w.Meta.Until, 0).UTC(), false, nil
	for _, n := range w.Networks {
		for _, u := range rules.Upgrades() {
			if u < rules.Helicon {
				continue
			}
			at := upgradeNever
			if unix := n.Rules.ActivationTime(u); unix != fixtures.Unscheduled {
				at = time.Unix(int64(unix), 0).UTC().Format(time.RFC3339)
			}
			o.Upgrades = append(o.Upgrades, fmt.Sprintf("%s:%s=%s", n.Name, u, at))
		}
	}
	return o, nil
}

// GenerateWithL1 generates the file of an existing world again, with one more L1.
func (o Options) GenerateWithL1(ctx context.Context, w *sim.World, path string, l *interchange.L1) error {
	o, err := o.WithL1(w, l)
	if err != nil {
		return err
	}
	o.Path, o.Progress = path, nil
	made, err := Generate(ctx, o)
	if err != nil {
		return err
	}
	return made.Close()
}
