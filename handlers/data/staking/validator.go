package staking

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/handlers/data"
	"snowglobe/handlers/rest"
	"snowglobe/handlers/rest/schema"
	"snowglobe/sim"
	"snowglobe/sim/query"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
)

// Validator holds the fields of every status, as in the specification's table. Rewards are the amounts paid once the validation is over,
// and the expected amounts before.
type Validator struct {
	TxHash           string               `json:"txHash" format:"cb58"`
	NodeID           string               `json:"nodeId" format:"nodeId"`
	SubnetID         string               `json:"subnetId" format:"cb58"`
	AmountStaked     string               `json:"amountStaked" format:"uint" doc:"nAVAX; on a permissioned subnet the weight."`
	DelegationFee    string               `json:"delegationFee,omitempty" format:"decimal" doc:"Percent; absent on a permissioned subnet."`
	AmountDelegated  string               `json:"amountDelegated" format:"uint" doc:"nAVAX"`
	StartTimestamp   int64                `json:"startTimestamp"`
	EndTimestamp     int64                `json:"endTimestamp"`
	BlsCredentials   *data.BlsCredentials `json:"blsCredentials,omitempty" doc:"Absent when the transaction has no signer."`
	DelegatorCount   int                  `json:"delegatorCount"`
	Rewards          Rewards              `json:"rewards"`
	ValidationStatus string               `json:"validationStatus" enum:"completed,active,pending,removed"`
}

// ActiveValidator is a validator whose period has begun and not ended.
type ActiveValidator struct {
	Validator
	StakePercentage    float64         `json:"stakePercentage" doc:"Percentage of the subnet's whole stake."`
	UptimePerformance  float64         `json:"uptimePerformance" min:"0" max:"100"`
	AvalancheGoVersion string          `json:"avalancheGoVersion,omitempty" doc:"Absent while the node does not answer."`
	DelegationCapacity string          `json:"delegationCapacity,omitempty" format:"uint" doc:"nAVAX; absent on a permissioned subnet."`
	PotentialRewards   Rewards         `json:"potentialRewards"`
	ValidatorHealth    ValidatorHealth `json:"validatorHealth"`
	Geolocation        *Geolocation    `json:"geolocation"`
}

// RemovedValidator is a validator that its subnet's owner removed.
type RemovedValidator struct {
	Validator
	RemoveTxHash    string `json:"removeTxHash" format:"cb58"`
	RemoveTimestamp int64  `json:"removeTimestamp"`
}

// Rewards holds amounts in nAVAX.
type Rewards struct {
	ValidationRewardAmount string   `json:"validationRewardAmount" format:"uint"`
	DelegationRewardAmount string   `json:"delegationRewardAmount" format:"uint" doc:"The fees from delegations."`
	RewardAddresses        []string `json:"rewardAddresses"`
	RewardTxHash           string   `json:"rewardTxHash,omitempty" format:"cb58"`
}

// ValidatorHealth reports a node's response to the last poll.
type ValidatorHealth struct {
	ReachabilityPercent          float64 `json:"reachabilityPercent"`
	BenchedPChainRequestsPercent float64 `json:"benchedPChainRequestsPercent"`
	BenchedXChainRequestsPercent float64 `json:"benchedXChainRequestsPercent"`
	BenchedCChainRequestsPercent float64 `json:"benchedCChainRequestsPercent"`
}

// Geolocation is the location of a node.
type Geolocation struct {
	City        string  `json:"city"`
	Country     string  `json:"country"`
	CountryCode string  `json:"countryCode"`
	Latitude    float64 `json:"latitude"`
	Longitude   float64 `json:"longitude"`
}

// anyValidator is a validator in the shape of its status.
type anyValidator struct{ value any }

// MarshalJSON writes the shape.
func (v anyValidator) MarshalJSON() ([]byte, error) { return data.Marshal(v.value) }

// Schema lists the shapes.
func (anyValidator) Schema(d *schema.Schemas) *schema.Schema {
	return data.Either(d, reflect.TypeFor[Validator](), reflect.TypeFor[ActiveValidator](), reflect.TypeFor[RemovedValidator]())
}

type validators struct {
	NextPageToken string         `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Validators    []anyValidator `json:"validators"`
}

func (a *stakingAPI) validatorOperations() []rest.Operation {
	return []rest.Operation{
		{ID: "listValidators", Path: "/v1/networks/{network}/validators", Summary: "List validators", Spec: "Primary network",
			Params: data.JoinParams(data.PathNetworkParam, rest.Paging(10, 100), validatorFilters), Answer: reflect.TypeFor[validators](),
			Handle: a.OnNetwork(a.listValidators)},
		{ID: "getValidator", Path: "/v1/networks/{network}/validators/{nodeId}", Summary: "List the validations of a node", Spec: "Primary network",
			Params: data.JoinParams(data.PathNetworkParam, data.NodeParam, rest.Paging(10, 100), validationStatus, data.SortOrderParam),
			Answer: reflect.TypeFor[validators](), Handle: a.OnNetwork(a.getValidator)},
	}
}

func (a *stakingAPI) listValidators(r *rest.Request, n *sim.Network) (any, error) {
	all, err := a.Stakers.Of(r.Context(), n)
	if err != nil {
		return nil, err
	}
	filter, err := a.validatorFilter(r, n, all.Unix)
	if err != nil {
		return nil, err
	}
	return validatorPage(r, n, all, r.Text("sortBy"), filter.holds), nil
}

func (a *stakingAPI) getValidator(r *rest.Request, n *sim.Network) (any, error) {
	all, err := a.Stakers.Of(r.Context(), n)
	if err != nil {
		return nil, err
	}
	node, status := rest.Value[ids.NodeID](r, "nodeId"), r.Text("validationStatus")
	of := func(v *query.ValidatorEntry) bool { return bytes.Equal(v.Node, node[:]) }
	if !slices.ContainsFunc(all.Validators, of) {
		return nil, rest.NotFound("node %s never validated on %s", node, n.Name)
	}
	return validatorPage(r, n, all, "blockIndex", func(v *query.ValidatorEntry) bool {
		return of(v) && (status == "" || stakerStatuses[v.StatusNow] == status)
	}), nil
}

// validatorPage cuts a page of matching validators, in one of the index's orders or its reverse.
func validatorPage(r *rest.Request, n *sim.Network, all *query.StakerIndex, by string, passes func(*query.ValidatorEntry) bool) validators {
	found, next := data.PageOf(r, all.Order(by), passes)
	return validators{next, data.List(found, func(v **query.ValidatorEntry) anyValidator { return anyValidator{showValidator(n, *v)} })}
}

// showValidator returns the validator in the shape of its status.
func showValidator(n *sim.Network, v *query.ValidatorEntry) any {
	common := Validator{
		TxHash: data.CB58(v.Tx), NodeID: v.NodeID, SubnetID: data.CB58(v.Subnet), AmountStaked: data.Decimals(uint64(v.Weight)),
		DelegationFee: data.Percentage(v.Fee()), AmountDelegated: data.Decimals(v.Delegated), StartTimestamp: v.Start, EndTimestamp: v.End,
		BlsCredentials: data.NewBlsCredentials(v.BLS, v.Proof), DelegatorCount: v.DelegatorCount, Rewards: validatorRewards(n, v), ValidationStatus: stakerStatuses[v.StatusNow],
	}
	switch v.StatusNow {
	case store.StakerActive:
		return showActive(n, v, common)
	case store.StakerRemoved:
		return RemovedValidator{common, data.CB58(v.RewardTx), v.EndedAt}
	}
	return common
}

func showActive(network *sim.Network, v *query.ValidatorEntry, common Validator) ActiveValidator {
	shown := ActiveValidator{Validator: common, PotentialRewards: common.Rewards,
		StakePercentage: 100 * float64(v.Weight) / float64(v.SubnetStake), ValidatorHealth: ValidatorHealth{0, 100, 100, 100}}
	if n := v.Capacity(network); n != query.NoValue {
		shown.DelegationCapacity = data.Decimals(uint64(n))
	}
	shown.UptimePerformance = float64(v.NodeUptime) / rules.Percent
	if v.NodeInfo == nil { // a client's node, which is always there
		shown.AvalancheGoVersion, shown.ValidatorHealth = fixtures.NodeSoftware, ValidatorHealth{ReachabilityPercent: 100}
		return shown
	}
	if v.NodeInfo.Connected {
		shown.AvalancheGoVersion, shown.ValidatorHealth = v.NodeInfo.Version, ValidatorHealth{ReachabilityPercent: 100}
	}
	shown.Geolocation = &Geolocation{v.NodeInfo.City, v.NodeInfo.Country, v.NodeInfo.Code, degrees(v.NodeInfo.Latitude), degrees(v.NodeInfo.Longitude)}
	return shown
}

func degrees(millionths int64) float64 { return float64(millionths) / 1e6 }

// validatorRewards returns the paid rewards of a finished validator, or the expected rewards of one that still validates. Expected rewards
// include the fees of ended delegations, which are certain, and of active ones.
func validatorRewards(n *sim.Network, v *query.ValidatorEntry) Rewards {
	validating, delegating := uint64(v.PotentialReward), uint64(v.DelegateeReward)
	switch {
	case v.StatusNow == store.StakerActive:
		delegating += v.Fees
	case v.StatusNow == store.StakerCompleted && !v.Rewarded:
		validating = 0
	}
	rewards := Rewards{data.Decimals(validating), data.Decimals(delegating), data.Bech32s(n.Rules, data.RewardOwners(&v.Staker)), ""}
	if v.StatusNow == store.StakerCompleted && v.RewardTx != nil {
		rewards.RewardTxHash = data.CB58(v.RewardTx)
	}
	return rewards
}
