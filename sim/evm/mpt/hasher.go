package mpt

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
)

// hasher computes the references of a trie's nodes, in buffers that it reuses.
type hasher struct {
	trie   *Trie
	state  crypto.KeccakState
	buffer []byte // holds an encoding
	key    [1 + common.HashLength]byte
}

var hashers = sync.Pool{New: func() any { return &hasher{state: crypto.NewKeccakState()} }}

func newHasher(t *Trie) *hasher {
	h := hashers.Get().(*hasher)
	h.trie = t
	return h
}

func (h *hasher) release() {
	h.trie = nil
	hashers.Put(h)
}

// refer computes the references of a node and of all below it.
func (h *hasher) refer(n node, depth int) *reference {
	r := h.trie.ref(n)
	switch {
	case r.size > 0:
	case n.kind() == leafNode:
		h.set(r, h.leaf(n, depth))
	default:
		path := h.trie.path(n)
		h.referChildren(n, depth+len(path))
		h.referBranch(r, n, path)
	}
	return r
}

func (h *hasher) referChildren(n node, depth int) {
	for _, child := range &h.trie.branch(n).children {
		if child != none {
			h.refer(child, depth+1)
		}
	}
}

// referBranch computes the reference of a branch behind a path.
func (h *hasher) referBranch(r *reference, n node, path string) {
	if path == "" {
		h.set(r, h.branch(n))
	} else {
		to := reference{}
		h.set(&to, h.branch(n))
		h.set(r, h.extension(&to, path))
	}
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

// leaf encodes a leaf below this many nibbles.
func (h *hasher) leaf(n node, depth int) []byte {
	l := h.trie.leaf(n)
	path := append(h.key[:0], 2<<4)
	if depth%2 == 1 {
		path[0] |= 1<<4 | l.key[depth/2]&15
	}
	end := len(l.key)
	if h.trie.indexes {
		end = indexSize(l.key[0])
	}
	path = append(path, l.key[(depth+1)/2:end]...)
	value := h.trie.values.get(n.number(), l.slot)
	h.list(stringSize(path) + stringSize(value))
	h.string(path)
	h.string(value)
	return h.buffer
}

// extension encodes the node in front of a branch that has a path.
func (h *hasher) extension(to *reference, path string) []byte {
	compact := h.compact(path)
	h.list(stringSize(compact) + to.encodedSize())
	h.string(compact)
	h.reference(to)
	return h.buffer
}

// branch encodes the node with its children, whose references are known.
func (h *hasher) branch(n node) []byte {
	var references [16]*reference
	size := len(references) + 1
	for i, child := range &h.trie.branch(n).children {
		if child != none {
			references[i] = h.trie.ref(child)
			size += references[i].encodedSize() - 1
		}
	}
	h.list(size)
	for _, r := range &references {
		if r == nil {
			h.buffer = append(h.buffer, emptyString)
		} else {
			h.reference(r)
		}
	}
	h.buffer = append(h.buffer, emptyString)
	return h.buffer
}

// compact encodes a path of nibbles as extensions do: a byte with the parity of their number, and the first one if it is odd, then two nibbles
// in each byte.
func (h *hasher) compact(path string) []byte {
	first := byte(0)
	if len(path)%2 == 1 {
		first, path = 1<<4|path[0], path[1:]
	}
	to := append(h.key[:0], first)
	for i := 0; i < len(path); i += 2 {
		to = append(to, path[i]<<4|path[i+1])
	}
	return to
}

// RLP prefixes: a length below 56 fits the prefix byte, a longer one follows in bytes of its own, which the prefix counts.
const (
	emptyString = 0x80
	emptyList   = 0xc0
	shortest    = 56 // lengths from here on have bytes of their own
)

func (h *hasher) list(size int) {
	h.buffer = appendHeader(h.buffer[:0], emptyList, size)
}

func appendHeader(to []byte, kind byte, size int) []byte {
	if size < shortest {
		return append(to, kind+byte(size))
	}
	length := (bits.Len(uint(size)) + 7) / 8
	to = append(to, kind+shortest-1+byte(length))
	for length--; length >= 0; length-- {
		to = append(to, byte(size>>(8*length)))
	}
	return to
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
	if r.size < common.HashLength {
		h.buffer = append(h.buffer, r.bytes[:r.size]...)
		return
	}
	end := len(h.buffer)
	h.buffer = slices.Grow(h.buffer, 1+common.HashLength)[:end+1+common.HashLength]
	h.buffer[end] = emptyString + common.HashLength
	*(*common.Hash)(h.buffer[end+1:]) = r.bytes // faster than a copy of variable length
}
