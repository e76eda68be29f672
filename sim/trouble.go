package sim

import (
	"maps"
	"slices"
	"sync"

	"github.com/ava-labs/avalanchego/ids"
)

// Trouble makes a network's nodes misbehave until it is cleared. It is not part of the world: it decides what the local node
// reports about itself and its peers, which nodes sign, and which stakers validators refuse a reward.
type Trouble struct {
	mu       sync.RWMutex
	troubles Troubles
	changes  int64 // of uptimes
}

// Troubles lists everything that is wrong.
type Troubles struct {
	NotBootstrapped []ids.ID              // chains that the local node is still bootstrapping
	Benched         []ids.NodeID          // peers that the local node has benched on the C-Chain
	NotSigning      []ids.NodeID          // nodes that refuse to sign messages
	Uptimes         map[ids.NodeID]uint32 // share of its time, of a million, that a validator's node is up, instead of the world's
}

// Set replaces all troubles.
func (t *Trouble) Set(now Troubles) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !maps.Equal(t.troubles.Uptimes, now.Uptimes) {
		t.changes++
	}
	t.troubles = now
}

// UptimeChanges counts the changes of uptimes.
func (t *Trouble) UptimeChanges() int64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.changes
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
