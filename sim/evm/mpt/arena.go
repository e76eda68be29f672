package mpt

// Nodes live in arenas and refer to each other by numbers: a chain has millions of them, and without pointers the garbage collector has
// nothing to follow.

const (
	chunkBits = 8
	chunkSize = 1 << chunkBits // nodes allocated together
)

// arena holds nodes of one kind. A pointer into it is valid until the next node is added.
type arena[T any] struct {
	chunks [][]T // all full but the last
	free   []uint32
}

func (a *arena[T]) at(i uint32) *T { return &a.chunks[i>>chunkBits][i%chunkSize] }

// add makes a node with the zero value.
func (a *arena[T]) add() uint32 {
	if last := len(a.free) - 1; last >= 0 {
		i := a.free[last]
		a.free = a.free[:last]
		return i
	}
	last := len(a.chunks) - 1
	if last < 0 || len(a.chunks[last]) == chunkSize {
		first := 0
		if last >= 0 { // the first chunk grows: many tries have few nodes
			first = chunkSize
		}
		a.chunks = append(a.chunks, make([]T, 0, first))
		last++
	}
	var zero T
	a.chunks[last] = append(a.chunks[last], zero)
	return uint32(last<<chunkBits + len(a.chunks[last]) - 1)
}

// remove frees the place of a node for the next one.
func (a *arena[T]) remove(i uint32) {
	var zero T
	*a.at(i) = zero
	a.free = append(a.free, i)
}

// Values live in slots whose sizes are multiples of eight bytes, grouped by size.
const (
	slotBytes = 8
	slotSizes = 16                    // number of sizes
	longest   = slotSizes * slotBytes // bytes of a value in a slot; an account has up to 112
	slabBytes = 16 << 10              // allocated together
)

// values holds the values of the leaves.
type values struct {
	slabs []slab            // by slot size, up to the largest in use
	long  map[uint32][]byte // values that fit no slot, by leaf
}

// slab holds slots of one size.
type slab struct {
	chunks [][]byte
	free   []uint32
}

// slot is the location of a non-empty value.
type slot struct {
	at   uint32
	size uint8 // bytes of the value: 0 for none, tooLong for one in values.long
}

const tooLong = longest + 1

// slab returns the index of the slab for values of a size.
func (s slot) slab() int { return (int(s.size) - 1) / slotBytes }

func (s slot) bytes() int { return (s.slab() + 1) * slotBytes }

// each returns how many slots of a slab are allocated together.
func (s slot) each() int { return slabBytes / s.bytes() }

// get returns the value of a leaf. It is valid until the next set.
func (v *values) get(leaf uint32, s slot) []byte {
	if s.size == tooLong {
		return v.long[leaf]
	}
	chunk, first := int(s.at)/s.each(), int(s.at)%s.each()*s.bytes()
	return v.slabs[s.slab()].chunks[chunk][first:][:s.size:s.size]
}

// set replaces the value of a leaf.
func (v *values) set(leaf uint32, before slot, value []byte) slot {
	s := slot{before.at, uint8(min(len(value), tooLong))}
	if s.size == tooLong {
		v.remove(leaf, before)
		if v.long == nil {
			v.long = map[uint32][]byte{}
		}
		v.long[leaf] = append([]byte{}, value...)
		return slot{size: tooLong}
	}
	if before.size == 0 || before.size == tooLong || before.slab() != s.slab() {
		v.remove(leaf, before)
		for len(v.slabs) <= s.slab() {
			v.slabs = append(v.slabs, slab{})
		}
		s.at = v.slabs[s.slab()].add(s)
	}
	copy(v.get(leaf, s), value)
	return s
}

// remove frees the slot of a value for the next one.
func (v *values) remove(leaf uint32, s slot) {
	switch s.size {
	case 0:
	case tooLong:
		delete(v.long, leaf)
	default:
		of := &v.slabs[s.slab()]
		of.free = append(of.free, s.at)
	}
}

// add makes a slot.
func (of *slab) add(s slot) uint32 {
	if last := len(of.free) - 1; last >= 0 {
		at := of.free[last]
		of.free = of.free[:last]
		return at
	}
	last, full := len(of.chunks)-1, s.each()*s.bytes()
	if last < 0 || len(of.chunks[last]) == full {
		if last++; last == 0 { // the first chunk grows, like an arena's
			full = 0
		}
		of.chunks = append(of.chunks, make([]byte, 0, full))
	}
	at := last*s.each() + len(of.chunks[last])/s.bytes()
	of.chunks[last] = append(of.chunks[last], make([]byte, s.bytes())...)
	return uint32(at)
}
