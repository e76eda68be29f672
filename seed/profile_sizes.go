package seed

import (
	"context"
	"slices"

	"snowglobe/fixtures"
)

// Another generates the file of a world with another seed and a built-in profile, whose history ends with this one's. Choices of when upgrades
// activate win over this one's.
func (o Options) Another(ctx context.Context, path string, seed int64, profile string, upgrades []string) (err error) {
	o.Path, o.Seed, o.Progress, o.Upgrades = path, seed, nil, slices.Concat(o.Upgrades, upgrades)
	if o.Profile, err = LoadProfile(profile); err != nil {
		return err
	}
	w, err := Generate(ctx, o)
	if err != nil {
		return err
	}
	return w.Close()
}

// ProfileSizes returns the approximate size of a world of each built-in profile, in bytes.
func ProfileSizes() (map[string]int64, error) {
	const whatever, transaction = 4 << 20, 2 << 10 // bytes, as measured
	all := map[string]int64{}
	for _, name := range builtIn(fixtures.Profiles) {
		p, err := LoadProfile(name)
		if err != nil {
			return nil, err
		}
		all[name] = whatever + int64(p.Transactions+p.PrimaryTransactions)*transaction
	}
	return all, nil
}
