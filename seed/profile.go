package seed

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"snowglobe/fixtures"
	"snowglobe/seed/evm"
	"snowglobe/seed/primary"
)

// DefaultUntil is where history ends unless the user says otherwise.
var DefaultUntil = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)

// History may only lie where one set of rules applies: after Granite, on both networks. The upgrade that follows has no time yet. A
// world of a distant future, in years, is rather a mistake in the time than wanted.
var earliest = time.Date(2025, 11, 19, 16, 0, 0, 0, time.UTC)

const distant = 10

// Profile is the size and shape of a world.
type Profile struct {
	Name         string `yaml:"name"`
	Days         int    `yaml:"days"`         // of history
	Chains       int    `yaml:"chains"`       // EVM chains, the two C-Chains among them
	Transactions int    `yaml:"transactions"` // on all EVM chains together

	// On both networks together. A file that leaves these out means the fewest possible.
	Validators          int `yaml:"validators"` // of the primary network and of permissioned subnets
	Delegators          int `yaml:"delegators"`
	L1Validators        int `yaml:"l1Validators"`
	PrimaryTransactions int `yaml:"primaryTransactions"` // of P and X
}

// smallest is what the personas and the nodes with a role need on P and X.
var smallest = Profile{Validators: 40, Delegators: 60, L1Validators: 12, PrimaryTransactions: 300}

// bounds are what a profile may ask for. Fewer transactions than minimum per chain leave no room for the personas.
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

// mostPerDay is how many transactions a day a C-Chain has room for: they use 0.1 million gas on average, and the target is a
// million each second (ACP-176), so this leaves two thirds of it for busy hours.
const mostPerDay = 300_000

// minimumPerChain is what the personas and the fixture contracts need.
const minimumPerChain = 200

// LoadProfile reads one of the built-in profiles by name, or a user's own file, which ends in .yaml or .yml.
func LoadProfile(name string) (*Profile, error) {
	if ext := filepath.Ext(name); ext == ".yaml" || ext == ".yml" {
		raw, err := os.ReadFile(name)
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

// ParseProfile reads a profile. An unknown key or an impossible value is an error that names the key and its line.
func ParseProfile(source string, raw []byte) (*Profile, error) {
	p := smallest
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	decoder.KnownFields(true)
	if err := decoder.Decode(&p); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("profile %s: it is empty", source)
		}
		return nil, fmt.Errorf("profile %s: %s", source, explain(err))
	}
	lines, err := keyLines(raw)
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", source, err)
	}
	if p.Name == "" {
		return nil, fmt.Errorf("profile %s: line %d: name must be given", source, max(lines["name"], 1))
	}
	for _, b := range bounds {
		if v := b.value(&p); v < b.low || v > b.high {
			return nil, fmt.Errorf("profile %s: line %d: %s is %d, it must be from %d to %d", source, max(lines[b.key], 1), b.key, v, b.low, b.high)
		}
	}
	if p.Transactions < p.Chains*minimumPerChain {
		return nil, fmt.Errorf("profile %s: line %d: transactions is %d, %d chains need at least %d",
			source, lines["transactions"], p.Transactions, p.Chains, p.Chains*minimumPerChain)
	}
	if most := int64(p.Days) * mostPerDay * int64(p.Transactions) / int64(shares(&p)[0]); int64(p.Transactions) > most {
		return nil, fmt.Errorf("profile %s: line %d: transactions is %d, in %d days a C-Chain's gas target leaves room for %d", source, lines["transactions"], p.Transactions, p.Days, most)
	}
	for i, n := range fixtures.Networks {
		need := p.leastL1Validators(n.Name)
		if lines["l1Validators"] == 0 {
			p.L1Validators = max(p.L1Validators, 2*need)
		}
		if p.networkSize(i).L1Validators < need {
			return nil, fmt.Errorf("profile %s: line %d: l1Validators is %d, %d chains need at least %d on %s, which gets half of them",
				source, lines["l1Validators"], p.L1Validators, p.Chains, need, n.Name)
		}
	}
	return &p, nil
}

// leastL1Validators is how many L1 validators a network needs: those with a role, and one for each L1.
func (p *Profile) leastL1Validators(network string) int {
	need := primary.L1RoleCount
	for _, c := range evm.ChainSpecs[:p.Chains] {
		if c.Network == network && c.IsL1() {
			need++
		}
	}
	return need
}

// explain turns the decoder's words about Go types into words about the profile.
func explain(err error) string {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	text = strings.TrimPrefix(text, "unmarshal errors:\n  ")
	if strings.Contains(text, " into seed.Profile") {
		text, _, _ = strings.Cut(text, ":")
		return text + ": expected a key and its value on each line, such as days: 14"
	}
	text = strings.ReplaceAll(text, " not found in type seed.Profile", " is not a key of a profile")
	text = strings.ReplaceAll(text, "field ", "")
	text = strings.ReplaceAll(text, "cannot unmarshal !!str", "not a whole number:")
	text = strings.ReplaceAll(text, "cannot unmarshal !!float", "not a whole number:")
	return strings.ReplaceAll(text, " into int", "")
}

// keyLines says on which line each key of a document stands.
func keyLines(raw []byte) (map[string]int, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(raw, &document); err != nil {
		return nil, err
	}
	lines := map[string]int{}
	for _, root := range document.Content {
		for i := 0; i+1 < len(root.Content); i += 2 {
			lines[root.Content[i].Value] = root.Content[i].Line
		}
	}
	return lines, nil
}

// YAML is the canonical text of the profile, which is stored in the world.
func (p *Profile) YAML() (string, error) {
	raw, err := yaml.Marshal(p)
	return string(raw), err
}

// CheckSpan refuses a history that leaves the time in which one set of rules applies, or ends in what is a distant future today.
func (p *Profile) CheckSpan(until, today time.Time) error {
	from, latest := until.AddDate(0, 0, -p.Days), DefaultUntil
	if today.After(latest) {
		latest = today.UTC().Truncate(time.Second)
	}
	latest = latest.AddDate(distant, 0, 0)
	if from.Before(earliest) || until.After(latest) {
		return fmt.Errorf("history from %s to %s leaves the span from %s (the Granite upgrade) to %s",
			from.Format(time.RFC3339), until.Format(time.RFC3339), earliest.Format(time.RFC3339), latest.Format(time.RFC3339))
	}
	return nil
}

// BuiltInProfiles are the names of the built-in profiles, smallest first.
func BuiltInProfiles() []string {
	order := []string{"tiny", "default", "large"}
	return slices.DeleteFunc(order, func(name string) bool { return !slices.Contains(builtIn(fixtures.Profiles), name) })
}

// networkSize splits what a profile asks for between the networks; what is odd goes to mainnet.
func (p *Profile) networkSize(index int) primary.Size {
	half := func(n, least int) int { return (max(n, least) + 1 - index) / 2 }
	return primary.Size{
		Validators:   half(p.Validators, smallest.Validators),
		Delegators:   half(p.Delegators, smallest.Delegators),
		L1Validators: half(p.L1Validators, smallest.L1Validators),
		Transactions: half(p.PrimaryTransactions, smallest.PrimaryTransactions),
	}
}

// accountCount is how many accounts a world has that are no personas.
func accountCount(p *Profile) int { return min(max(p.Transactions/15, 40), 20_000) }

// shares splits a profile's transactions among its chains: each gets what its personas need, and its part of the others. What does
// not divide goes to the first.
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
	return sizes
}
