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

// canonicalValidatorSetsKept bounds the canonical sets in memory; one of 1,500 validators takes half a megabyte.
const canonicalValidatorSetsKept = 16

// canonicalValidatorSets caches the BLS keys of a network's nodes, which never change, and the canonical sets used last.
type canonicalValidatorSets struct {
	mu   sync.Mutex
	keys *NodeKeys // nil until first needed
	sets *lru.Cache[validatorSetID, *warp.CanonicalValidatorSet]
}

type validatorSetID struct {
	subnet ids.ID
	height uint64
}

// forget drops the sets after the P-Chain was rewound.
func (c *canonicalValidatorSets) forget() {
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
	n.canonicalValidatorSets.mu.Lock()
	defer n.canonicalValidatorSets.mu.Unlock()
	return n.nodeKeys(ctx)
}

func (n *Network) nodeKeys(ctx context.Context) (*NodeKeys, error) {
	if n.canonicalValidatorSets.keys != nil {
		return n.canonicalValidatorSets.keys, nil
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
	n.canonicalValidatorSets.keys = k
	return k, nil
}

// CanonicalValidatorSet returns the canonical validator set of a subnet at a P-Chain height, which may not be above the last block. A
// subnet without validators has an empty set. Callers share the result and must not change it.
func (n *Network) CanonicalValidatorSet(ctx context.Context, subnet ids.ID, height uint64) (*warp.CanonicalValidatorSet, error) {
	id := validatorSetID{subnet, height}
	if set, ok := n.canonicalValidatorSets.sets.Get(id); ok {
		return set, nil
	}
	n.canonicalValidatorSets.mu.Lock()
	defer n.canonicalValidatorSets.mu.Unlock()
	if set, ok := n.canonicalValidatorSets.sets.Get(id); ok {
		return set, nil
	}
	set, err := n.readCanonicalValidatorSet(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("validators of %s at height %d: %w", subnet, height, err)
	}
	n.canonicalValidatorSets.sets.Add(id, set)
	return set, nil
}

func (n *Network) readCanonicalValidatorSet(ctx context.Context, id validatorSetID) (*warp.CanonicalValidatorSet, error) {
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
