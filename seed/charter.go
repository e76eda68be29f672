package seed

import (
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/math"

	"snowglobe/sim/evm"
	"snowglobe/sim/evm/precompile"
)

// charter is what the founders of a chain wrote down: which contracts it has built in, and for how long.
type precompileConfig struct {
	deployers  bool // not everyone may create contracts
	fees       bool // the fee configuration can be changed
	minter     bool // coins can be made
	minterEnds int  // per mille of history after which an upgrade turns the minter off, 0 for never
}

const (
	warpQuorum = 67  // hundredths of the weight that must sign a message
	teams      = 12  // how many of the nameless may deploy where not everyone may
	firstCoins = 500 // of the treasury of a chain with a minter
)

// schedule is the charter in the network's words. The deployer runs every contract.
func (c precompileConfig) schedule(kind evm.Kind, fees precompile.FeeConfig, id uint64, start, until time.Time, people map[string]*account, accounts []*account) precompile.Schedule {
	born, quorum, primary := uint64(start.Unix()), uint64(warpQuorum), kind == evm.KindL1
	s := precompile.Schedule{Fees: fees, Genesis: precompile.Settings{
		precompile.Warp.Key: {BlockTimestamp: &born, Quorum: &quorum, PrimarySigners: &primary},
	}}
	run := precompile.Setting{BlockTimestamp: &born, Admins: []common.Address{people["deployer"].address}}
	if c.deployers {
		chainSpec := run
		chainSpec.Managers = []common.Address{people["alice"].address}
		for _, a := range accounts[:min(teams, len(accounts))] {
			chainSpec.Enabled = append(chainSpec.Enabled, a.address)
		}
		s.Genesis[precompile.Deployers.Key] = chainSpec
	}
	if c.minter {
		chainSpec := run
		chainSpec.Enabled = []common.Address{people["whale"].address}
		chainSpec.InitialMint = map[common.Address]*math.HexOrDecimal256{treasury(id): (*math.HexOrDecimal256)(units(firstCoins, 18))}
		s.Genesis[precompile.Minter.Key] = chainSpec
	}
	if c.fees {
		s.Genesis[precompile.Fees.Key] = run
	}
	if c.minterEnds > 0 {
		off := born + uint64(until.Unix()-start.Unix())*uint64(c.minterEnds)/1000
		s.Upgrades = []precompile.Upgrade{{precompile.Minter.Key: {BlockTimestamp: &off, Disable: true}}}
	}
	return s
}
