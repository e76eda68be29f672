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
	"snowglobe/sim/store"
	"snowglobe/sim/txs"
)

// LocalNode is the validator for which a network answers the node's JSON-RPC API.
type LocalNode struct {
	store.Node
	PublicKey []byte // compressed BLS key
	Proof     []byte // BLS proof of possession
}

// ID returns the node's id.
func (s *LocalNode) ID() ids.NodeID { return ids.NodeID(s.Node.Node) }

var errNoLocalNode = errors.New("no validator has a key")

// chooseLocalNode picks a node among the validators at the end of the generated history, so that the choice stays when the world
// grows. It prefers one that also validates a subnet, then one of the simulated version, connected, and without a role.
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

// SecondsSinceContact returns how many seconds ago the local node last sent to a peer and received from it.
func SecondsSinceContact(peer ids.NodeID) (sent, received int64) {
	return int64(nodeNumber(peer, 1) % 5), int64(nodeNumber(peer, 2) % 5)
}

// RemoteAddress returns the address from which the local node sees a peer. A peer that dialled in has an ephemeral port instead
// of its staking port.
func RemoteAddress(peer *store.Node) string {
	id := ids.NodeID(peer.Node)
	if at, err := netip.ParseAddrPort(peer.IP); err == nil && nodeNumber(id, 3)%3 == 0 {
		return netip.AddrPortFrom(at.Addr(), uint16(32_768+nodeNumber(id, 4)%28_232)).String()
	}
	return peer.IP
}

// BenchedOn returns the chains on which the local node has benched a peer, by its role or by [Troubles].
func BenchedOn(peer *store.Node, benched []ids.NodeID) []string {
	if peer.Role == "low-uptime" || slices.Contains(benched, ids.NodeID(peer.Node)) {
		return []string{"C"}
	}
	return []string{}
}

// nodeNumber derives a number from a node id and a purpose.
func nodeNumber(node ids.NodeID, about uint32) uint32 {
	digest := sha256.Sum256(binary.BigEndian.AppendUint32(node.Bytes(), about))
	return binary.BigEndian.Uint32(digest[:])
}
