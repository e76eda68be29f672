package sim

import (
	"slices"
	"sync"

	"github.com/ava-labs/avalanchego/ids"
)

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
