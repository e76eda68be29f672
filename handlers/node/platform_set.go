package node

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
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
	height, err := a.finalized(r, args.Height)
	if err != nil {
		return err
	}
	*reply, err = a.validatorsAt(r, args.SubnetID, height)
	return err
}

// finalized is the height that is meant, which the chain must have reached.
func (a *platformAPI) finalized(r *http.Request, h Height) (uint64, error) {
	last, err := a.height(r)
	switch height := uint64(h.number); {
	case err != nil || h.proposed:
		return last, err
	case height > last:
		return 0, fmt.Errorf("failed to get validator set at %d: %w: %d > %d", height, errUnfinalized, height, last)
	default:
		return height, nil
	}
}

// validatorsAt is the set at a height, by node.
func (a *platformAPI) validatorsAt(r *http.Request, subnet ids.ID, height uint64) (ValidatorsAtReply, error) {
	return membersOf(a.Ledger.ValidatorsAt(r.Context(), subnet, height))
}

// validatorsNow is the set by the world's clock, by node.
func (a *platformAPI) validatorsNow(r *http.Request, subnet ids.ID) (ValidatorsAtReply, error) {
	return membersOf(a.Ledger.ValidatorsNow(r.Context(), subnet))
}

func membersOf(all []sim.Weigher, err error) (ValidatorsAtReply, error) {
	set := make(ValidatorsAtReply, len(all))
	for _, w := range all {
		set[w.Node] = &Member{PublicKey: w.Key, Weight: Uint64(w.Weight)}
	}
	return set, err
}
