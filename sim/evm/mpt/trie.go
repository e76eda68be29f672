// Package mpt is a Merkle-Patricia trie in memory whose keys are hashes, as those of an EVM chain's state are. It hashes and proves as
// go-ethereum's package trie does, with a third of the memory: nothing is read from or written to a database, so that no node needs its
// path, its encoding or a record of its changes.
package mpt

import (
	"bytes"
	"math/bits"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethdb"
)

// nibbles is how many a key has.
const nibbles = 2 * common.HashLength

// Trie maps hashes to values. Its zero value is empty.
type Trie struct {
	root node
	load Loader // of parts that are not in memory; nil when there are none
}

// node is a *leaf, a *branch or a *part, nil for none.
type node interface {
	ref() *reference
}

// reference is how a parent names a node: by its hash, or by its encoding when that is shorter.
type reference struct {
	bytes [common.HashLength]byte
	size  uint8 // 0 while the node has to be hashed
}

func (r *reference) ref() *reference { return r }

// leaf is a key with its value. What its node says of the key depends on where it is.
type leaf struct {
	key   common.Hash
	value []byte
	reference
}

// branch is what lies below a prefix. With a path of its own it stands for two nodes, an extension and what that leads to.
type branch struct {
	children []node // those that there are, in order
	path     string // nibbles that all below have in common after those of the parents
	present  uint16 // a bit for each nibble that has a child
	reference
}

func nibble(key *common.Hash, i int) byte {
	if i%2 == 0 {
		return key[i/2] >> 4
	}
	return key[i/2] & 15
}

// child is where the child of a nibble is, or would be, among the children.
func (b *branch) child(nibble byte) (index int, present bool) {
	bit := uint16(1) << nibble
	return bits.OnesCount16(b.present & (bit - 1)), b.present&bit != 0
}

// matching is how many nibbles of the path a key has, from a depth on.
func (b *branch) matching(key *common.Hash, depth int) int {
	for i := range len(b.path) {
		if b.path[i] != nibble(key, depth+i) {
			return i
		}
	}
	return len(b.path)
}

func (b *branch) put(nibble byte, n node) {
	index, present := b.child(nibble)
	if present {
		b.children[index] = n
		return
	}
	children := make([]node, len(b.children)+1)
	copy(children, b.children[:index])
	children[index] = n
	copy(children[index+1:], b.children[index:])
	b.children, b.present = children, b.present|1<<nibble
}

// Put sets the value of a key.
func (t *Trie) Put(key common.Hash, value []byte) error {
	root, err := t.put(t.root, 0, &leaf{key: key, value: value})
	if err == nil {
		t.root = root
	}
	return err
}

func (t *Trie) put(n node, depth int, l *leaf) (node, error) {
	switch n := n.(type) {
	case *part:
		below, err := t.resolve(n)
		if err != nil {
			return nil, err
		}
		return t.put(below, depth, l)
	case *leaf:
		if n.key == l.key {
			return l, nil
		}
		same := depth
		for nibble(&n.key, same) == nibble(&l.key, same) {
			same++
		}
		return fork(&l.key, depth, same, n, nibble(&n.key, same), l), nil
	case *branch:
		matching := n.matching(&l.key, depth)
		if at := n.path[matching:]; at != "" {
			n.path = at[1:]
			return fork(&l.key, depth, depth+matching, n, at[0], l), nil
		}
		depth += matching
		next := nibble(&l.key, depth)
		var below node
		if index, present := n.child(next); present {
			below = n.children[index]
		}
		below, err := t.put(below, depth+1, l)
		if err != nil {
			return nil, err
		}
		n.put(next, below)
		n.size = 0
		return n, nil
	}
	return l, nil
}

// fork is a branch between a node and a new leaf with the key, which differ after some nibbles.
func fork(key *common.Hash, depth, same int, n node, at byte, l *leaf) node {
	path := make([]byte, same-depth)
	for i := range path {
		path[i] = nibble(key, depth+i)
	}
	n.ref().size = 0
	b := &branch{path: string(path)}
	b.put(at, n)
	b.put(nibble(key, same), l)
	return b
}

// Delete takes a key away.
func (t *Trie) Delete(key common.Hash) error {
	root, _, err := t.remove(t.root, 0, &key)
	if err == nil {
		t.root = root
	}
	return err
}

func (t *Trie) remove(n node, depth int, key *common.Hash) (left node, found bool, err error) {
	switch n := n.(type) {
	case *part:
		below, err := t.resolve(n)
		if err != nil {
			return nil, false, err
		}
		return t.remove(below, depth, key)
	case *leaf:
		if n.key == *key {
			return nil, true, nil
		}
	case *branch:
		matching := n.matching(key, depth)
		if matching < len(n.path) {
			return n, false, nil
		}
		depth += matching
		next := nibble(key, depth)
		index, present := n.child(next)
		if !present {
			return n, false, nil
		}
		below, found, err := t.remove(n.children[index], depth+1, key)
		if err != nil {
			return nil, false, err
		}
		if below != nil {
			n.children[index] = below
		}
		if !found {
			return n, false, nil
		}
		if below == nil && len(n.children) == 2 { // the other one takes the place of both
			if other, ok := n.children[1-index].(*part); ok {
				if n.children[1-index], err = t.resolve(other); err != nil {
					return nil, false, err
				}
			}
		}
		n.size = 0
		if below != nil {
			return n, true, nil
		}
		return n.without(next, index), true, nil
	}
	return n, false, nil
}

// without is the branch after a child is gone. One child alone, which is no part, takes its place.
func (b *branch) without(nibble byte, index int) node {
	b.present &^= 1 << nibble
	b.children = append(b.children[:index:index], b.children[index+1:]...)
	if len(b.children) > 1 {
		return b
	}
	return under(b.path+string([]byte{byte(bits.TrailingZeros16(b.present))}), b.children[0])
}

// under is a node, which is no part, with a longer way to it.
func under(path string, n node) node {
	n.ref().size = 0
	if below, ok := n.(*branch); ok {
		below.path = path + below.path
	}
	return n
}

// Hash is the root.
func (t *Trie) Hash() common.Hash {
	if t.root == nil {
		return types.EmptyRootHash
	}
	h := hasher{state: crypto.NewKeccakState()}
	r := h.refer(t.root, 0)
	if r.size == common.HashLength {
		return r.bytes
	}
	return crypto.Keccak256Hash(r.bytes[:r.size])
}

// Prove writes the nodes on the way to a key, which is a hash, from the root on, or to where it would be.
func (t *Trie) Prove(hash []byte, to ethdb.KeyValueWriter) error {
	key := common.BytesToHash(hash)
	h := hasher{state: crypto.NewKeccakState()}
	first := true
	write := func(encoding []byte) error {
		if len(encoding) < common.HashLength && !first { // it is in its parent
			return nil
		}
		first = false
		return to.Put(crypto.Keccak256(encoding), bytes.Clone(encoding))
	}
	depth := 0
	if err := t.reach(key); err != nil {
		return err
	}
	for n := t.root; n != nil; {
		h.refer(n, depth)
		switch b := n.(type) {
		case *leaf:
			return write(h.leaf(b, depth))
		case *branch:
			if b.path != "" {
				if err := write(h.extension(b, depth)); err != nil || b.matching(&key, depth) < len(b.path) {
					return err
				}
			}
			depth += len(b.path)
			if err := write(h.branch(b, depth)); err != nil {
				return err
			}
			n = nil
			if index, present := b.child(nibble(&key, depth)); present {
				n = b.children[index]
			}
			depth++
		}
	}
	return nil
}
