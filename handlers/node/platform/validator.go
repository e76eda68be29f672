package platform

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/sim/query"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
)

// ValidatorsArgs names a subnet and nodes; no nodes means all.
type ValidatorsArgs struct {
	SubnetID ids.ID       `json:"subnetID"`
	NodeIDs  []ids.NodeID `json:"nodeIDs"`
}

// ValidatorsReply lists validators; their fields depend on the subnet.
type ValidatorsReply struct {
	Validators []any `json:"validators"`
	encoded    []byte
}

// EncodedJSON returns the response if it was encoded before.
func (r *ValidatorsReply) EncodedJSON() []byte { return r.encoded }

// PendingValidatorsReply lists stakers whose period has not begun.
type PendingValidatorsReply struct {
	Validators []any `json:"validators"`
	Delegators []any `json:"delegators"`
}

// Staker identifies a staker by its transaction.
type Staker struct {
	TxID      ids.ID         `json:"txID"`
	StartTime jsonrpc.Uint64 `json:"startTime"`
	EndTime   jsonrpc.Uint64 `json:"endTime"`
	Weight    jsonrpc.Uint64 `json:"weight"`
	NodeID    ids.NodeID     `json:"nodeID"`
}

// Validator is a validator of the primary network.
type Validator struct {
	Staker
	ValidationRewardOwner  *Owner          `json:"validationRewardOwner,omitempty"`
	DelegationRewardOwner  *Owner          `json:"delegationRewardOwner,omitempty"`
	PotentialReward        jsonrpc.Uint64  `json:"potentialReward"`
	AccruedDelegateeReward jsonrpc.Uint64  `json:"accruedDelegateeReward"`
	DelegationFee          jsonrpc.Float32 `json:"delegationFee"` // percent
	Uptime                 jsonrpc.Float32 `json:"uptime"`        // percent
	Connected              bool            `json:"connected"`
	Signer                 *Signer         `json:"signer,omitempty"`
	*AutoRenewedConfig
	DelegatorCount  jsonrpc.Uint64 `json:"delegatorCount"`
	DelegatorWeight jsonrpc.Uint64 `json:"delegatorWeight"`
	Delegators      *[]Delegator   `json:"delegators,omitempty"` // only when the request names a single node
}

// AutoRenewedConfig is about validators that renew themselves (ACP-236): avalanchego's vms/platformvm/api.AutoRenewedConfig, and since v1.15.1
// what earlier cycles restaked.
type AutoRenewedConfig struct {
	ValidatorAuthority        *Owner         `json:"validatorAuthority"`
	NextPeriod                jsonrpc.Uint64 `json:"nextPeriod"` // seconds
	AutoCompoundRewardShares  jsonrpc.Uint32 `json:"autoCompoundRewardShares"`
	RestakedValidationRewards jsonrpc.Uint64 `json:"restakedValidationRewards"`
	RestakedDelegateeRewards  jsonrpc.Uint64 `json:"restakedDelegateeRewards"`
}

// Delegator is a delegation to a validator.
type Delegator struct {
	Staker
	RewardOwner     *Owner         `json:"rewardOwner,omitempty"`
	PotentialReward jsonrpc.Uint64 `json:"potentialReward"`
}

// Signer is a BLS key with its proof of possession.
type Signer struct {
	PublicKey         jsonrpc.Hex `json:"publicKey"`
	ProofOfPossession jsonrpc.Hex `json:"proofOfPossession"`
}

// GetCurrentValidators lists a subnet's current validators.
func (a *Service) GetCurrentValidators(r *http.Request, args *ValidatorsArgs, reply *ValidatorsReply) error {
	reply.Validators = []any{}
	index, err := a.state.Stakers(r.Context())
	if err != nil {
		return fmt.Errorf("failed to get primary or subnet validators: %w", err)
	}
	switch {
	case args.SubnetID == ids.Empty && len(args.NodeIDs) == 0:
		reply.encoded, err = a.current.Of(index.Version(), func() ([]byte, error) {
			a.primaryValidators(args, index, reply)
			return json.Marshal(reply)
		})
		return err
	case args.SubnetID == ids.Empty:
		a.primaryValidators(args, index, reply)
		return nil
	}
	subnet, err := a.Network.DB.Subnet(r.Context(), a.StoreChain(), args.SubnetID[:])
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	for _, v := range index.ValidatorsOf(args.SubnetID, store.StakerActive) {
		if args.wants(v.Node) {
			reply.Validators = append(reply.Validators, staker(&v.Staker))
		}
	}
	if subnet.State.Conversion != nil {
		a.l1Validators(args, index, reply)
	}
	return nil
}

// wants reports whether the request names a node.
func (args *ValidatorsArgs) wants(node []byte) bool {
	return len(args.NodeIDs) == 0 || slices.Contains(args.NodeIDs, ids.NodeID(node))
}

// one reports whether the request names a single node, even repeatedly.
func (args *ValidatorsArgs) one() bool {
	return len(args.NodeIDs) > 0 && !slices.ContainsFunc(args.NodeIDs, func(node ids.NodeID) bool { return node != args.NodeIDs[0] })
}

func staker(s *store.Staker) Staker {
	return Staker{ids.ID(s.Tx), jsonrpc.Uint64(s.Start), jsonrpc.Uint64(s.End), jsonrpc.Uint64(s.Weight), ids.NodeID(s.Node)}
}

// primaryValidators adds the primary network's validators, with their delegations if the request names only one.
func (a *Service) primaryValidators(args *ValidatorsArgs, index *query.StakerIndex, reply *ValidatorsReply) {
	for _, entry := range index.ValidatorsOf(ids.Empty, store.StakerActive) {
		if !args.wants(entry.Node) {
			continue
		}
		v := a.validator(entry, index)
		v.DelegatorCount, v.DelegatorWeight = jsonrpc.Uint64(entry.DelegatorCount), jsonrpc.Uint64(entry.Delegated)
		if args.one() {
			v.Delegators = a.delegators(index, v.NodeID)
		}
		reply.Validators = append(reply.Validators, v)
	}
}

func (a *Service) delegators(index *query.StakerIndex, node ids.NodeID) *[]Delegator {
	all := []Delegator{}
	for _, d := range index.DelegatorsOf(ids.Empty, store.StakerActive) {
		if ids.NodeID(d.Node) == node {
			all = append(all, Delegator{staker(&d.Staker), a.ownerOrNone(d.Owner), jsonrpc.Uint64(d.PotentialReward)})
		}
	}
	return &all
}

func (a *Service) validator(entry *query.ValidatorEntry, index *query.StakerIndex) *Validator {
	s := &entry.Staker
	node := index.Node(ids.NodeID(s.Node))
	return &Validator{
		Staker: staker(s), ValidationRewardOwner: a.ownerOrNone(s.Owner), DelegationRewardOwner: a.ownerOrNone(s.FeeOwner),
		PotentialReward: jsonrpc.Uint64(s.PotentialReward), AccruedDelegateeReward: jsonrpc.Uint64(s.DelegateeReward), DelegationFee: jsonrpc.Float32(s.Shares) / rules.Percent,
		Uptime: jsonrpc.Float32(node.Uptime) / rules.Percent, Connected: node.Connected, Signer: signer(s),
		AutoRenewedConfig: a.autoRenewed(s),
	}
}

func (a *Service) autoRenewed(s *store.Staker) *AutoRenewedConfig {
	if !s.AutoRenewed() {
		return nil
	}
	return &AutoRenewedConfig{a.ownerOrNone(s.Authority), jsonrpc.Uint64(s.NextPeriod), jsonrpc.Uint32(s.AutoCompoundRewardShares),
		jsonrpc.Uint64(s.AccruedValidationRewards), jsonrpc.Uint64(s.AccruedDelegateeRewards)}
}

func signer(s *store.Staker) *Signer {
	if s.BLS == nil {
		return nil
	}
	return &Signer{s.BLS, s.Proof}
}
