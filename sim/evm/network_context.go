package evm

import (
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/evm/precompile"
	"snowglobe/sim/warp"
)

// NetworkContext identifies a chain to its network, as avalanchego's snow.Context does. A chain with the zero value has no network: it
// refuses every warp message, and no upgrade ever activates.
type NetworkContext struct {
	NetworkID uint32
	ChainID   ids.ID
	SubnetID  ids.ID
	Network   Network
	Helicon   *uint64 // Unix seconds of its activation
}

// HeliconAt reports whether Helicon is active at a time, in Unix seconds.
func (h *NetworkContext) HeliconAt(time uint64) bool { return h.Helicon != nil && time >= *h.Helicon }

// Network gives warp verification information about source chains.
type Network interface {
	// SubnetOf returns the subnet that validates a blockchain of the network.
	SubnetOf(blockchain ids.ID) (ids.ID, error)

	// WarpSet returns a subnet's canonical validator set for blocks at a time; see EpochStart.
	WarpSet(subnet ids.ID, time uint64) (*warp.CanonicalValidatorSet, error)

	// Simulates reports whether a blockchain is one of the world's EVM chains, so that its messages are known.
	Simulates(blockchain ids.ID) bool
}

// epoch is the length of a P-Chain epoch in seconds: all blocks of an epoch verify messages with the validators of the same P-Chain height
// (ACP-181).
const epoch = 5 * 60

// EpochStart returns the time at which a block's epoch began. Messages are verified with the validators as of the last P-Chain block before
// it.
func EpochStart(time uint64) uint64 { return time - time%epoch }

// EpochsBetween returns how many epochs begin after time, up to and including later, which must not be earlier.
func EpochsBetween(time, later uint64) uint64 { return later/epoch - time/epoch }

var errNoNetwork = errors.New("the chain has no network")

// verifyPredicate refuses a message without the signatures that the chain's configuration asks for.
func (h *NetworkContext) verifyPredicate(m *warp.Message, s precompile.Config, time uint64) error {
	if h.Network == nil {
		return errNoNetwork
	}
	subnet, quorum, err := h.Signers(m.SourceChainID, s)
	if err != nil {
		return fmt.Errorf("cannot retrieve validator set: %w", err)
	}
	set, err := h.Network.WarpSet(subnet, time)
	if err != nil {
		return fmt.Errorf("cannot retrieve validator set: %w", err)
	}
	return m.Verify(h.NetworkID, set, quorum, warp.QuorumDenominator)
}

// Signers returns who must sign a blockchain's message for the chain to accept it: a subnet, and the percentage of its weight.
func (h *NetworkContext) Signers(source ids.ID, s precompile.Config) (subnet ids.ID, quorum uint64, err error) {
	if subnet, err = h.Network.SubnetOf(source); err != nil {
		return ids.Empty, 0, err
	}
	// A subnet's validators follow the P-Chain, so they sign for it themselves; requirePrimaryNetworkSigners asks for the primary network's
	// signatures on messages of the C- and X-Chain (subnet-evm, warp Config.VerifyPredicate).
	primary := s.PrimarySigners != nil && *s.PrimarySigners
	if subnet == ids.Empty && (!primary || source == ids.Empty) {
		subnet = h.SubnetID
	}
	quorum = uint64(warp.DefaultQuorumNumerator)
	if s.Quorum != nil && *s.Quorum != 0 {
		quorum = *s.Quorum
	}
	return subnet, quorum, nil
}

func (h *NetworkContext) PrecompileInput() precompile.WarpInput {
	return precompile.WarpInput{NetworkID: h.NetworkID, ChainID: h.ChainID}
}
