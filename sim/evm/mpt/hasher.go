package mpt

import (
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
)

// hasher encodes the nodes of a trie as RLP, in a buffer that it uses again.
type hasher struct {
	trie   *Trie
	state  crypto.KeccakState
	buffer []byte
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

// refer makes the references of a node and of all below it.
func (h *hasher) refer(n node, depth int) *reference {
	r := h.trie.ref(n)
	if r.size > 0 {
		return r
	}
	if n.kind() == leafNode {
		h.set(r, h.leaf(n, depth))
		return r
	}
	path := h.trie.path(n)
	h.referChildren(n, depth+len(path))
	h.referBranch(r, n, path)
	return r
}

// referChildren makes the references of what is below a branch.
func (h *hasher) referChildren(n node, depth int) {
	for _, child := range &h.trie.branch(n).children {
		if child != none {
			h.refer(child, depth+1)
		}
	}
}

// referBranch makes the reference of a branch that comes after a path.
func (h *hasher) referBranch(r *reference, n node, path string) {
	if path == "" {
		h.set(r, h.branch(n))
	} else {
		h.set(r, h.extension(n, path))
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

// leaf encodes the node of a leaf after so many nibbles.
func (h *hasher) leaf(n node, depth int) []byte {
	l := h.trie.leaf(n)
	path := append(h.key[:0], 2<<4)
	if depth%2 == 1 {
		path[0] |= 1<<4 | l.key[depth/2]&15
	}
	path = append(path, l.key[(depth+1)/2:]...)
	value := h.trie.value(n)
	h.begin(stringSize(path) + stringSize(value))
	h.string(path)
	h.string(value)
	return h.buffer
}

// extension encodes the node before a branch that comes after a path. The references of all below the branch are there.
func (h *hasher) extension(n node, path string) []byte {
	var to reference
	h.set(&to, h.branch(n))
	compact := h.compact(path)
	h.begin(stringSize(compact) + to.encodedSize())
	h.string(compact)
	h.reference(&to)
	return h.buffer
}

// branch encodes the node with the children. Their references are there.
func (h *hasher) branch(n node) []byte {
	children := &h.trie.branch(n).children
	size := 1
	for _, child := range children {
		if child == none {
			size++
		} else {
			size += h.trie.ref(child).encodedSize()
		}
	}
	h.begin(size)
	for _, child := range children {
		if child == none {
			h.buffer = append(h.buffer, emptyString)
		} else {
			h.reference(h.trie.ref(child))
		}
	}
	h.buffer = append(h.buffer, emptyString)
	return h.buffer
}

// compact is a path of nibbles as extensions have it: a byte that says whether their number is odd, with the first one if it is, and two
// nibbles in each further byte.
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

// What RLP begins with: a length below 56 in the same byte, or how many bytes the length has, and those.
const (
	emptyString = 0x80
	emptyList   = 0xc0
	shortest    = 56 // bytes from which on a length has bytes of its own
)

// begin begins a list in the buffer.
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
