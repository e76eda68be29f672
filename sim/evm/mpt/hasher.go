package mpt

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
)

// hasher encodes nodes as RLP, in a buffer that it uses again.
type hasher struct {
	state  crypto.KeccakState
	buffer []byte
	key    [1 + common.HashLength]byte
}

// refer makes the references of a node and of all below it.
func (h *hasher) refer(n node, depth int) *reference {
	r := n.ref()
	if r.size > 0 {
		return r
	}
	switch n := n.(type) {
	case *leaf:
		h.set(r, h.leaf(n, depth))
	case *branch:
		below := depth + len(n.path)
		for _, child := range n.children {
			h.refer(child, below+1)
		}
		if n.path == "" {
			h.set(r, h.branch(n, below))
		} else {
			h.set(r, h.extension(n, depth))
		}
	}
	return r
}

func (h *hasher) set(r *reference, encoding []byte) {
	if len(encoding) < common.HashLength {
		r.size = uint8(copy(r.bytes[:], encoding))
		return
	}
	h.state.Reset()
	h.state.Write(encoding)
	h.state.Read(r.bytes[:])
	r.size = common.HashLength
}

// leaf is the encoding of a leaf: what is left of its key from a depth on, and its value.
func (h *hasher) leaf(l *leaf, depth int) []byte {
	path := h.compact(nibbles-depth, 2, func(i int) byte { return nibble(&l.key, depth+i) })
	size := stringSize(path) + stringSize(l.value)
	h.begin(size)
	h.string(path)
	h.string(l.value)
	return h.buffer
}

// extension is the encoding of the path that leads to a branch, whose children have references.
func (h *hasher) extension(b *branch, depth int) []byte {
	var to reference
	h.set(&to, h.branch(b, depth+len(b.path)))
	path := h.compact(len(b.path), 0, func(i int) byte { return b.path[i] })
	h.begin(stringSize(path) + to.encodedSize())
	h.string(path)
	h.reference(&to)
	return h.buffer
}

// branch is the encoding of a branch whose children have references. None of them ends there, so there is no value.
func (h *hasher) branch(b *branch, depth int) []byte {
	size := 16 - len(b.children) + 1
	for _, child := range b.children {
		size += child.ref().encodedSize()
	}
	h.begin(size)
	next := 0
	for i := range 16 {
		if b.present&(1<<i) == 0 {
			h.buffer = append(h.buffer, emptyString)
			continue
		}
		h.reference(b.children[next].ref())
		next++
	}
	h.buffer = append(h.buffer, emptyString)
	return h.buffer
}

// compact is the hex-prefix encoding of a path, by appendix C of the yellow paper: 2 says that it is a leaf's.
func (h *hasher) compact(size int, flag byte, at func(int) byte) []byte {
	first := flag << 4
	i := 0
	if size%2 == 1 {
		first |= 1<<4 | at(0)
		i++
	}
	path := append(h.key[:0], first)
	for ; i < size; i += 2 {
		path = append(path, at(i)<<4|at(i+1))
	}
	return path
}

// The first bytes of RLP.
const (
	emptyString = 0x80
	emptyList   = 0xc0
	shortest    = 56 // bytes from which on a length has bytes of its own
)

// begin starts a list whose content has so many bytes.
func (h *hasher) begin(size int) {
	h.buffer = appendHeader(h.buffer[:0], emptyList, size)
}

func appendHeader(to []byte, kind byte, size int) []byte {
	switch {
	case size < shortest:
		return append(to, kind+byte(size))
	case size < 1<<8:
		return append(to, kind+shortest, byte(size))
	}
	return append(to, kind+shortest+1, byte(size>>8), byte(size)) // no value is longer
}

func stringSize(s []byte) int { return int(rlp.BytesSize(s)) }

func (h *hasher) string(s []byte) {
	if len(s) != 1 || s[0] >= emptyString {
		h.buffer = appendHeader(h.buffer, emptyString, len(s))
	}
	h.buffer = append(h.buffer, s...)
}

func (r *reference) encodedSize() int {
	if r.size < common.HashLength {
		return int(r.size)
	}
	return 1 + common.HashLength
}

func (h *hasher) reference(r *reference) {
	if r.size == common.HashLength {
		h.buffer = append(h.buffer, emptyString+common.HashLength)
	}
	h.buffer = append(h.buffer, r.bytes[:r.size]...)
}
