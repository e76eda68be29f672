package seed

import (
	"cmp"
	"embed"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"snowglobe/fixtures"
	"snowglobe/fixtures/userfile"
	"snowglobe/fixtures/worldfile"
	"snowglobe/seed/evm"
	"snowglobe/seed/primary"
)

// DefaultUntil ends history unless the user chooses otherwise.
var DefaultUntil = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// earliest begins history: Granite, the oldest rules that the program has, is active on both networks.
var earliest = func() time.Time {
	var latest int64
	for i := range fixtures.Networks {
		latest = max(latest, fixtures.Networks[i].Upgrades.Granite)
	}
	return time.Unix(latest, 0).UTC()
}()

// distant is how many years ahead a history may end: one in a distant future is more likely a mistake than a wish.
const distant = 10

// Profile is the size and shape of a world, and the contents of a user's own world. A file that leaves a size out gets the smallest
// built-in profile's.
type Profile struct {
	worldfile.Sizes `yaml:",inline"`
	worldfile.File  `yaml:",inline"`

	places *worldfile.Places
}

// smallest holds the minimal sizes. On P and X the personas and the nodes with a role need them; elsewhere they are the smallest built-in
// profile's.
var smallest = Profile{Sizes: worldfile.Sizes{Days: 14, Chains: 3, Validators: 40, Delegators: 60, L1Validators: 12, PrimaryTransactions: 300}}

const usualTransactions = 600

// bounds limits the sizes of a profile. Fewer transactions than minimum per chain leave no room for the personas.
var bounds = []struct {
	key       string
	low, high int
	value     func(*Profile) int
}{
	{"days", 2, 250, func(p *Profile) int { return p.Days }},
	{"chains", 2, len(evm.ChainSpecs), func(p *Profile) int { return p.Chains }},
	{"transactions", 400, 20_000_000, func(p *Profile) int { return p.Transactions }},
	{"validators", smallest.Validators, 4_000, func(p *Profile) int { return p.Validators }},
	{"delegators", smallest.Delegators, 40_000, func(p *Profile) int { return p.Delegators }},
	{"l1Validators", smallest.L1Validators, 2_000, func(p *Profile) int { return p.L1Validators }},
	{"primaryTransactions", smallest.PrimaryTransactions, 2_000_000, func(p *Profile) int { return p.PrimaryTransactions }},
}

// mostPerDay bounds the transactions of a C-Chain in a day. They use 0.1 million gas on average, and the target is a million each second
// (ACP-176), so this leaves two thirds of it for busy hours.
const mostPerDay = 300_000

// minimumPerChain is enough for the personas and the fixture contracts.
const minimumPerChain = 200

// LoadProfile reads a built-in profile by name, or a user's own file, which ends in .yaml or .yml.
func LoadProfile(name string) (*Profile, error) {
	if worldfile.IsFile(name) {
		raw, err := userfile.Read(name, userfile.MostYAML)
		if err != nil {
			return nil, fmt.Errorf("profile: %w", err)
		}
		return ParseProfile(name, raw)
	}
	raw, err := fixtures.Profiles.ReadFile("profiles/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("unknown profile %q: one of %s, or the path of a .yaml file", name, strings.Join(builtIn(fixtures.Profiles), ", "))
	}
	return ParseProfile(name, raw)
}

func builtIn(files embed.FS) []string {
	var names []string
	entries, _ := files.ReadDir("profiles") // an embedded folder is always there
	for _, entry := range entries {
		names = append(names, strings.TrimSuffix(entry.Name(), ".yaml"))
	}
	return names
}

// ParseProfile parses a profile. The error for an unknown key or an impossible value names the key and its line.
func ParseProfile(source string, raw []byte) (*Profile, error) {
	p := smallest
	var err error
	if p.places, err = worldfile.Decode(source, raw, &p); err != nil {
		return nil, err
	}
	if p.Transactions == 0 && !p.places.Has("transactions") {
		p.Transactions = max(usualTransactions, p.Chains*minimumPerChain)
	}
	if err := p.checkSizes(); err != nil {
		return nil, err
	}
	var personas []string
	for _, persona := range fixtures.Personas {
		personas = append(personas, persona.Name)
	}
	if err := p.File.Check(p.places, filepath.Dir(source), personas); err != nil {
		return nil, err
	}
	if err := p.checkL1Validators(); err != nil {
		return nil, err
	}
	if _, i, err := networkRules(p.Upgrades, DefaultUntil); err != nil {
		return nil, p.places.Error(fmt.Sprintf("upgrades[%d]", i), "%w", err)
	}
	return &p, p.checkOwn()
}

func (p *Profile) checkSizes() error {
	for _, b := range bounds {
		if v := b.value(p); v < b.low || v > b.high {
			return p.places.Error(b.key, "%d is not from %d to %d", v, b.low, b.high)
		}
	}
	if p.Transactions < p.Chains*minimumPerChain {
		return p.places.Error("transactions", "it is %d, %d chains need at least %d", p.Transactions, p.Chains, p.Chains*minimumPerChain)
	}
	if most := int64(p.Days) * mostPerDay * int64(p.Transactions) / int64(shares(p)[0]); int64(p.Transactions) > most {
		return p.places.Error("transactions", "it is %d, in %d days a C-Chain's gas target leaves room for %d", p.Transactions, p.Days, most)
	}
	return nil
}

// checkL1Validators checks that each L1 has a validator, once imports have become L1s.
func (p *Profile) checkL1Validators() error {
	for i, n := range fixtures.Networks {
		need := p.leastL1Validators(n.Name)
		if !p.places.Has("l1Validators") {
			p.L1Validators = max(p.L1Validators, 2*need)
		}
		if p.networkSize(i).L1Validators < need {
			return p.places.Error("l1Validators", "it is %d, %d chains need at least %d on %s, which gets half of them", p.L1Validators, p.Chains, need, n.Name)
		}
	}
	return nil
}

// leastL1Validators returns how many L1 validators a network needs: those with a role, and one for each L1 that brings none.
func (p *Profile) leastL1Validators(network string) int {
	need := primary.L1RoleCount
	for _, c := range evm.ChainSpecs[:p.Chains] {
		if c.Network == network && c.IsL1() {
			need++
		}
	}
	for i := range p.L1s {
		if len(p.L1s[i].Validators) == 0 && networkOf(p.L1s[i].Network) == network {
			need++
		}
	}
	return need
}

// networkOf returns the network that a name means.
func networkOf(name string) string { return cmp.Or(name, fixtures.Networks[0].Name) }

// YAML returns the profile's canonical text, which the world stores.
func (p *Profile) YAML() (string, error) {
	raw, err := yaml.Marshal(p)
	return string(raw), err
}

// CheckSpan refuses a history that begins before Granite, or that ends in a distant future as of today.
func (p *Profile) CheckSpan(until, today time.Time) error {
	from, latest := until.AddDate(0, 0, -p.Days), DefaultUntil
	if today.After(latest) {
		latest = today.UTC().Truncate(time.Second)
	}
	latest = latest.AddDate(distant, 0, 0)
	if from.Before(earliest) || until.After(latest) {
		return fmt.Errorf("history from %s to %s is outside the span from %s (the Granite upgrade) to %s",
			from.Format(time.RFC3339), until.Format(time.RFC3339), earliest.Format(time.RFC3339), latest.Format(time.RFC3339))
	}
	return nil
}

// BuiltInProfiles lists the names of the built-in profiles, smallest first.
func BuiltInProfiles() []string {
	order := []string{"tiny", "default", "large"}
	return slices.DeleteFunc(order, func(name string) bool { return !slices.Contains(builtIn(fixtures.Profiles), name) })
}

// networkSize splits a profile's sizes between the networks; the odd one goes to mainnet.
func (p *Profile) networkSize(index int) primary.Size {
	half := func(n, least int) int { return (max(n, least) + 1 - index) / 2 }
	return primary.Size{
		Validators:   half(p.Validators, smallest.Validators),
		Delegators:   half(p.Delegators, smallest.Delegators),
		L1Validators: half(p.L1Validators, smallest.L1Validators),
		Transactions: half(p.PrimaryTransactions, smallest.PrimaryTransactions),
	}
}

// accountCount returns how many accounts other than personas a world has.
func accountCount(p *Profile) int { return min(max(p.Transactions/15, 40), 20_000) }

// shares splits a profile's transactions among its chains: each gets what its personas need, and its share of the rest. The first gets the
// remainder. A user's own L1s follow with their transactions.
func shares(p *Profile) []int {
	total, sizes := 0, make([]int, p.Chains)
	for _, c := range evm.ChainSpecs[:p.Chains] {
		total += c.Share
	}
	rest := p.Transactions
	others := rest - p.Chains*minimumPerChain
	for n := range sizes {
		sizes[n] = minimumPerChain + others*evm.ChainSpecs[n].Share/total
		rest -= sizes[n]
	}
	sizes[0] += rest
	for i := range p.L1s {
		size := minimumPerChain
		if p.L1s[i].Genesis != "" {
			size = 0
		} else if t := p.L1s[i].Transactions; t != nil {
			size = *t
		}
		sizes = append(sizes, size)
	}
	return sizes
}

func (p *Profile) allTransactions() (total int) {
	for _, size := range shares(p) {
		total += size
	}
	return total
}
