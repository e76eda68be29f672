package signing

import (
	"context"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim"
	"snowglobe/sim/warp"
)

// SignerSet is the canonical validator set of a subnet at a height of the P-Chain, with the keys of the validators that sign
// when asked.
type SignerSet struct {
	*warp.CanonicalValidatorSet
	Subnet ids.ID
	Height uint64

	keys *sim.NodeKeys
}

// Signers returns the signer set of a subnet at a height, which must not exceed the P-Chain's last block. A subnet without validators has
// an empty set.
func Signers(ctx context.Context, n *sim.Network, subnet ids.ID, height uint64) (*SignerSet, error) {
	set, err := n.CanonicalSet(ctx, subnet, height)
	if err != nil {
		return nil, err
	}
	keys, err := n.NodeKeys(ctx)
	return &SignerSet{CanonicalValidatorSet: set, Subnet: subnet, Height: height, keys: keys}, err
}
