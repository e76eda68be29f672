package evm

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/math"

	"snowglobe/seed/population"
	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
)

// precompileConfig lists the precompiles that a chain's genesis enables, as in subnet-evm's genesis file, and the ones that an upgrade
// disables.
type precompileConfig struct {
	deployers  bool // contractDeployerAllowListConfig: only some may create contracts
	fees       bool // feeManagerConfig: the fee configuration can change
	minter     bool // contractNativeMinterConfig
	minterEnds int  // per mille of history after which an upgrade disables the minter, 0 for never
}

const (
	warpQuorum       = 67  // hundredths of the weight that must sign a message
	enabledAccounts  = 12  // accounts with the right to deploy where it is restricted
	treasuryFromMint = 500 // initial mint of a chain with a minter
)

// schedule returns the configuration in the network's terms. The deployer is admin of every precompile.
func (c precompileConfig) schedule(spec *ChainSpec, id uint64, span population.Span, personas *population.Personas, accounts []*population.Account) precompile.Upgrades {
	quorum, primary := uint64(warpQuorum), spec.kind == evm.KindL1
	s := precompile.Upgrades{FeeConfig: spec.fees, Genesis: precompile.Configs{
		precompile.Warp.Key: {BlockTimestamp: &span.Start, Quorum: &quorum, PrimarySigners: &primary},
	}}
	admin := precompile.Config{BlockTimestamp: &span.Start, Admins: []common.Address{personas.Deployer.Address}}
	if c.deployers {
		setting := admin
		setting.Managers = []common.Address{personas.Alice.Address}
		for _, a := range accounts[:min(enabledAccounts, len(accounts))] {
			setting.Enabled = append(setting.Enabled, a.Address)
		}
		s.Genesis[precompile.DeployerAllowList.Key] = setting
	}
	if c.minter {
		setting := admin
		setting.Enabled = []common.Address{personas.Whale.Address}
		setting.InitialMint = map[common.Address]*math.HexOrDecimal256{Treasury(id): (*math.HexOrDecimal256)(population.Units(treasuryFromMint, 18))}
		s.Genesis[precompile.NativeMinter.Key] = setting
	}
	if c.fees {
		s.Genesis[precompile.FeeManager.Key] = admin
	}
	if c.minterEnds > 0 {
		s.Upgrades = []precompile.PrecompileUpgrade{{precompile.NativeMinter.Key: {BlockTimestamp: new(span.At(c.minterEnds, 0)), Disable: true}}}
	}
	return s
}
