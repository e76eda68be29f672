package data

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common/hexutil"

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

// BlsCredentials are a BLS key with the proof that someone has its secret.
type BlsCredentials struct {
	PublicKey         string `json:"publicKey" format:"hex"`
	ProofOfPossession string `json:"proofOfPossession" format:"hex"`
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

func (a *api) validatorOperations() []handlers.Operation {
	return []handlers.Operation{
		{ID: "listValidators", Path: "/v1/networks/{network}/validators", Summary: "List validators", Spec: "Primary network",
			Params: with(ledgerParam, handlers.Paging(10, 100), validatorFilters), Answer: reflect.TypeFor[validators](),
			Handle: a.onNetwork(a.listValidators)},
		{ID: "getValidator", Path: "/v1/networks/{network}/validators/{nodeId}", Summary: "List the validations of a node", Spec: "Primary network",
			Params: with(ledgerParam, nodeParam, handlers.Paging(10, 100), validationStatus, sortOrderParam),
			Answer: reflect.TypeFor[validators](), Handle: a.onNetwork(a.getValidator)},
	}
}

func (a *api) listValidators(r *handlers.Request, l *sim.Ledger) (any, error) {
	all, err := a.roster(r.Context(), l)
	if err != nil {
		return nil, err
	}
	filter, err := a.validatorFilter(r, l, all.unix)
	if err != nil {
		return nil, err
	}
	return validatorPage(r, l, all, r.Text("sortBy"), filter.holds)
}

func (a *api) getValidator(r *handlers.Request, l *sim.Ledger) (any, error) {
	all, err := a.roster(r.Context(), l)
	if err != nil {
		return nil, err
	}
	node, status := handlers.Value[ids.NodeID](r, "nodeId"), r.Text("validationStatus")
	of := func(v *validation) bool { return bytes.Equal(v.Node, node[:]) }
	if !slices.ContainsFunc(all.validations, of) {
		return nil, handlers.NotFound("node %s never validated on %s", node, l.Network)
	}
	return validatorPage(r, l, all, "blockIndex", func(v *validation) bool {
		return of(v) && (status == "" || stakerStatuses[v.status] == status)
	})
}

// validatorPage makes a page of those who pass, in one of the roster's orders or its reverse.
func validatorPage(r *handlers.Request, l *sim.Ledger, all *roster, by string, passes func(*validation) bool) (answer any, err error) {
	found, next := pageOf(r, all.orders[by], passes)
	page := &sheet{next: next, name: "validators", items: make([]written, len(found))}
	for i, v := range found {
		if page.items[i], err = v.once(func() any { return v.shape(l) }); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// shape is the validator as those of its status are shown.
func (v *validation) shape(l *sim.Ledger) any {
	common := Validator{
		TxHash: cb58(v.Tx), NodeID: v.nodeID, SubnetID: cb58(v.Subnet), AmountStaked: decimals(uint64(v.Weight)),
		DelegationFee: percentage(v.fee()), AmountDelegated: decimals(v.delegated), StartTimestamp: v.Start, EndTimestamp: v.End,
		BlsCredentials: credentials(v.BLS, v.Proof), DelegatorCount: v.count, Rewards: v.rewards(l), ValidationStatus: stakerStatuses[v.status],
	}
	switch v.status {
	case store.StakerActive:
		return v.active(l, common)
	case store.StakerRemoved:
		return RemovedValidator{common, cb58(v.RewardTx), v.endedAt}
	}
	return common
}

func (v *validation) active(l *sim.Ledger, common Validator) ActiveValidator {
	shown := ActiveValidator{Validator: common, PotentialRewards: common.Rewards,
		StakePercentage: 100 * float64(v.Weight) / float64(v.total), ValidatorHealth: ValidatorHealth{0, 100, 100, 100}}
	if n := v.capacity(l); n != without {
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

// rewards are those that were paid to who is done, and those to expect by who is not. The fees of delegations that ended
// are sure; those of active ones are added to them.
func (v *validation) rewards(l *sim.Ledger) Rewards {
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

func credentials(key, proof []byte) *BlsCredentials {
	if key == nil {
		return nil
	}
	return &BlsCredentials{hexutil.Encode(key), hexutil.Encode(proof)}
}

// percentage writes a part of a million as percent with the sixteen places of the live service; empty for none.
func percentage(millionths int64) string {
	if millionths == without {
		return ""
	}
	return fmt.Sprintf("%d.%04d000000000000", millionths/perPercent, millionths%perPercent)
}

func decimals(n uint64) string { return strconv.FormatUint(n, 10) }
