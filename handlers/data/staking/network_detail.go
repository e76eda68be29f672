package staking

import (
	"cmp"
	"math/big"
	"reflect"
	"slices"

	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/sim"
	"snowglobe/sim/query"
	"snowglobe/sim/store"
)

// offline stands for the version of nodes that do not respond.
const offline = "offline"

// ratioPlaces matches the decimals of the live service's ratios.
const ratioPlaces = 20

// NetworkDetails sums up the current stakers of a primary network.
type NetworkDetails struct {
	ValidatorDetails ValidatorsDetails `json:"validatorDetails"`
	DelegatorDetails DelegatorsDetails `json:"delegatorDetails"`
}

// ValidatorsDetails sums up the active validators.
type ValidatorsDetails struct {
	ValidatorCount               int                   `json:"validatorCount"`
	TotalAmountStaked            string                `json:"totalAmountStaked" format:"uint" doc:"nAVAX, without delegations."`
	EstimatedAnnualStakingReward string                `json:"estimatedAnnualStakingReward" format:"uint" doc:"nAVAX: the potential rewards of active validations and delegations."`
	StakingDistributionByVersion []StakingDistribution `json:"stakingDistributionByVersion"`
	StakingRatio                 string                `json:"stakingRatio" format:"decimal" doc:"The staked part of the current supply."`
}

// StakingDistribution is the stake of the nodes that run one version.
type StakingDistribution struct {
	Version        string `json:"version" doc:"The nodes' version; offline for nodes that don't answer."`
	AmountStaked   string `json:"amountStaked" format:"uint"`
	ValidatorCount int    `json:"validatorCount"`
}

// DelegatorsDetails sums up the active delegations.
type DelegatorsDetails struct {
	DelegatorCount    int    `json:"delegatorCount"`
	TotalAmountStaked string `json:"totalAmountStaked" format:"uint" doc:"nAVAX"`
}

func (a *stakingAPI) networkOperations() []rest.Operation {
	return []rest.Operation{{
		ID: "getNetwork", Path: "/v1/networks/{network}", Summary: "Get totals of a network's validators and delegators",
		Params: data.JoinParams(data.PathNetworkParam), Answer: reflect.TypeFor[NetworkDetails](), Handle: a.OnNetwork(a.getNetwork),
	}}
}

func (a *stakingAPI) getNetwork(r *rest.Request, n *sim.Network) (any, error) {
	all, err := a.Stakers.Of(r.Context(), n)
	if err != nil {
		return nil, err
	}
	var validating, delegating, rewards uint64
	var answer NetworkDetails
	for _, v := range all.Validators {
		if v.StatusNow == store.StakerActive && query.OnPrimaryNetwork(v.Subnet) {
			answer.ValidatorDetails.ValidatorCount++
			validating, rewards = validating+uint64(v.Weight), rewards+uint64(v.PotentialReward)
		}
	}
	for _, d := range all.Delegators {
		if d.StatusNow == store.StakerActive {
			answer.DelegatorDetails.DelegatorCount++
			delegating, rewards = delegating+uint64(d.Weight), rewards+uint64(d.PotentialReward)
		}
	}
	answer.ValidatorDetails.TotalAmountStaked, answer.DelegatorDetails.TotalAmountStaked = data.Decimals(validating), data.Decimals(delegating)
	answer.ValidatorDetails.EstimatedAnnualStakingReward = data.Decimals(rewards)
	answer.ValidatorDetails.StakingDistributionByVersion = versions(all)
	staked := new(big.Int).SetUint64(validating + delegating)
	answer.ValidatorDetails.StakingRatio = new(big.Rat).SetFrac(staked, new(big.Int).SetUint64(uint64(all.Head.Supply))).FloatString(ratioPlaces)
	return answer, nil
}

// versions returns the shares of node versions, in version order.
func versions(x *query.StakerIndex) []StakingDistribution {
	amounts, counts := map[string]uint64{}, map[string]int{}
	for _, v := range x.Validators {
		if v.StatusNow != store.StakerActive || !query.OnPrimaryNetwork(v.Subnet) {
			continue
		}
		version := offline
		if v.NodeInfo != nil && v.NodeInfo.Connected {
			version = v.NodeInfo.Version
		}
		amounts[version] += uint64(v.Weight)
		counts[version]++
	}
	shares := []StakingDistribution{}
	for version, count := range counts {
		shares = append(shares, StakingDistribution{version, data.Decimals(amounts[version]), count})
	}
	slices.SortFunc(shares, func(a, b StakingDistribution) int { return cmp.Compare(a.Version, b.Version) })
	return shares
}
