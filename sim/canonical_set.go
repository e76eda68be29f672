package sim

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common/lru"

	"snowglobe/sim/warp"
)

// canonicalSetsKept bounds the canonical sets in memory; one of 1,500 validators takes half a megabyte.
const canonicalSetsKept = 16

// canonicalSets caches the BLS keys of a network's nodes, which never change, and the canonical sets used last.
type canonicalSets struct {
	mu   sync.Mutex
	keys *NodeKeys // nil until first needed
	sets *lru.Cache[canonicalSetID, *warp.CanonicalValidatorSet]
}

type canonicalSetID struct {
	subnet ids.ID
	height uint64
}

// forget drops the sets after the P-Chain was rewound.
func (c *canonicalSets) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sets.Purge()
}

// NodeKeys holds the BLS keys of a network's nodes, and which nodes are connected.
type NodeKeys struct {
	pairs     map[[warp.PublicKeyLen]byte]keyPair
	connected map[ids.NodeID]bool
	trouble   *Trouble
}

type keyPair struct {
	public *warp.PublicKey
	secret *warp.SecretKey
}

// PublicKey decompresses a key, or returns the known one if it belongs to a node.
func (k *NodeKeys) PublicKey(compressed []byte) (*warp.PublicKey, error) {
	if pair, known := k.pairs[[warp.PublicKeyLen]byte(compressed)]; known {
		return pair.public, nil
	}
	return warp.ParsePublicKey(compressed)
}

// Secret returns the key with which a member of a canonical set signs. It is nil if no node has the key, or none of its nodes is
// connected and signing.
func (k *NodeKeys) Secret(m *warp.CanonicalValidator) *warp.SecretKey {
	pair, known := k.pairs[m.PublicKey.Compressed()]
	if !known {
		return nil
	}
	for _, node := range m.NodeIDs {
		if k.connected[node] && !slices.Contains(k.trouble.Now().NotSigning, node) {
			return pair.secret
		}
	}
	return nil
}

// NodeKeys returns the keys of the network's nodes, read once.
func (n *Network) NodeKeys(ctx context.Context) (*NodeKeys, error) {
	n.canonicalSets.mu.Lock()
	defer n.canonicalSets.mu.Unlock()
	return n.nodeKeys(ctx)
}

func (n *Network) nodeKeys(ctx context.Context) (*NodeKeys, error) {
	if n.canonicalSets.keys != nil {
		return n.canonicalSets.keys, nil
	}
	nodes, err := n.DB.NodeSecrets(ctx, n.Rules.NetworkID)
	if err != nil {
		return nil, err
	}
	k := &NodeKeys{make(map[[warp.PublicKeyLen]byte]keyPair, len(nodes)), make(map[ids.NodeID]bool, len(nodes)), &n.Trouble}
	secrets := make([]*warp.SecretKey, len(nodes))
	for i := range nodes {
		secrets[i] = warp.NewSecretKey([32]byte(nodes[i].Secret))
		k.connected[ids.NodeID(nodes[i].Node)] = nodes[i].Connected
	}
	for i, public := range warp.PublicKeys(secrets) {
		k.pairs[public.Compressed()] = keyPair{public, secrets[i]}
	}
	n.canonicalSets.keys = k
	return k, nil
}

// CanonicalSet returns the canonical validator set of a subnet at a P-Chain height, which may not be above the last block. A
// subnet without validators has an empty set. Callers share the result and must not change it.
func (n *Network) CanonicalSet(ctx context.Context, subnet ids.ID, height uint64) (*warp.CanonicalValidatorSet, error) {
	id := canonicalSetID{subnet, height}
	if set, ok := n.canonicalSets.sets.Get(id); ok {
		return set, nil
	}
	n.canonicalSets.mu.Lock()
	defer n.canonicalSets.mu.Unlock()
	if set, ok := n.canonicalSets.sets.Get(id); ok {
		return set, nil
	}
	set, err := n.readCanonicalSet(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("validators of %s at height %d: %w", subnet, height, err)
	}
	n.canonicalSets.sets.Add(id, set)
	return set, nil
}

func (n *Network) readCanonicalSet(ctx context.Context, id canonicalSetID) (*warp.CanonicalValidatorSet, error) {
	keys, err := n.nodeKeys(ctx)
	if err != nil {
		return nil, err
	}
	all, err := n.ValidatorsAt(ctx, id.subnet, id.height)
	if err != nil {
		return nil, err
	}
	validators := make([]warp.Validator, len(all))
	for i, v := range all {
		validators[i] = warp.Validator{NodeID: v.Node, Weight: v.Weight}
		if v.Key == nil {
			continue
		}
		if validators[i].PublicKey, err = keys.PublicKey(v.Key); err != nil {
			return nil, err
		}
	}
	return warp.NewCanonicalValidatorSet(validators)
}

// Trouble makes a network's nodes misbehave until it is cleared. It is not part of the world: it decides what the local node
// reports about itself and its peers, and which nodes sign.
type Trouble struct {
	mu       sync.RWMutex
	troubles Troubles
}

// Troubles lists everything that is wrong.
type Troubles struct {
	NotBootstrapped []ids.ID     // chains that the local node is still bootstrapping
	Benched         []ids.NodeID // peers that the local node has benched on the C-Chain
	NotSigning      []ids.NodeID // nodes that refuse to sign messages
}

// Set replaces all troubles.
func (t *Trouble) Set(now Troubles) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.troubles = now
}

// Now returns the current troubles.
func (t *Trouble) Now() Troubles {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.troubles
}

// Bootstrapped reports whether the local node has bootstrapped a chain.
func (t *Trouble) Bootstrapped(chain ids.ID) bool {
	return !slices.Contains(t.Now().NotBootstrapped, chain)
}
