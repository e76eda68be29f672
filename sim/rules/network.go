package rules

import (
	"fmt"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/sim/txs"
)

// Network holds the parameters that distinguish one network from another: ids, fees and the rules of staking. Amounts are in nAVAX, times
// in seconds.
type Network struct {
	Name           string // mainnet or fuji
	NetworkID      uint32
	HRP            string // the human-readable part of addresses
	XChainID       ids.ID
	CChainID       ids.ID
	AVAXAssetID    ids.ID
	TxFee          uint64 // of X-Chain transactions
	CreateAssetFee uint64
	Upgrades       fixtures.Upgrades // when the world's network changes its rules
	BaseStaking    StakingRules      // without what upgrades changed: StakingAt gives the rules at a time
	Fees           FeeConfig
	ValidatorFees  ValidatorFeeConfig
}

// StakingRules limits the validators and delegators of the primary network.
type StakingRules struct {
	UptimeRequirement            uint32 // of a million
	MinValidatorStake            uint64
	MaxValidatorStake            uint64
	MinDelegatorStake            uint64
	MinDelegationFee             uint32 // of a million
	MinValidationDuration        uint64
	MinDelegationDuration        uint64
	MaxStakeDuration             uint64
	HeliconMinValidationDuration uint64 // what MinValidationDuration becomes
	MaxConsumptionRate           uint64 // of a million
	MinConsumptionRate           uint64 // of a million
	MintingPeriod                uint64
	SupplyCap                    uint64
}

const (
	avax = 1_000_000_000
	hour = 60 * 60
	day  = 24 * hour

	// PercentDenominator is the whole in shares, rates and uptimes: avalanchego's reward.PercentDenominator.
	PercentDenominator = 1_000_000

	// Percent is a hundredth of the whole.
	Percent = PercentDenominator / 100
)

// Mainnet is network 1, with the dates of its upgrades.
var Mainnet = publicNetwork(&fixtures.Networks[0], Network{
	BaseStaking:   stakingRules(2000*avax, 25*avax, 14*day, 48*hour),
	ValidatorFees: ValidatorFeeConfig{Capacity: 20_000, Target: 10_000, MinPrice: 512, ExcessConversion: 1_246_488_515},
})

// Fuji is network 5, the test network, with the dates of its upgrades.
var Fuji = publicNetwork(&fixtures.Networks[1], Network{
	BaseStaking:   stakingRules(avax, avax, day, 12*hour),
	ValidatorFees: ValidatorFeeConfig{Capacity: 20_000, Target: 10_000, MinPrice: 512, ExcessConversion: 51_937_021},
})

// networks lists the networks in the world's order.
var networks = [...]*Network{Mainnet, Fuji}

// publicNetwork completes a network's rules with its ids and the fees that the public networks share.
func publicNetwork(f *fixtures.Network, n Network) *Network {
	n.Name, n.NetworkID, n.HRP = f.Name, f.ID, f.HRP
	n.Upgrades = f.Upgrades
	n.XChainID, n.CChainID, n.AVAXAssetID = f.XChainID, f.CChainID, f.AVAXAssetID
	n.TxFee, n.CreateAssetFee, n.Fees = avax/1000, avax/100, dynamicFees
	return &n
}

// BlockchainID returns the id of one of the primary network's chains; the P-Chain's is the zero id.
func (n *Network) BlockchainID(c txs.Chain) ids.ID {
	return [...]ids.ID{ids.Empty, n.XChainID, n.CChainID}[c]
}

// ChainOf returns the primary network's chain with this blockchain id.
func (n *Network) ChainOf(blockchainID ids.ID) (txs.Chain, bool) {
	for _, c := range []txs.Chain{txs.PChain, txs.XChain, txs.CChain} {
		if n.BlockchainID(c) == blockchainID {
			return c, true
		}
	}
	return 0, false
}

// Address formats an address of a chain, such as P-avax1....
func (n *Network) Address(c txs.Chain, a ids.ShortID) string { return txs.FormatAddress(c, n.HRP, a) }

// Bech32 formats an address without a chain, such as avax1....
func (n *Network) Bech32(a ids.ShortID) string { return txs.FormatBech32(n.HRP, a) }

// Load returns the rules of a world's network by its number and by the times of its upgrades, as EncodeUpgrades wrote them.
func Load(networkID uint32, upgrades string) (*Network, error) {
	for _, n := range networks {
		if n.NetworkID == networkID {
			return n.withUpgrades(upgrades)
		}
	}
	return nil, fmt.Errorf("network %d is not simulated", networkID)
}

// stakingRules returns the rules of the public networks, which share all but the smallest stakes and times: StakingConfig in avalanchego's
// genesis.MainnetParams and FujiParams.
func stakingRules(minValidator, minDelegator, minDuration, minHelicon uint64) StakingRules {
	return StakingRules{
		UptimeRequirement:     800_000,
		MinValidatorStake:     minValidator,
		MaxValidatorStake:     3_000_000 * avax,
		MinDelegatorStake:     minDelegator,
		MinDelegationFee:      20_000,
		MinValidationDuration: minDuration, MinDelegationDuration: minDuration, HeliconMinValidationDuration: minHelicon,
		MaxStakeDuration:   365 * day,
		MaxConsumptionRate: 120_000,
		MinConsumptionRate: 100_000,
		MintingPeriod:      365 * day,
		SupplyCap:          720_000_000 * avax,
	}
}

// dynamicFees is the P-Chain's fee configuration (ACP-103), equal on all public networks: DynamicFeeConfig in avalanchego's
// genesis.MainnetParams.
var dynamicFees = FeeConfig{
	Weights:          Complexity{Bandwidth: 1, Reads: 1000, Writes: 1000, Compute: 4},
	MaxCapacity:      1_000_000,
	MaxPerSecond:     100_000,
	TargetPerSecond:  50_000,
	MinPrice:         1,
	ExcessConversion: 2_164_043,
}

// Index returns a network's index in a world, by which its chains are numbered.
func Index(networkID uint32) int {
	return slices.IndexFunc(fixtures.Networks, func(n fixtures.Network) bool { return n.ID == networkID })
}
