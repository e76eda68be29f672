package sim

import (
	"context"
	"fmt"
	"math"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/primary"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// Validator is a node's part in the validator set of a subnet. Weight includes delegations. Key is the compressed BLS public key,
// nil for a node that cannot sign.
type Validator struct {
	Node   ids.NodeID
	Key    []byte
	Weight uint64
}

// PHeight returns the height of the last P-Chain block, which a proposer would also use.
func (n *Network) PHeight(ctx context.Context) (uint64, error) {
	head, err := n.DB.PrimaryHead(ctx, n.Chain(txs.PChain))
	if err != nil {
		return 0, fmt.Errorf("P-Chain: %w", err)
	}
	return head.ID.Number(), nil
}

// SubnetOf returns the subnet that validates one of the network's blockchains; the zero id is the primary network. The error is
// store.ErrNotFound for a blockchain of another network.
func (n *Network) SubnetOf(ctx context.Context, blockchain ids.ID) (ids.ID, error) {
	if _, own := n.Rules.ChainOf(blockchain); own {
		return ids.Empty, nil
	}
	row, err := n.DB.Blockchain(ctx, blockchain[:])
	if err != nil {
		return ids.Empty, err
	}
	if row.ID.Chain() != n.Chain(txs.PChain) {
		return ids.Empty, store.ErrNotFound
	}
	return ids.ID(row.Subnet), nil
}

// HasSubnet reports whether the network has a subnet.
func (n *Network) HasSubnet(ctx context.Context, subnet ids.ID) (bool, error) {
	if subnet == ids.Empty {
		return true, nil
	}
	_, err := n.DB.Subnet(ctx, n.Chain(txs.PChain), subnet[:])
	return store.Found(err)
}

// HasNode reports whether a node validates, or once validated, anything on the network.
func (n *Network) HasNode(ctx context.Context, node []byte) (bool, error) {
	stakers, err := n.DB.StakersOfNode(ctx, n.Chain(txs.PChain), node)
	if err != nil || len(stakers) > 0 {
		return err == nil, err
	}
	l1, err := n.DB.L1ValidatorsOfNode(ctx, node, math.MaxInt64)
	return len(l1) > 0, err
}

// ValidatorsAt returns the validators of a subnet at a P-Chain height. (query.StakerIndex.ValidatorSet returns those at the
// clock's time.) Validators of a permissioned subnet sign with their primary network key. Inactive L1 validators are merged under
// the empty node id, without a key, like avalanchego's GetValidatorSet.
func (n *Network) ValidatorsAt(ctx context.Context, subnet ids.ID, height uint64) ([]Validator, error) {
	set := NewValidatorSet()
	if err := n.addStakers(ctx, set, subnet, height); err != nil {
		return nil, err
	}
	if subnet == ids.Empty {
		return set.All, nil
	}
	if len(set.All) > 0 {
		primary := NewValidatorSet()
		if err := n.addStakers(ctx, primary, ids.Empty, height); err != nil {
			return nil, err
		}
		for i := range set.All {
			if at, there := primary.index[set.All[i].Node]; there {
				set.All[i].Key = primary.All[at].Key
			}
		}
	}
	rows, err := n.DB.L1ValidatorsOfSubnet(ctx, subnet[:], height)
	for i := range rows {
		switch v := &rows[i]; {
		case v.Weight == 0 || v.ID.Chain() != n.Chain(txs.PChain):
		case v.EndAccumulatedFee == 0:
			set.Add(ids.EmptyNodeID, nil, uint64(v.Weight))
		default:
			set.Add(ids.NodeID(v.Node), v.BLS, uint64(v.Weight))
		}
	}
	return set.All, err
}

func (n *Network) addStakers(ctx context.Context, set *ValidatorSet, subnet ids.ID, height uint64) error {
	rows, err := n.DB.StakedAt(ctx, n.Chain(txs.PChain), subnet[:], height)
	for i := range rows {
		set.Add(ids.NodeID(rows[i].Node), rows[i].BLS, uint64(rows[i].Weight))
	}
	return err
}

// ValidatorSet builds a validator set, with an index by node.
type ValidatorSet struct {
	All   []Validator
	index map[ids.NodeID]int
}

// NewValidatorSet returns an empty set.
func NewValidatorSet() *ValidatorSet { return &ValidatorSet{index: map[ids.NodeID]int{}} }

// Add adds weight to a node, and its key unless that is nil.
func (s *ValidatorSet) Add(node ids.NodeID, key []byte, weight uint64) {
	at, there := s.index[node]
	if !there {
		at = len(s.All)
		s.index[node] = at
		s.All = append(s.All, Validator{Node: node})
	}
	if key != nil {
		s.All[at].Key = key
	}
	s.All[at].Weight += weight
}

// StatusAt returns a staker's status at the clock's time, which may be ahead of the last block: a staker starts and ends by time,
// before the block that records it.
func (n *Network) StatusAt(s *store.Staker) int {
	now := n.Clock.Unix()
	switch {
	case s.Status == store.StakerRemoved || s.Status == store.StakerCompleted:
		return s.Status
	case s.End <= now:
		return store.StakerCompleted
	case s.Start <= now:
		return store.StakerActive
	}
	return s.Status
}

// PotentialReward returns what a staker earns if its uptime suffices. The P-Chain fixes it in the block in which the staker
// starts; until then it is computed as if the staker started now, from the supply at the last block.
func (n *Network) PotentialReward(s *store.Staker, head *store.PrimaryBlock) store.Amount {
	if s.Status != store.StakerPending || ids.ID(s.Subnet) != ids.Empty {
		return s.PotentialReward
	}
	return store.Amount(n.Rules.StakingAt(uint64(s.Start)).Reward(uint64(s.End-s.Start), uint64(s.Weight), uint64(head.Supply)))
}

// Accrued returns the accrued validator fee (ACP-77) at the clock's time, in nAVAX: the total that an always active L1 validator would have
// paid.
func (n *Network) Accrued(head *store.PrimaryBlock) store.Amount {
	return n.AccruedAt(head, n.Clock.Unix())
}

// AccruedAt returns the accrued fee at a time after the given P-Chain block, provided that no other block comes.
func (n *Network) AccruedAt(head *store.PrimaryBlock, unix int64) store.Amount {
	return store.Amount(primary.ValidatorFeeStateOf(head).At(&n.Rules.ValidatorFees, uint64(unix)).Accrued)
}
