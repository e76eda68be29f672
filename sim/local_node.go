package sim

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"

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
// world grows. One that validates a subnet besides the primary network comes before others, then a connected node of the simulated
// version and without a role.
func (n *Network) chooseLocalNode(ctx context.Context) error {
	best := -1
	for _, validators := range []func(context.Context, int, int64) ([]store.Staker, error){n.DB.SubnetValidatorsAt, n.DB.ValidatorsAt} {
		stakers, err := validators(ctx, n.Chain(txs.PChain), n.World.Meta.Until)
		if err != nil {
			return err
		}
		for i := range stakers {
			s := &stakers[i]
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
		if best >= 0 {
			return nil
		}
	}
	return fmt.Errorf("network %d: %w", n.Rules.NetworkID, errNoLocalNode)
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

// RemoteAddress is where the local node sees a peer. One that called has a port that its system chose, not the one at which it
// can be called.
func RemoteAddress(peer *store.Node) string {
	id := ids.NodeID(peer.Node)
	if at, err := netip.ParseAddrPort(peer.IP); err == nil && nodeNumber(id, 3)%3 == 0 {
		return netip.AddrPortFrom(at.Addr(), uint16(32_768+nodeNumber(id, 4)%28_232)).String()
	}
	return peer.IP
}

// BenchedOn are the chains about which the local node asks a peer nothing for a while, as it did not answer, when some are benched by [Troubles].
func BenchedOn(peer *store.Node, benched []ids.NodeID) []string {
	if peer.Role == "low-uptime" || slices.Contains(benched, ids.NodeID(peer.Node)) {
		return []string{"C"}
	}
	return []string{}
}

// nodeNumber is a number derived from a node id and a purpose.
func nodeNumber(node ids.NodeID, about uint32) uint32 {
	digest := sha256.Sum256(binary.BigEndian.AppendUint32(node.Bytes(), about))
	return binary.BigEndian.Uint32(digest[:])
}
