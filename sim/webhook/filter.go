package webhook

import (
	"encoding/json"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common"
)

// Events of a primary network, by their names in the Data API.
const (
	BalanceChange       = "balance_change"
	BalanceThreshold    = "balance_threshold"
	RewardDistribution  = "reward_distribution"
	ValidatorStake      = "validator_stake"
	DelegatorStake      = "delegator_stake"
	L1BalanceIncreased  = "l1_validator_balance_increased"
	L1Disabled          = "l1_validator_disabled"
	L1Removed           = "l1_validator_removed"
	L1BalanceThreshold  = "l1_validator_balance_threshold"
	transactionActivity = "" // a transaction on an EVM chain
)

// AddressEvents lists the events about addresses, ValidatorEvents the ones about validators.
var (
	AddressEvents   = []string{BalanceChange, BalanceThreshold, RewardDistribution}
	ValidatorEvents = []string{ValidatorStake, DelegatorStake, RewardDistribution, L1BalanceIncreased, L1Disabled, L1Removed, L1BalanceThreshold}
)

// The kinds of things that a webhook about a primary network watches.
const (
	KeyAddresses = "addresses"
	KeyNodeID    = "nodeId"
	KeySubnetID  = "subnetId"
)

// Filter selects a webhook's events, in addition to the watched keys.
type Filter struct {
	EventSignatures []common.Hash `json:"eventSignatures,omitempty"` // of an EVM chain: a log must begin with one of them

	KeyType   string   `json:"keyType,omitempty"`
	SubEvents []string `json:"subEvents,omitempty"`

	BalanceType      string `json:"balanceType,omitempty"`
	BalanceThreshold uint64 `json:"balanceThreshold,omitempty"` // nAVAX

	NodeIDs            []ids.NodeID `json:"nodeIds,omitempty"`
	SubnetIDs          []ids.ID     `json:"subnetIds,omitempty"`
	L1BalanceThreshold uint64       `json:"l1BalanceThreshold,omitempty"` // nAVAX
}

// Text returns the filter as stored in the file.
func (f *Filter) Text() (string, error) {
	text, err := json.Marshal(f)
	return string(text), err
}

// ParseFilter parses what Text wrote.
func ParseFilter(text string) (*Filter, error) {
	f := new(Filter)
	return f, json.Unmarshal([]byte(text), f)
}
