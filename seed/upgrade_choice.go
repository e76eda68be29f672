package seed

import (
	"fmt"
	"strings"
	"time"

	"snowglobe/fixtures"
	"snowglobe/sim/rules"
)

// Values of an upgrade's time besides a time itself.
const (
	upgradeNever = "never"
	upgradeNow   = "now" // where history ends
)

// networkRules returns the rules of the networks under a user's choices of when upgrades activate, each like helicon=never or
// fuji:helicon=2026-08-01T00:00:00Z. The last choice counts. An error comes with the index of the choice.
func networkRules(choices []string, until time.Time) (networks []*rules.Network, index int, err error) {
	return chosenRules([]*rules.Network{rules.Mainnet, rules.Fuji}, choices, until)
}

// chosenRules returns the rules of the networks with a user's choices.
func chosenRules(networks []*rules.Network, choices []string, until time.Time) (changed []*rules.Network, index int, err error) {
	for i, choice := range choices {
		name, value, found := strings.Cut(choice, "=")
		if !found {
			return nil, i, fmt.Errorf("%.80q is not like helicon=never, helicon=now or fuji:helicon=%s", choice, until.UTC().Format(time.RFC3339))
		}
		network, name, found := strings.Cut(name, ":")
		if !found {
			network, name = "", network
		}
		unix, err := activation(value, until)
		if err != nil {
			return nil, i, err
		}
		if networks, err = withActivation(networks, network, name, unix); err != nil {
			return nil, i, err
		}
	}
	return networks, 0, nil
}

func activation(value string, until time.Time) (int64, error) {
	switch value {
	case upgradeNever:
		return fixtures.Unscheduled, nil
	case upgradeNow:
		return until.Unix(), nil
	}
	at, err := time.Parse(time.RFC3339, value)
	if err != nil || at.Nanosecond() != 0 {
		return 0, fmt.Errorf("%.80q is not %s, %s or a time in whole seconds like %s", value, upgradeNever, upgradeNow, until.UTC().Format(time.RFC3339))
	}
	return at.Unix(), nil
}

func activationText(unix uint64) string {
	if unix == fixtures.Unscheduled {
		return upgradeNever
	}
	return "at " + time.Unix(int64(unix), 0).UTC().Format(time.RFC3339)
}

// withActivation changes the time of an upgrade on the network with a name, or on all.
func withActivation(networks []*rules.Network, network, name string, unix int64) ([]*rules.Network, error) {
	upgrade, err := rules.UpgradeNamed(name)
	if err == nil && upgrade < rules.Helicon {
		err = fmt.Errorf("%s activates before every history: you can move only later upgrades", upgrade)
	}
	if err == nil && network != "" {
		var known fixtures.Network
		known, err = fixtures.NetworkNamed(network)
		network = known.Name
	}
	if err != nil {
		return nil, err
	}
	changed := make([]*rules.Network, len(networks))
	for i, n := range networks {
		changed[i] = n
		if network == "" || n.Name == network {
			if changed[i], err = n.WithActivation(upgrade, unix); err != nil {
				return nil, err
			}
		}
	}
	return changed, nil
}

// CheckUpgrades rejects choices that Another does not take.
func (o Options) CheckUpgrades(choices []string) error {
	_, _, err := networkRules(choices, o.Until)
	return err
}
