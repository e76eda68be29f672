package platform

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/handlers/node/jsonrpc"
	"snowglobe/sim"
	"snowglobe/sim/warp"
)

// ValidatorsAtArgs names a subnet and a height.
type ValidatorsAtArgs struct {
	Height   Height `json:"height"`
	SubnetID ids.ID `json:"subnetID"`
}

// Height is a P-Chain height, or "proposed" for the height that a proposer would see.
type Height struct {
	number   jsonrpc.Uint64
	proposed bool
}

// UnmarshalJSON refuses the largest number, as avalanchego's vms/platformvm/api.Height does: there it stands for "proposed".
func (h *Height) UnmarshalJSON(data []byte) error {
	if string(data) == `"proposed"` {
		h.proposed = true
		return nil
	}
	if err := stdjson.Unmarshal(data, &h.number); err != nil || h.number == math.MaxUint64 {
		return errHeight
	}
	return nil
}

// ValidatorsAtReply is a set of validators by node.
type ValidatorsAtReply map[ids.NodeID]*Member

// Weight returns the total weight.
func (set ValidatorsAtReply) Weight() (total jsonrpc.Uint64) {
	for _, m := range set {
		total += m.Weight
	}
	return total
}

// Member is an entry in a validator set.
type Member struct {
	PublicKey jsonrpc.Hex    `json:"publicKey"`
	Weight    jsonrpc.Uint64 `json:"weight"`
}

var (
	errHeight      = errors.New("invalid height")
	errUnfinalized = errors.New("failed to fetch validator set at unfinalized height")
)

// GetValidatorsAt returns a subnet's validators at a height, with the weight of their delegations.
func (a *Service) GetValidatorsAt(r *http.Request, args *ValidatorsAtArgs, reply *ValidatorsAtReply) error {
	height, err := a.finalized(r, args.Height, "validator set", fmt.Sprintf(" with SubnetID = %s", args.SubnetID))
	if err != nil {
		return err
	}
	*reply, err = a.state.ValidatorsAt(r.Context(), args.SubnetID, height)
	return err
}

// finalized resolves the height, which the chain must have reached: avalanchego's vms/platformvm/validators.Manager.makeValidatorSet and
// makeAllValidatorSets, whose errors differ.
func (a *Service) finalized(r *http.Request, h Height, wanted, subnet string) (uint64, error) {
	last, err := a.Height(r.Context())
	switch height := uint64(h.number); {
	case err != nil || h.proposed:
		return last, err
	case height > last:
		return 0, fmt.Errorf("failed to get %s at %d: %w%s: current P-chain height (%d) < requested P-Chain height (%d)", wanted, height, errUnfinalized, subnet, last, height)
	default:
		return height, nil
	}
}

func membersOf(all []sim.Validator, err error) (ValidatorsAtReply, error) {
	set := make(ValidatorsAtReply, len(all))
	for _, w := range all {
		set[w.Node] = &Member{PublicKey: w.Key, Weight: jsonrpc.Uint64(w.Weight)}
	}
	return set, err
}

// HeightArgs names a P-Chain height.
type HeightArgs struct {
	Height Height `json:"height"`
}

// ValidatorSetsReply holds the canonical set of every subnet that has one.
type ValidatorSetsReply struct {
	ValidatorSets map[ids.ID]CanonicalValidatorSet `json:"validatorSets"`
}

// CanonicalValidatorSet is a subnet's validators in the order of warp signatures' bits.
type CanonicalValidatorSet struct {
	Validators  []CanonicalMember `json:"validators"`
	TotalWeight jsonrpc.Uint64    `json:"totalWeight"`
}

// CanonicalMember is a key with the weight of all nodes that use it.
type CanonicalMember struct {
	PublicKey jsonrpc.Hex    `json:"publicKey"`
	Weight    jsonrpc.Uint64 `json:"weight"`
	NodeIDs   []ids.NodeID   `json:"nodeIDs"`
}

// GetAllValidatorsAt returns the canonical validators of every subnet at a height.
func (a *Service) GetAllValidatorsAt(r *http.Request, args *HeightArgs, reply *ValidatorSetsReply) error {
	subnets, err := a.state.Subnets(r.Context())
	if err != nil {
		return err
	}
	height, err := a.finalized(r, args.Height, "validator sets", "")
	if err != nil {
		return err
	}
	reply.ValidatorSets = map[ids.ID]CanonicalValidatorSet{}
	for _, subnet := range subnets {
		set, err := a.Network.CanonicalValidatorSet(r.Context(), subnet, height)
		if err != nil {
			return err
		}
		if set.TotalWeight > 0 {
			reply.ValidatorSets[subnet] = canonical(set)
		}
	}
	return nil
}

// canonical converts a set to the canonical form that signatures refer to.
func canonical(set *warp.CanonicalValidatorSet) CanonicalValidatorSet {
	reply := CanonicalValidatorSet{Validators: []CanonicalMember{}, TotalWeight: jsonrpc.Uint64(set.TotalWeight)}
	for _, m := range set.Validators {
		key := m.PublicKey.Compressed()
		reply.Validators = append(reply.Validators, CanonicalMember{key[:], jsonrpc.Uint64(m.Weight), m.NodeIDs})
	}
	return reply
}
