package precompile

import (
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"
)

// contracts lists all contracts that a configuration may name, in the order in which they are set up: by address.
var contracts = []*Contract{DeployerAllowList, NativeMinter, TxAllowList, FeeManager, Warp}

// Config is the configuration of one precompile in a genesis or an upgrade, with subnet-evm's names.
type Config struct {
	Admins         []common.Address                         `json:"adminAddresses,omitempty"`
	Managers       []common.Address                         `json:"managerAddresses,omitempty"`
	Enabled        []common.Address                         `json:"enabledAddresses,omitempty"`
	BlockTimestamp *uint64                                  `json:"blockTimestamp,omitempty"`
	Disable        bool                                     `json:"disable,omitempty"`
	InitialMint    map[common.Address]*math.HexOrDecimal256 `json:"initialMint,omitempty"`
	InitialFees    *FeeConfig                               `json:"initialFeeConfig,omitempty"`
	Quorum         *uint64                                  `json:"quorumNumerator,omitempty"` // of a message's signers, in hundredths of the weight
	PrimarySigners *bool                                    `json:"requirePrimaryNetworkSigners,omitempty"`
}

// Configs maps keys to the configurations of precompiles.
type Configs map[string]Config

// Activation describes the block that activates a precompile.
type Activation struct {
	State     vm.StateDB
	Config    *Config
	FeeConfig *FeeConfig // the genesis configuration
	Number    uint64     // the block's number
}

// configsBetween returns the configurations of a precompile that take effect after one time and up to another; after is nil for a genesis.
func (s *Upgrades) configsBetween(c *Contract, after *uint64, upTo uint64) []Config {
	var all []Config
	due := func(configs Configs) {
		config, named := configs[c.Key]
		if at := config.BlockTimestamp; named && at != nil && *at <= upTo && (after == nil || *at > *after) {
			all = append(all, config)
		}
	}
	due(s.Genesis)
	for _, upgrade := range s.Upgrades {
		due(upgrade)
	}
	return all
}

// configAt returns the configuration of a precompile at a time, and whether it is in force then.
func (s *Upgrades) configAt(c *Contract, time uint64) (last Config, active bool) {
	for i := -1; i < len(s.Upgrades); i++ {
		configs := s.Genesis
		if i >= 0 {
			configs = s.Upgrades[i]
		}
		if config, named := configs[c.Key]; named && config.BlockTimestamp != nil && *config.BlockTimestamp <= time {
			last, active = config, !config.Disable
		}
	}
	return last, active
}

// At returns the configurations in force at a time, by key.
func (s *Upgrades) At(time uint64) Configs {
	active := Configs{}
	for _, c := range contracts {
		if config, inForce := s.configAt(c, time); inForce {
			active[c.Key] = config
		}
	}
	return active
}

// Active returns the precompiles in force at a time.
func (s *Upgrades) Active(time uint64) []*Contract {
	var active []*Contract
	for _, c := range contracts {
		if _, inForce := s.configAt(c, time); inForce {
			active = append(active, c)
		}
	}
	return active
}

// Apply activates and disables precompiles before a block's transactions (subnet-evm's ApplyUpgrades): the upgrades after its parent's
// time, up to its own. Parent is nil for a genesis.
func (s *Upgrades) Apply(states vm.StateDB, parent *uint64, time, number uint64) error {
	for _, c := range contracts {
		for _, config := range s.configsBetween(c, parent, time) {
			if config.Disable {
				states.SelfDestruct(c.Address)
				states.Finalise(params.Rules{IsEIP158: true})
				continue
			}
			if err := c.activate(&Activation{State: states, Config: &config, FeeConfig: &s.FeeConfig, Number: number}); err != nil {
				return fmt.Errorf("%s: %w", c.Key, err)
			}
		}
	}
	return nil
}

// activate sets up the contract's first roles and gives it a nonce and code, like a deployed contract. Otherwise it would be deleted as an
// empty account (EIP-158), and Solidity's check for code would fail.
func (c *Contract) activate(a *Activation) error {
	a.State.SetNonce(c.Address, 1, tracing.NonceChangeUnspecified)
	a.State.SetCode(c.Address, []byte{1}, tracing.CodeChangeUnspecified)
	if c.configure != nil {
		if err := c.configure(a); err != nil {
			return err
		}
	}
	for _, group := range []struct {
		role Role
		all  []common.Address
	}{{Enabled, a.Config.Enabled}, {Admin, a.Config.Admins}, {Manager, a.Config.Managers}} {
		for _, address := range group.all {
			setRole(a.State, c.Address, address, group.role)
		}
	}
	return nil
}

// Disabled returns the addresses of the precompiles disabled after one time and up to another.
func (s *Upgrades) Disabled(after, upTo uint64) map[common.Address]bool {
	off := map[common.Address]bool{}
	for _, c := range contracts {
		for _, config := range s.configsBetween(c, &after, upTo) {
			if config.Disable {
				off[c.Address] = true
			}
		}
	}
	return off
}
