package txs

import (
	"errors"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/warp"
)

// OutputOwners names who may spend an output: threshold of the addresses, from locktime on.
type OutputOwners struct {
	Locktime  uint64        `serialize:"true" json:"locktime"`
	Threshold uint32        `serialize:"true" json:"threshold"`
	Addresses []ids.ShortID `serialize:"true" json:"addresses"`
}

// Reasons for refusing owners, in the node's words.
var (
	ErrOwnersUnspendable = errors.New("output is unspendable")
	ErrOwnersUnoptimized = errors.New("output representation should be optimized")
	ErrOwnersUnsorted    = errors.New("addresses not sorted and unique")
)

// NewOutputOwners builds owners with their addresses in the canonical order.
func NewOutputOwners(locktime uint64, threshold uint32, addresses ...ids.ShortID) OutputOwners {
	sorted := slices.Clone(addresses)
	slices.SortFunc(sorted, ids.ShortID.Compare)
	return OutputOwners{Locktime: locktime, Threshold: threshold, Addresses: sorted}
}

// NewOwner returns the everyday owners: one address, spendable at once.
func NewOwner(address ids.ShortID) OutputOwners { return NewOutputOwners(0, 1, address) }

func (o *OutputOwners) Owners() *OutputOwners { return o }

func (o *OutputOwners) Equals(other *OutputOwners) bool {
	return o.Locktime == other.Locktime && o.Threshold == other.Threshold && slices.Equal(o.Addresses, other.Addresses)
}

// Verify checks that owners are well-formed for the network.
func (o *OutputOwners) Verify() error {
	switch {
	case uint64(o.Threshold) > uint64(len(o.Addresses)):
		return ErrOwnersUnspendable
	case o.Threshold == 0 && len(o.Addresses) > 0:
		return ErrOwnersUnoptimized
	case !SortedUnique(o.Addresses, ids.ShortID.Compare):
		return ErrOwnersUnsorted
	}
	return nil
}

// SortedUnique reports whether the elements ascend strictly.
func SortedUnique[T any](s []T, compare func(T, T) int) bool {
	for i := 1; i < len(s); i++ {
		if compare(s[i-1], s[i]) >= 0 {
			return false
		}
	}
	return true
}

// FromWarpOwner converts an owner of an L1 message to owners of an output.
func FromWarpOwner(o warp.PChainOwner) OutputOwners {
	return OutputOwners{Threshold: o.Threshold, Addresses: o.Addresses}
}
