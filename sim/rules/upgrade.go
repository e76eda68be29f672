package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/ava-labs/avalanchego/codec"

	"snowglobe/fixtures"
	"snowglobe/sim/txs"
)

// Upgrade numbers the network upgrades that a world can contain, in the order of their activation.
type Upgrade int

// The upgrades, under the names that avalanchego's upgrade.Config gives them.
const (
	Granite Upgrade = iota
	Helicon
)

// upgrades lists when each upgrade activates, and what it changes for stakes that start then or later. A new upgrade of the network is one more
// row.
var upgrades = [...]struct {
	name   string
	time   func(*fixtures.Upgrades) *int64
	stakes func(s *StakingRules, sinceActivation uint64) // nil if it changes nothing
}{
	Granite: {"granite", func(u *fixtures.Upgrades) *int64 { return &u.Granite }, nil},
	Helicon: {"helicon", func(u *fixtures.Upgrades) *int64 { return &u.Helicon }, heliconStakes},
}

// String returns the name of an upgrade.
func (u Upgrade) String() string { return upgrades[u].name }

// Upgrades lists the upgrades in the order of their activation.
func Upgrades() []Upgrade {
	all := make([]Upgrade, len(upgrades))
	for i := range all {
		all[i] = Upgrade(i)
	}
	return all
}

// UpgradeNamed returns the upgrade with a name.
func UpgradeNamed(name string) (Upgrade, error) {
	var names []string
	for u := range upgrades {
		if upgrades[u].name == name {
			return Upgrade(u), nil
		}
		names = append(names, upgrades[u].name)
	}
	return 0, fmt.Errorf("unknown upgrade %q: one of %s", name, strings.Join(names, ", "))
}

// ActivationTime returns when an upgrade activates on the network, in Unix seconds: fixtures.Unscheduled for never.
func (n *Network) ActivationTime(u Upgrade) uint64 { return uint64(*upgrades[u].time(&n.Upgrades)) }

// Active reports whether an upgrade is active at a time, as avalanchego's upgrade.Config does.
func (n *Network) Active(u Upgrade, time uint64) bool { return time >= n.ActivationTime(u) }

// Latest returns the last upgrade that is active at a time.
func (n *Network) Latest(time uint64) Upgrade {
	for u := Upgrade(len(upgrades) - 1); u > 0; u-- {
		if n.Active(u, time) {
			return u
		}
	}
	return 0
}

// WithActivation returns the network with another time for an upgrade. It cannot activate before the one that it builds on.
func (n *Network) WithActivation(u Upgrade, unix int64) (*Network, error) {
	changed := *n
	*upgrades[u].time(&changed.Upgrades) = unix
	return changed.inOrder()
}

func (n *Network) inOrder() (*Network, error) {
	for u := range Upgrade(len(upgrades) - 1) {
		if before, after := n.ActivationTime(u), n.ActivationTime(u+1); before > after {
			return nil, fmt.Errorf("on %s %s cannot activate at %s: it builds on %s, which activates at %s", n.Name, u+1, timeText(after), u, timeText(before))
		}
	}
	return n, nil
}

// EncodeUpgrades returns when the network's upgrades activate, as JSON for a world's file.
func (n *Network) EncodeUpgrades() string {
	times := map[string]uint64{}
	for u := Helicon; int(u) < len(upgrades); u++ { // a world has no choice about those before
		times[u.String()] = n.ActivationTime(u)
	}
	text, _ := json.Marshal(times) // numbers by names
	return string(text)
}

// withUpgrades returns the network with the times that EncodeUpgrades wrote.
func (n *Network) withUpgrades(encoded string) (*Network, error) {
	var times map[string]int64
	changed, err := *n, json.Unmarshal([]byte(encoded), &times)
	for _, name := range slices.Sorted(maps.Keys(times)) {
		u, unknown := UpgradeNamed(name)
		if unknown != nil {
			return nil, fmt.Errorf("the times of the upgrades: %w", unknown)
		}
		*upgrades[u].time(&changed.Upgrades) = times[name]
	}
	if err == nil {
		n, err = changed.inOrder()
	}
	if err != nil {
		return nil, fmt.Errorf("the times of the upgrades: %w", err)
	}
	return n, nil
}

func timeText(unix uint64) string { return time.Unix(int64(unix), 0).UTC().Format(time.RFC3339) }

// StakingAt returns the rules for stakes that start at a time.
func (n *Network) StakingAt(time uint64) *StakingRules {
	s := n.BaseStaking
	for u := range Upgrade(len(upgrades)) {
		if change := upgrades[u].stakes; change != nil && n.Active(u, time) {
			change(&s, time-n.ActivationTime(u))
		}
	}
	return &s
}

// Rules of Helicon: ACP-267 (uptime), ACP-273 (duration) and ACP-285 (rewards). Source: avalanchego genesis.ACP267UptimeRequirement and
// vms/platformvm/reward.configForStakeStart.
const (
	heliconUptimeRequirement  = 900_000
	heliconMinConsumptionRate = 75_000
	heliconRateReduction      = 90 * day // in which the consumption rate falls to that
)

func heliconStakes(s *StakingRules, since uint64) {
	s.UptimeRequirement = heliconUptimeRequirement
	s.MinValidationDuration = s.HeliconMinValidationDuration
	fall := product(s.MinConsumptionRate-heliconMinConsumptionRate, min(since, heliconRateReduction))
	s.MinConsumptionRate -= fall.Div(fall, big.NewInt(heliconRateReduction)).Uint64()
}

// MaxPChainSize returns the largest size of a P-Chain transaction or block at a time, in bytes. Since Helicon only the codec limits it. Source:
// avalanchego vms/platformvm/block/executor.Manager.verifyTransactionSizePreHelicon and Block.verifyBlockSizePreHelicon.
func (n *Network) MaxPChainSize(time uint64) int {
	if n.Active(Helicon, time) {
		return txs.MaxBytes
	}
	return codec.DefaultMaxSize
}
