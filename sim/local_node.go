package sim

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/fixtures"
	"snowglobe/sim/rules"
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// LocalNode is the node whose JSON-RPC API a network answers: one of its validators.
type LocalNode struct {
	store.Node
	PublicKey []byte // BLS
	Proof     []byte // of possession
}

// ID is the node's id.
func (s *LocalNode) ID() ids.NodeID { return ids.NodeID(s.Node.Node) }

var errNoLocalNode = errors.New("no validator has a key")

// chooseLocalNode chooses among those who validated when the generated history ended, so that the choice stays when the
// world grows. A connected node of the simulated version and without a role comes before others.
func (n *Network) chooseLocalNode(ctx context.Context) error {
	stakers, err := n.DB.StakersOfSubnet(ctx, n.Chain(txs.PChain), ids.Empty[:])
	if err != nil {
		return err
	}
	best := -1
	for i := range stakers {
		s := &stakers[i]
		until := n.World.Meta.Until
		if s.Delegator || s.BLS == nil || s.Start >= until || s.End <= until {
			continue
		}
		node, err := n.DB.Node(ctx, n.Rules.NetworkID, s.Node)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if fit := fitness(node); fit > best {
			best, n.LocalNode = fit, LocalNode{*node, s.BLS, s.Proof}
		}
	}
	if best < 0 {
		return fmt.Errorf("network %d: %w", n.Rules.NetworkID, errNoLocalNode)
	}
	return nil
}

func fitness(n *store.Node) (fit int) {
	for weight, good := range []bool{n.Version == fixtures.NodeSoftware, n.Connected, n.Role == ""} {
		if good {
			fit |= 1 << weight
		}
	}
	return fit
}

// ObservedBy is for how many percent of the time a peer observed the local node: at most its uptime.
func (n *Network) ObservedBy(peer ids.NodeID) uint64 {
	return max(uint64(n.LocalNode.Uptime)/rules.Percent, 1) - uint64(nodeNumber(peer, 0)%2)
}

// SecondsSinceContact is how many seconds ago the local node last sent to a peer and received from it.
func SecondsSinceContact(peer ids.NodeID) (sent, received int64) {
	return int64(nodeNumber(peer, 1) % 5), int64(nodeNumber(peer, 2) % 5)
}

// nodeNumber is a number derived from a node id and a purpose.
func nodeNumber(node ids.NodeID, about uint32) uint32 {
	digest := sha256.Sum256(binary.BigEndian.AppendUint32(node.Bytes(), about))
	return binary.BigEndian.Uint32(digest[:])
}
