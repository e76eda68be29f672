package platform

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/sim/store"
)

// ValidatorsArgs name a subnet and nodes; no nodes means all.
type ValidatorsArgs struct {
	SubnetID ids.ID       `json:"subnetID"`
	NodeIDs  []ids.NodeID `json:"nodeIDs"`
}

// ValidatorsReply lists validators; what is known of each depends on the subnet.
type ValidatorsReply struct {
	Validators []any `json:"validators"`
}

// PendingValidatorsReply lists who waits to begin.
type PendingValidatorsReply struct {
	Validators []any `json:"validators"`
	Delegators []any `json:"delegators"`
}

// Staker is a staker by its transaction.
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
	DelegatorCount         jsonrpc.Uint64  `json:"delegatorCount"`
	DelegatorWeight        jsonrpc.Uint64  `json:"delegatorWeight"`
	Delegators             *[]Delegator    `json:"delegators,omitempty"` // only when one node was asked for
}

// Delegator is a delegation to a validator.
type Delegator struct {
	Staker
	RewardOwner     *Owner         `json:"rewardOwner,omitempty"`
	PotentialReward jsonrpc.Uint64 `json:"potentialReward"`
}

// Signer is a BLS key with the proof that someone has its secret.
type Signer struct {
	PublicKey         jsonrpc.Hex `json:"publicKey"`
	ProofOfPossession jsonrpc.Hex `json:"proofOfPossession"`
}

// GetCurrentValidators lists who validates a subnet now.
func (a *Service) GetCurrentValidators(r *http.Request, args *ValidatorsArgs, reply *ValidatorsReply) error {
	reply.Validators = []any{}
	subnet, err := a.Network.DB.Subnet(r.Context(), a.StoreChain(), args.SubnetID[:])
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	current, err := a.state.Stakers(r.Context(), args.SubnetID, args.NodeIDs, a.state.Current)
	if err != nil {
		return fmt.Errorf("failed to get primary or subnet validators: %w", err)
	}
	if args.SubnetID == ids.Empty {
		return a.primaryValidators(r, args, current, reply)
	}
	for i := range current {
		reply.Validators = append(reply.Validators, staker(&current[i]))
	}
	if subnet.State.Conversion == nil {
		return nil
	}
	return a.l1Validators(r, args, reply)
}

func staker(s *store.Staker) Staker {
	return Staker{ids.ID(s.Tx), jsonrpc.Uint64(s.Start), jsonrpc.Uint64(s.End), jsonrpc.Uint64(s.Weight), ids.NodeID(s.Node)}
}

// primaryValidators are the validators among stakers of the primary network, each with its delegations.
func (a *Service) primaryValidators(r *http.Request, args *ValidatorsArgs, current []store.Staker, reply *ValidatorsReply) error {
	head, err := a.state.Head(r.Context())
	if err != nil {
		return err
	}
	delegators := map[ids.NodeID][]Delegator{}
	for i := range current {
		s := &current[i]
		s.PotentialReward = a.Network.PotentialReward(s, head)
		if s.Delegator {
			node := ids.NodeID(s.Node)
			delegators[node] = append(delegators[node], Delegator{staker(s), a.ownerOrNone(s.Owner), jsonrpc.Uint64(s.PotentialReward)})
		}
	}
	nodes, err := a.state.Nodes(r.Context())
	if err != nil {
		return err
	}
	for i := range current {
		if current[i].Delegator {
			continue
		}
		v := a.validator(&current[i], nodes)
		v.delegated(delegators[v.NodeID], len(nodeSet(args.NodeIDs)) == 1)
		reply.Validators = append(reply.Validators, v)
	}
	return nil
}

// Percent is how many of a million make a hundredth.
const Percent = 10_000

func (a *Service) validator(s *store.Staker, nodes map[ids.NodeID]store.Node) *Validator {
	node := nodes[ids.NodeID(s.Node)]
	return &Validator{
		Staker: staker(s), ValidationRewardOwner: a.ownerOrNone(s.Owner), DelegationRewardOwner: a.ownerOrNone(s.FeeOwner),
		PotentialReward: jsonrpc.Uint64(s.PotentialReward), AccruedDelegateeReward: jsonrpc.Uint64(s.DelegateeReward), DelegationFee: jsonrpc.Float32(s.Shares) / Percent,
		Uptime: jsonrpc.Float32(node.Uptime) / Percent, Connected: node.Connected, Signer: signer(s),
	}
}

func signer(s *store.Staker) *Signer {
	if s.BLS == nil {
		return nil
	}
	return &Signer{s.BLS, s.Proof}
}

// delegated adds up the delegations to a validator, and lists them if asked to.
func (v *Validator) delegated(delegators []Delegator, list bool) {
	v.DelegatorCount = jsonrpc.Uint64(len(delegators))
	for _, d := range delegators {
		v.DelegatorWeight += d.Weight
	}
	if list {
		all := append([]Delegator{}, delegators...)
		v.Delegators = &all
	}
}
