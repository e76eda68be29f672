package utxo

import (
	"maps"
	"slices"

	"github.com/ava-labs/avalanchego/ids"

	"snowglobe/sim/txs"
)

// direction is the source and destination of exported outputs.
type direction struct{ from, to ids.ID }

// SharedMemory holds the outputs that the chains of one network have exported to each other and not yet imported.
type SharedMemory struct {
	// SubnetOf returns the subnet of a blockchain, to refuse value that would leave the primary network.
	SubnetOf func(blockchainID ids.ID) (ids.ID, error)

	exports map[direction]map[ids.ID]*txs.UTXO
}

// NewSharedMemory returns an empty shared memory.
func NewSharedMemory() *SharedMemory {
	return &SharedMemory{exports: make(map[direction]map[ids.ID]*txs.UTXO)}
}

// Put adds an exported output; a state loaded from storage begins with these.
func (s *SharedMemory) Put(from, to ids.ID, u *txs.UTXO) { s.exported(from, to)[u.InputID()] = u }

// UTXO finds an output that one chain exported to another.
func (s *SharedMemory) UTXO(from, to, inputID ids.ID) (*txs.UTXO, bool) {
	u, found := s.exports[direction{from, to}][inputID]
	return u, found
}

// Exported lists one chain's exports to another by input id.
func (s *SharedMemory) Exported(from, to ids.ID) []*txs.UTXO {
	all := slices.Collect(maps.Values(s.exported(from, to)))
	slices.SortFunc(all, func(a, b *txs.UTXO) int { return a.InputID().Compare(b.InputID()) })
	return all
}

// exported returns the outputs from one chain to another.
func (s *SharedMemory) exported(from, to ids.ID) map[ids.ID]*txs.UTXO {
	d := direction{from, to}
	if s.exports[d] == nil {
		s.exports[d] = make(map[ids.ID]*txs.UTXO)
	}
	return s.exports[d]
}
