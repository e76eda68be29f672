package precompile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
)

// Upgrades holds everything that activates and disables a chain's precompiles, from its genesis on.
type Upgrades struct {
	FeeConfig FeeConfig // applies to an L1 without a fee manager
	Genesis   Configs
	Upgrades  []PrecompileUpgrade
}

// PrecompileUpgrade activates or disables a precompile after the genesis. It has one entry.
type PrecompileUpgrade = Configs

// upgrades is a node's upgrade.json.
type upgrades struct {
	Precompiles []PrecompileUpgrade `json:"precompileUpgrades,omitempty"`
}

// unsupported lists the keys of subnet-evm's precompiles that are not simulated: a configuration with one is refused, not ignored.
var unsupported = []string{"rewardManagerConfig"}

// Parse reads and checks the precompile configurations in a genesis's chain configuration, and the upgrades.
func (s *Upgrades) Parse(config, upgrade []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(config, &all); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	s.Genesis = Configs{}
	for _, key := range unsupported {
		if _, named := all[key]; named {
			return fmt.Errorf("config.%s: this contract is not supported", key)
		}
	}
	for _, c := range contracts {
		if raw, named := all[c.Key]; named {
			var config Config
			if err := json.Unmarshal(raw, &config); err != nil {
				return fmt.Errorf("config.%s: %w", c.Key, err)
			}
			s.Genesis[c.Key] = config
		}
	}
	var later upgrades
	strict := json.NewDecoder(bytes.NewReader(upgrade))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&later); err != nil {
		return fmt.Errorf("upgrades: %w", err)
	}
	s.Upgrades = later.Precompiles
	return s.check()
}

// EncodeUpgrades returns the upgrades as a JSON document.
func (s *Upgrades) EncodeUpgrades() ([]byte, error) { return json.Marshal(upgrades{s.Upgrades}) }

// MarshalWith marshals a chain configuration with the precompile configurations among its fields, all sorted by name.
func (s Configs) MarshalWith(config any) ([]byte, error) {
	raw, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	for key, config := range s {
		if all[key], err = json.Marshal(config); err != nil {
			return nil, err
		}
	}
	return json.Marshal(all)
}

// check applies the network's rules for configurations.
func (s *Upgrades) check() error {
	last := map[string]Config{}
	for _, c := range contracts {
		if config, named := s.Genesis[c.Key]; named {
			if err := config.check(); err != nil {
				return fmt.Errorf("%s: %w", c.Key, err)
			}
			if config.BlockTimestamp != nil {
				last[c.Key] = config
			}
		}
	}
	var newest uint64
	for i, upgrade := range s.Upgrades {
		if err := checkUpgrade(upgrade, last, &newest); err != nil {
			return fmt.Errorf("precompile upgrade %d: %w", i, err)
		}
	}
	return nil
}

var (
	errOneKey = errors.New("has exactly one contract")
	errNoTime = errors.New("has no blockTimestamp")
	errOrder  = errors.New("is before the one before it")
	errTwice  = errors.New("is not after the contract's last change")
	errState  = errors.New("turns off a contract that is off, or on one that is on")
)

func checkUpgrade(upgrade PrecompileUpgrade, last map[string]Config, newest *uint64) error {
	if len(upgrade) != 1 {
		return errOneKey
	}
	for key, config := range upgrade {
		before, known := last[key]
		at := config.BlockTimestamp
		switch {
		case !slices.ContainsFunc(contracts, func(c *Contract) bool { return c.Key == key }):
			return fmt.Errorf("unknown precompile config: %s", key)
		case at == nil:
			return errNoTime
		case *at < *newest:
			return errOrder
		case known && *at <= *before.BlockTimestamp:
			return errTwice
		case config.Disable == (!known || before.Disable):
			return errState
		}
		*newest, last[key] = *at, config
		if err := config.check(); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// The bounds of a quorum in hundredths (subnet-evm precompile/contracts/warp.Config.Verify).
const (
	leastQuorum = 33
	mostQuorum  = 100
)

func (s *Config) check() error {
	seen := map[common.Address]bool{}
	for _, address := range slices.Concat(s.Admins, s.Managers, s.Enabled) {
		if seen[address] {
			return fmt.Errorf("%s has more than one role", address)
		}
		seen[address] = true
	}
	for to, amount := range s.InitialMint {
		if amount == nil || (*big.Int)(amount).Sign() < 1 {
			return fmt.Errorf("initial mint cannot contain invalid amount for address %s", to)
		}
	}
	if q := s.Quorum; q != nil && *q > mostQuorum {
		return fmt.Errorf("invalid warp quorum ratio: cannot specify numerator (%d) > denominator (%d)", *q, mostQuorum)
	} else if q != nil && *q != 0 && *q < leastQuorum {
		return fmt.Errorf("invalid warp quorum ratio: cannot specify numerator (%d) < min numerator (%d)", *q, leastQuorum)
	}
	if s.InitialFees != nil {
		return s.InitialFees.Check()
	}
	return nil
}
