package primary

import (
	"fmt"

	"github.com/ava-labs/avalanchego/ids"
)

// Network is what distinguishes one network from another: ids, fees and the rules of staking. Amounts are in nAVAX,
// times in seconds.
type Network struct {
	NetworkID      uint32
	HRP            string // the human-readable part of addresses
	XChainID       ids.ID
	CChainID       ids.ID
	AVAXAssetID    ids.ID
	TxFee          uint64 // of X-chain transactions
	CreateAssetFee uint64
	Staking        StakingRules
	Fees           FeeConfig
	ValidatorFees  ValidatorFeeConfig
}

// StakingRules bound what validators and delegators of the primary network may do.
type StakingRules struct {
	UptimeRequirement  uint32 // of a million
	MinValidatorStake  uint64
	MaxValidatorStake  uint64
	MinDelegatorStake  uint64
	MinDelegationFee   uint32 // of a million
	MinStakeDuration   uint64
	MaxStakeDuration   uint64
	MaxConsumptionRate uint64 // of a million
	MinConsumptionRate uint64 // of a million
	MintingPeriod      uint64
	SupplyCap          uint64
}

const (
	avax = 1_000_000_000
	day  = 24 * 60 * 60

	// percentDenominator is the whole in shares and rates.
	percentDenominator = 1_000_000
)

// Mainnet is network 1.
var Mainnet = &Network{
	NetworkID:      1,
	HRP:            "avax",
	XChainID:       id("2oYMBNV4eNHyqk2fjjV5nVQLDbtmNJzq5s3qs3Lo6ftnC6FByM"),
	CChainID:       id("2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q5"),
	AVAXAssetID:    id("FvwEAhmxKfeiG8SnEvq42hc6whRyY3EFYAvebMqDNDGCgxN5Z"),
	TxFee:          avax / 1000,
	CreateAssetFee: avax / 100,
	Staking:        stakingRules(2000*avax, 25*avax, 14*day),
	Fees:           dynamicFees,
	ValidatorFees:  ValidatorFeeConfig{Capacity: 20_000, Target: 10_000, MinPrice: 512, ExcessConversion: 1_246_488_515},
}

// Fuji is network 5, the test network.
var Fuji = &Network{
	NetworkID:      5,
	HRP:            "fuji",
	XChainID:       id("2JVSBoinj9C2J33VntvzYtVJNZdN2NKiwwKjcumHUWEb5DbBrm"),
	CChainID:       id("yH8D7ThNJkxmtkuv2jgBa4P1Rn3Qpr4pPr7QYNfcdoS6k6HWp"),
	AVAXAssetID:    id("U8iRqJoiJm8xZHAacmvYyZVwqQx6uDNtQeP3CQ6fcgQk3JqnK"),
	TxFee:          avax / 1000,
	CreateAssetFee: avax / 100,
	Staking:        stakingRules(avax, avax, day),
	Fees:           dynamicFees,
	ValidatorFees:  ValidatorFeeConfig{Capacity: 20_000, Target: 10_000, MinPrice: 512, ExcessConversion: 51_937_021},
}

// NetworkByID finds a network by its number.
func NetworkByID(networkID uint32) (*Network, error) {
	for _, n := range []*Network{Mainnet, Fuji} {
		if n.NetworkID == networkID {
			return n, nil
		}
	}
	return nil, fmt.Errorf("network %d is not simulated", networkID)
}

// stakingRules are those of the public networks, which share all but the smallest stakes and times.
func stakingRules(minValidator, minDelegator, minDuration uint64) StakingRules {
	return StakingRules{
		UptimeRequirement:  800_000,
		MinValidatorStake:  minValidator,
		MaxValidatorStake:  3_000_000 * avax,
		MinDelegatorStake:  minDelegator,
		MinDelegationFee:   20_000,
		MinStakeDuration:   minDuration,
		MaxStakeDuration:   365 * day,
		MaxConsumptionRate: 120_000,
		MinConsumptionRate: 100_000,
		MintingPeriod:      365 * day,
		SupplyCap:          720_000_000 * avax,
	}
}

// dynamicFees is the P-chain's fee configuration (ACP-103), equal on all public networks.
var dynamicFees = FeeConfig{
	Weights:          Complexity{Bandwidth: 1, Reads: 1000, Writes: 1000, Compute: 4},
	MaxCapacity:      1_000_000,
	MaxPerSecond:     100_000,
	TargetPerSecond:  50_000,
	MinPrice:         1,
	ExcessConversion: 2_164_043,
}

// id reads a constant; one that does not parse would be the zero id.
func id(cb58 string) ids.ID {
	id, err := ids.FromString(cb58)
	if err != nil {
		return ids.Empty
	}
	return id
}
