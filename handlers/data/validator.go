package data

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers"
	"snowglobe/sim"
	"snowglobe/sim/store"
)

// Validator is what the shapes of all statuses share. It has every field of the specification's table: rewards are what
// was paid once the validation is over, and what to expect before.
type Validator struct {
	TxHash           string          `json:"txHash" format:"cb58"`
	NodeID           string          `json:"nodeId" format:"nodeId"`
	SubnetID         string          `json:"subnetId" format:"cb58"`
	AmountStaked     string          `json:"amountStaked" format:"uint" doc:"nAVAX; on a permissioned subnet the weight."`
	DelegationFee    string          `json:"delegationFee,omitempty" format:"decimal" doc:"Percent; absent on a permissioned subnet."`
	AmountDelegated  string          `json:"amountDelegated" format:"uint" doc:"nAVAX"`
	StartTimestamp   int64           `json:"startTimestamp"`
	EndTimestamp     int64           `json:"endTimestamp"`
	BlsCredentials   *BlsCredentials `json:"blsCredentials,omitempty" doc:"Absent when the transaction has no signer."`
	DelegatorCount   int             `json:"delegatorCount"`
	Rewards          Rewards         `json:"rewards"`
	ValidationStatus string          `json:"validationStatus" enum:"completed,active,pending,removed"`
}

// ActiveValidator is a validator that validates now.
type ActiveValidator struct {
	Validator
	StakePercentage    float64         `json:"stakePercentage" doc:"Of all that is staked on the subnet."`
	UptimePerformance  float64         `json:"uptimePerformance" min:"0" max:"100"`
	AvalancheGoVersion string          `json:"avalancheGoVersion,omitempty" doc:"Absent while the node does not answer."`
	DelegationCapacity string          `json:"delegationCapacity,omitempty" format:"uint" doc:"nAVAX; absent on a permissioned subnet."`
	PotentialRewards   Rewards         `json:"potentialRewards"`
	ValidatorHealth    ValidatorHealth `json:"validatorHealth"`
	Geolocation        *Geolocation    `json:"geolocation"`
}

// RemovedValidator is one that the owner of its subnet removed.
type RemovedValidator struct {
	Validator
	RemoveTxHash    string `json:"removeTxHash" format:"cb58"`
	RemoveTimestamp int64  `json:"removeTimestamp"`
}

// Rewards are in nAVAX.
type Rewards struct {
	ValidationRewardAmount string   `json:"validationRewardAmount" format:"uint"`
	DelegationRewardAmount string   `json:"delegationRewardAmount" format:"uint" doc:"The fees from delegations."`
	RewardAddresses        []string `json:"rewardAddresses"`
	RewardTxHash           string   `json:"rewardTxHash,omitempty" format:"cb58"`
}

// ValidatorHealth is how a node answered when it was last polled.
type ValidatorHealth struct {
	ReachabilityPercent          float64 `json:"reachabilityPercent"`
	BenchedPChainRequestsPercent float64 `json:"benchedPChainRequestsPercent"`
	BenchedXChainRequestsPercent float64 `json:"benchedXChainRequestsPercent"`
	BenchedCChainRequestsPercent float64 `json:"benchedCChainRequestsPercent"`
}

// Geolocation is where a node stands.
type Geolocation struct {
	City        string  `json:"city"`
	Country     string  `json:"country"`
	CountryCode string  `json:"countryCode"`
	Latitude    float64 `json:"latitude"`
	Longitude   float64 `json:"longitude"`
}

// anyValidator is a validator in the shape of its status.
type anyValidator struct{}

// Schema is one of the shapes.
func (anyValidator) Schema(d *handlers.Schemas) *handlers.Schema {
	return either(d, reflect.TypeFor[Validator](), reflect.TypeFor[ActiveValidator](), reflect.TypeFor[RemovedValidator]())
}

type validators struct {
	NextPageToken string         `json:"nextPageToken,omitempty" doc:"Absent on the last page."`
	Validators    []anyValidator `json:"validators"`
}

func (a *stakingAPI) validatorOperations() []handlers.Operation {
	return []handlers.Operation{
		{ID: "listValidators", Path: "/v1/networks/{network}/validators", Summary: "List validators", Spec: "Primary network",
			Params: with(pathNetworkParam, handlers.Paging(10, 100), validatorFilters), Answer: reflect.TypeFor[validators](),
			Handle: a.onNetwork(a.listValidators)},
		{ID: "getValidator", Path: "/v1/networks/{network}/validators/{nodeId}", Summary: "List the validations of a node", Spec: "Primary network",
			Params: with(pathNetworkParam, nodeParam, handlers.Paging(10, 100), validationStatus, sortOrderParam),
			Answer: reflect.TypeFor[validators](), Handle: a.onNetwork(a.getValidator)},
	}
}

func (a *stakingAPI) listValidators(r *handlers.Request, l *sim.Ledger) (any, error) {
	all, err := a.stakers.of(r.Context(), l)
	if err != nil {
		return nil, err
	}
	filter, err := a.validatorFilter(r, l, all.unix)
	if err != nil {
		return nil, err
	}
	return a.validatorPage(r, l, all, r.Text("sortBy"), filter.holds)
}

func (a *stakingAPI) getValidator(r *handlers.Request, l *sim.Ledger) (any, error) {
	all, err := a.stakers.of(r.Context(), l)
	if err != nil {
		return nil, err
	}
	node, status := handlers.Value[ids.NodeID](r, "nodeId"), r.Text("validationStatus")
	of := func(v *validatorEntry) bool { return bytes.Equal(v.Node, node[:]) }
	if !slices.ContainsFunc(all.validators, of) {
		return nil, handlers.NotFound("node %s never validated on %s", node, l.Network)
	}
	return a.validatorPage(r, l, all, "blockIndex", func(v *validatorEntry) bool {
		return of(v) && (status == "" || stakerStatuses[v.status] == status)
	})
}

// validatorPage makes a page of those who pass, in one of the index's orders or its reverse.
func (a *stakingAPI) validatorPage(r *handlers.Request, l *sim.Ledger, all *stakerIndex, by string, passes func(*validatorEntry) bool) (answer any, err error) {
	found, next := pageOf(r, all.orders[by], passes)
	page := &jsonPage{next: next, name: "validators", items: make([]rawJSON, len(found))}
	texts := a.json(l, all)
	for i, v := range found {
		if page.items[i], err = texts.validators[v.number].once(func() any { return showValidator(l, v) }); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// showValidator is the validator as those of its status are shown.
func showValidator(l *sim.Ledger, v *validatorEntry) any {
	common := Validator{
		TxHash: cb58(v.Tx), NodeID: v.nodeID, SubnetID: cb58(v.Subnet), AmountStaked: decimals(uint64(v.Weight)),
		DelegationFee: percentage(v.fee()), AmountDelegated: decimals(v.delegated), StartTimestamp: v.Start, EndTimestamp: v.End,
		BlsCredentials: blsCredentials(v.BLS, v.Proof), DelegatorCount: v.delegatorCount, Rewards: validatorRewards(l, v), ValidationStatus: stakerStatuses[v.status],
	}
	switch v.status {
	case store.StakerActive:
		return showActive(l, v, common)
	case store.StakerRemoved:
		return RemovedValidator{common, cb58(v.RewardTx), v.endedAt}
	}
	return common
}

func showActive(l *sim.Ledger, v *validatorEntry, common Validator) ActiveValidator {
	shown := ActiveValidator{Validator: common, PotentialRewards: common.Rewards,
		StakePercentage: 100 * float64(v.Weight) / float64(v.subnetStake), ValidatorHealth: ValidatorHealth{0, 100, 100, 100}}
	if n := v.capacity(l); n != noValue {
		shown.DelegationCapacity = decimals(uint64(n))
	}
	if v.node == nil {
		return shown
	}
	shown.UptimePerformance = float64(v.node.Uptime) / perPercent
	if v.node.Connected {
		shown.AvalancheGoVersion, shown.ValidatorHealth = v.node.Version, ValidatorHealth{ReachabilityPercent: 100}
	}
	shown.Geolocation = &Geolocation{v.node.City, v.node.Country, v.node.Code, degrees(v.node.Latitude), degrees(v.node.Longitude)}
	return shown
}

func degrees(millionths int64) float64 { return float64(millionths) / 1e6 }

// validatorRewards are those that were paid to who is done, and those to expect by who is not. The fees of delegations that ended
// are sure; those of active ones are added to them.
func validatorRewards(l *sim.Ledger, v *validatorEntry) Rewards {
	validating, delegating := uint64(v.Reward), uint64(v.Delegatee)
	switch {
	case v.status == store.StakerActive:
		delegating += v.fees
	case v.status == store.StakerCompleted && !v.Rewarded:
		validating = 0
	}
	rewards := Rewards{decimals(validating), decimals(delegating), bech32s(l.Rules, rewardOwners(&v.Staker)), ""}
	if v.status == store.StakerCompleted && v.RewardTx != nil {
		rewards.RewardTxHash = cb58(v.RewardTx)
	}
	return rewards
}
