package primary

import "github.com/ava-labs/avalanchego/ids"

// route is the way that an exported output takes.
type route struct{ from, to ids.ID }

// SharedMemory holds what the chains of one network have exported to each other and not yet imported.
type SharedMemory struct {
	exports map[route]map[ids.ID]*UTXO
}

// NewSharedMemory is empty.
func NewSharedMemory() *SharedMemory {
	return &SharedMemory{exports: make(map[route]map[ids.ID]*UTXO)}
}

// Put places an exported output; a state that is loaded from storage begins with these.
func (s *SharedMemory) Put(from, to ids.ID, u *UTXO) { s.box(from, to)[u.InputID()] = u }

// UTXO finds an output that one chain exported to another.
func (s *SharedMemory) UTXO(from, to, inputID ids.ID) (*UTXO, bool) {
	u, found := s.exports[route{from, to}][inputID]
	return u, found
}

// box is the exports from one chain to another.
func (s *SharedMemory) box(from, to ids.ID) map[ids.ID]*UTXO {
	r := route{from, to}
	if s.exports[r] == nil {
		s.exports[r] = make(map[ids.ID]*UTXO)
	}
	return s.exports[r]
}
