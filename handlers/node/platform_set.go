package node

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/store"
)

// ValidatorsAtArgs name a subnet at a height.
type ValidatorsAtArgs struct {
	Height   Height `json:"height"`
	SubnetID ids.ID `json:"subnetID"`
}

// Height is a height of the P-chain, or "proposed" for the one that a proposer would see.
type Height struct {
	number   Uint64
	proposed bool
}

// UnmarshalJSON reads both forms.
func (h *Height) UnmarshalJSON(data []byte) error {
	if string(data) == `"proposed"` {
		h.proposed = true
		return nil
	}
	return stdjson.Unmarshal(data, &h.number)
}

// ValidatorsAtReply is a set of validators by node.
type ValidatorsAtReply map[ids.NodeID]*Member

// Member is a place in a set of validators.
type Member struct {
	PublicKey Hex    `json:"publicKey"`
	Weight    Uint64 `json:"weight"`
}

var errUnfinalized = errors.New("failed to fetch validator set at unfinalized height")

// GetValidatorsAt answers who validated a subnet at a height, with their delegations.
func (a *platformAPI) GetValidatorsAt(r *http.Request, args *ValidatorsAtArgs, reply *ValidatorsAtReply) error {
	last, err := a.height(r)
	if err != nil {
		return err
	}
	height := uint64(args.Height.number)
	if args.Height.proposed {
		height = last
	}
	if height > last {
		return fmt.Errorf("failed to get validator set at %d: %w: %d > %d", height, errUnfinalized, height, last)
	}
	*reply, err = a.validatorsAt(r, args.SubnetID, height)
	return err
}

// validatorsAt is the set at a height.
func (a *platformAPI) validatorsAt(r *http.Request, subnet ids.ID, height uint64) (ValidatorsAtReply, error) {
	return a.members(r, subnet, height, electorate{
		stakes: func(s *store.Staker) bool { return stakesAt(s, int64(height)) },
		active: func(v *store.L1) bool { return v.PaidUntil > 0 },
	})
}

// validatorsNow is the set by the world's clock: time alone lets stakers begin and end, and uses balances up.
func (a *platformAPI) validatorsNow(r *http.Request, subnet ids.ID) (ValidatorsAtReply, error) {
	head, err := a.head(r)
	if err != nil {
		return nil, err
	}
	return a.members(r, subnet, head.ID.Number(), electorate{
		stakes: a.stakesNow,
		active: func(v *store.L1) bool { return a.balance(v, head) > 0 },
	})
}

// electorate says who belongs to a set.
type electorate struct {
	stakes func(*store.Staker) bool
	active func(*store.L1) bool
}

// members is a set. Validators of a permissioned subnet sign with their key on the primary network. Inactive L1
// validators stand together under no node's id, without a key.
func (a *platformAPI) members(r *http.Request, subnet ids.ID, height uint64, e electorate) (ValidatorsAtReply, error) {
	set := ValidatorsAtReply{}
	if err := a.addStakers(r, set, subnet, e); err != nil {
		return nil, err
	}
	if subnet == ids.Empty {
		return set, nil
	}
	if len(set) > 0 {
		keys := ValidatorsAtReply{}
		if err := a.addStakers(r, keys, ids.Empty, e); err != nil {
			return nil, err
		}
		for node, m := range set {
			if key := keys[node]; key != nil {
				m.PublicKey = key.PublicKey
			}
		}
	}
	rows, err := a.DB.L1ValidatorsOfSubnet(r.Context(), subnet[:], height)
	for i := range rows {
		switch v := &rows[i]; {
		case v.Weight == 0 || v.ID.Chain() != a.number():
		case !e.active(v):
			set.add(ids.EmptyNodeID, nil, Uint64(v.Weight))
		default:
			set.add(ids.NodeID(v.Node), v.BLS, Uint64(v.Weight))
		}
	}
	return set, err
}

func (a *platformAPI) addStakers(r *http.Request, set ValidatorsAtReply, subnet ids.ID, e electorate) error {
	rows, err := a.DB.StakersOfSubnet(r.Context(), a.number(), subnet[:])
	for i := range rows {
		if s := &rows[i]; e.stakes(s) {
			set.add(ids.NodeID(s.Node), s.BLS, Uint64(s.Weight))
		}
	}
	return err
}

func stakesAt(s *store.Staker, height int64) bool {
	return s.Began != nil && *s.Began <= height && (s.Ended == nil || *s.Ended > height)
}

func (set ValidatorsAtReply) add(node ids.NodeID, key []byte, weight Uint64) {
	if set[node] == nil {
		set[node] = &Member{}
	}
	if key != nil {
		set[node].PublicKey = key
	}
	set[node].Weight += weight
}
