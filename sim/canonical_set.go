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

// canonicalSetsKept is how many canonical sets stay in memory; one of 1,500 validators takes half a megabyte.
const canonicalSetsKept = 16

// canonicalSets keeps the BLS keys of a network's nodes, which never change, and the canonical sets that were asked for last.
type canonicalSets struct {
	mu   sync.Mutex
	keys *NodeKeys // nil until first needed
	sets *lru.Cache[canonicalSetID, *warp.CanonicalValidatorSet]
}

type canonicalSetID struct {
	subnet ids.ID
	height uint64
}

func newCanonicalSets() *canonicalSets {
	return &canonicalSets{sets: lru.NewCache[canonicalSetID, *warp.CanonicalValidatorSet](canonicalSetsKept)}
}

// forget forgets the sets: the P-Chain went back.
func (c *canonicalSets) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sets.Purge()
}

// NodeKeys are the BLS keys of a network's nodes, and which of the nodes are connected.
type NodeKeys struct {
	pairs     map[[warp.PublicKeyLen]byte]keyPair
	connected map[ids.NodeID]bool
	trouble   *Trouble
}

type keyPair struct {
	public *warp.PublicKey
	secret *warp.SecretKey
}

// PublicKey reads a compressed key; that of a node is not decompressed again.
func (k *NodeKeys) PublicKey(compressed []byte) (*warp.PublicKey, error) {
	if pair, known := k.pairs[[warp.PublicKeyLen]byte(compressed)]; known {
		return pair.public, nil
	}
	return warp.ParsePublicKey(compressed)
}

// Secret is the key with which a member of a canonical set signs; nil if it is no node's, or if no node that uses it is
// connected and signs.
func (k *NodeKeys) Secret(m *warp.CanonicalValidator) *warp.SecretKey {
	pair, known := k.pairs[m.PublicKey.Compressed()]
	if !known {
		return nil
	}
	for _, node := range m.NodeIDs {
		if k.connected[node] && k.trouble.signs(node) {
			return pair.secret
		}
	}
	return nil
}

// NodeKeys are read once.
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

// CanonicalValidatorSet is that of a subnet at a height, which may not be above the P-Chain's last block. A subnet without validators
// has an empty one. It is shared: nobody changes it.
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

// Trouble is what is made to be wrong with a network's nodes, until it is taken back. It is no part of the world: it decides what the
// local node says of itself and of others, and who signs.
type Trouble struct {
	mu       sync.RWMutex
	troubles Troubles
}

// Troubles are what is wrong, all at once.
type Troubles struct {
	NotBootstrapped []ids.ID     // chains that the local node has not caught up with
	Benched         []ids.NodeID // peers that the local node asks nothing about the C-Chain for a while
	NotSigning      []ids.NodeID // nodes that sign no messages
}

// Set says what is wrong from now on, and nothing else.
func (t *Trouble) Set(now Troubles) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.troubles = now
}

// Now is what is wrong.
func (t *Trouble) Now() Troubles {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.troubles
}

// Bootstrapped says whether the local node has caught up with a chain.
func (t *Trouble) Bootstrapped(chain ids.ID) bool {
	return !slices.Contains(t.Now().NotBootstrapped, chain)
}

// signs says whether a node signs messages.
func (t *Trouble) signs(node ids.NodeID) bool { return !slices.Contains(t.Now().NotSigning, node) }
