package sim

import (
	"context"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/warp"
)

// Committee is the canonical validator set of a subnet at a height of the P-Chain, with the keys of the validators that sign
// when asked.
type Committee struct {
	*warp.CanonicalSet
	Subnet ids.ID
	Height uint64

	keys *NodeKeys
}

// Signers is the signer set of a subnet at a height, which may not be above the P-Chain's last block. A subnet without
// validators has an empty one.
func Signers(ctx context.Context, n *Ledger, subnet ids.ID, height uint64) (*Committee, error) {
	set, err := n.CanonicalSet(ctx, subnet, height)
	if err != nil {
		return nil, err
	}
	keys, err := n.NodeKeys(ctx)
	return &Committee{CanonicalSet: set, Subnet: subnet, Height: height, keys: keys}, err
}
