package sim

import (
	"slices"
	"sync"

	"github.com/ava-labs/avalanchego/ids"
)

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
