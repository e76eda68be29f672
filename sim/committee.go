package sim

import (
	"context"
	"fmt"
	"sync"

	"github.com/ava-labs/avalanchego/ids"
	"github.com/ethereum/go-ethereum/common/lru"

	"snowglobe/sim/warp"
)

// Committee is the canonical set of a subnet at a height of the P-chain, with the keys of those who sign when asked. It is
// never changed.
type Committee struct {
	*warp.CanonicalSet
	Subnet ids.ID
	Height uint64

	secrets map[*warp.Member]*warp.SecretKey // of those who sign
}

// keptCommittees is how many committees stay in memory; one of 1,500 validators takes half a megabyte.
const keptCommittees = 16

// committees keeps the keys of a network's nodes, which never change, and the committees that were asked for lately.
type committees struct {
	mu   sync.Mutex
	keys map[[warp.PublicKeyLen]byte]*nodeKey // nil until first needed
	up   map[ids.NodeID]bool                  // nodes that answer

	lately *lru.Cache[committeeID, *Committee]
}

type committeeID struct {
	subnet ids.ID
	height uint64
}

// nodeKey is a BLS key of which the world knows the secret.
type nodeKey struct {
	public *warp.PublicKey
	secret *warp.SecretKey
}

func newCommittees() *committees {
	return &committees{lately: lru.NewCache[committeeID, *Committee](keptCommittees)}
}

// Committee is that of a subnet at a height, which may not be above the P-chain's last block. A subnet without validators
// has an empty one.
func (l *Ledger) Committee(ctx context.Context, subnet ids.ID, height uint64) (*Committee, error) {
	id := committeeID{subnet, height}
	if c, ok := l.committees.lately.Get(id); ok {
		return c, nil
	}
	l.committees.mu.Lock()
	defer l.committees.mu.Unlock()
	if c, ok := l.committees.lately.Get(id); ok {
		return c, nil
	}
	c, err := l.convene(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("validators of %s at height %d: %w", subnet, height, err)
	}
	l.committees.lately.Add(id, c)
	return c, nil
}

func (l *Ledger) convene(ctx context.Context, id committeeID) (*Committee, error) {
	if err := l.collectKeys(ctx); err != nil {
		return nil, err
	}
	all, err := l.ValidatorsAt(ctx, id.subnet, id.height)
	if err != nil {
		return nil, err
	}
	validators := make([]warp.Validator, len(all))
	for i, w := range all {
		validators[i] = warp.Validator{NodeID: w.Node, Weight: w.Weight}
		if w.Key == nil {
			continue
		}
		if validators[i].PublicKey, err = l.committees.publicKey(w.Key); err != nil {
			return nil, err
		}
	}
	set, err := warp.NewCanonicalSet(validators)
	if err != nil {
		return nil, err
	}
	c := &Committee{CanonicalSet: set, Subnet: id.subnet, Height: id.height, secrets: make(map[*warp.Member]*warp.SecretKey, len(set.Members))}
	for _, m := range set.Members {
		if secret := l.committees.secret(m); secret != nil {
			c.secrets[m] = secret
		}
	}
	return c, nil
}

// collectKeys reads the keys of all nodes, once.
func (l *Ledger) collectKeys(ctx context.Context) error {
	if l.committees.keys != nil {
		return nil
	}
	nodes, err := l.DB.Nodes(ctx, l.Rules.NetworkID)
	if err != nil {
		return err
	}
	keys, up := make(map[[warp.PublicKeyLen]byte]*nodeKey, len(nodes)), make(map[ids.NodeID]bool, len(nodes))
	for i := range nodes {
		secret := warp.NewSecretKey([32]byte(nodes[i].Secret))
		public := secret.PublicKey()
		keys[public.Compressed()] = &nodeKey{public, secret}
		up[ids.NodeID(nodes[i].Node)] = nodes[i].Connected
	}
	l.committees.keys, l.committees.up = keys, up
	return nil
}

// publicKey reads a key, which costs nothing if it is a node's.
func (c *committees) publicKey(compressed []byte) (*warp.PublicKey, error) {
	if known := c.keys[[warp.PublicKeyLen]byte(compressed)]; known != nil {
		return known.public, nil
	}
	return warp.ParsePublicKey(compressed)
}

// secret is the key with which a member signs; nil if the world does not have it or if all nodes that use it are down.
func (c *committees) secret(m *warp.Member) *warp.SecretKey {
	known := c.keys[m.PublicKey.Compressed()]
	if known == nil {
		return nil
	}
	for _, node := range m.NodeIDs {
		if c.up[node] {
			return known.secret
		}
	}
	return nil
}
