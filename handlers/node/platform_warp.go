package node

import (
	"net/http"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/warp"
)

// HeightArgs name a height of the P-chain.
type HeightArgs struct {
	Height Height `json:"height"`
}

// ValidatorSetsReply is the canonical set of every subnet that has one.
type ValidatorSetsReply struct {
	ValidatorSets map[ids.ID]CanonicalSet `json:"validatorSets"`
}

// CanonicalSet is a subnet's validators as signatures of cross-chain messages name them.
type CanonicalSet struct {
	Validators  []CanonicalMember `json:"validators"`
	TotalWeight Uint64            `json:"totalWeight"`
}

// CanonicalMember is a key with the weight of all nodes that use it.
type CanonicalMember struct {
	PublicKey Hex          `json:"publicKey"`
	Weight    Uint64       `json:"weight"`
	NodeIDs   []ids.NodeID `json:"nodeIDs"`
}

// GetAllValidatorsAt answers the canonical validators of every subnet at a height.
func (a *platformAPI) GetAllValidatorsAt(r *http.Request, args *HeightArgs, reply *ValidatorSetsReply) error {
	subnets, err := a.DB.Subnets(r.Context(), a.number())
	if err != nil {
		return err
	}
	names := []ids.ID{ids.Empty}
	for _, s := range subnets {
		names = append(names, ids.ID(s.Hash))
	}
	height, err := a.finalized(r, args.Height)
	if err != nil {
		return err
	}
	reply.ValidatorSets = map[ids.ID]CanonicalSet{}
	for _, name := range names {
		set, err := a.Ledger.CanonicalSet(r.Context(), name, height)
		if err != nil {
			return err
		}
		if set.TotalWeight > 0 {
			reply.ValidatorSets[name] = canonical(set)
		}
	}
	return nil
}

// canonical is a set as signatures name it.
func canonical(set *warp.CanonicalSet) CanonicalSet {
	reply := CanonicalSet{Validators: []CanonicalMember{}, TotalWeight: Uint64(set.TotalWeight)}
	for _, m := range set.Members {
		key := m.PublicKey.Compressed()
		reply.Validators = append(reply.Validators, CanonicalMember{key[:], Uint64(m.Weight), m.NodeIDs})
	}
	return reply
}
