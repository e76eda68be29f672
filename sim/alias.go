package sim

import (
	"slices"
	"sync"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/evm/reader"
	"snowglobe/sim/rules"
)

// Aliases holds the names of a network's chains. Names given by admin.aliasChain last as long as the process, as on a node.
type Aliases struct {
	mu    sync.RWMutex
	chain map[string]ids.ID
	names map[ids.ID][]string
	given map[string]bool
	order []string // first names of the chains
}

func newAliases(networkRules *rules.Network, network string, chains []*reader.Chain) *Aliases {
	a := &Aliases{chain: map[string]ids.ID{}, names: map[ids.ID][]string{}, given: map[string]bool{}}
	for _, c := range []struct {
		id    ids.ID
		names []string
	}{{ids.Empty, []string{"P", "platform"}}, {networkRules.XChainID, []string{"X", "avm"}}, {networkRules.CChainID, []string{"C", "evm"}}} {
		for _, name := range append(c.names, c.id.String()) {
			a.add(name, c.id)
		}
	}
	for _, c := range chains {
		if id := ids.ID(c.Row.BlockchainID); c.Row.Network == network {
			a.add(id.String(), id)
		}
	}
	return a
}

func (a *Aliases) add(name string, id ids.ID) bool {
	if _, taken := a.chain[name]; taken {
		return false
	}
	if a.names[id] == nil {
		a.order = append(a.order, name)
	}
	a.chain[name], a.names[id] = id, append(a.names[id], name)
	return true
}

// Chains returns the first name of every chain.
func (a *Aliases) Chains() []string {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return slices.Clone(a.order)
}

// Give adds a name for a chain, and returns false if the name is taken.
func (a *Aliases) Give(name string, id ids.ID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.add(name, id) {
		return false
	}
	a.given[name] = true
	return true
}

// count returns the number of names added by Give.
func (a *Aliases) count() int64 {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return int64(len(a.given))
}

// Lookup returns the chain with a name or id.
func (a *Aliases) Lookup(name string) (ids.ID, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	id, known := a.chain[name]
	return id, known
}

// Given is Lookup for names added by Give.
func (a *Aliases) Given(name string) (ids.ID, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.chain[name], a.given[name]
}

// Names returns all names of a chain in the order in which it got them, its id included, or nil for an unknown chain.
func (a *Aliases) Names(id ids.ID) []string {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return slices.Clone(a.names[id])
}
