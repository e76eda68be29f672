// Package mpt is a Merkle-Patricia trie in memory whose keys are hashes, like the state of an EVM chain. It hashes and proves like
// go-ethereum's package trie, with a fraction of the memory: it neither reads nor writes a database, so that no node needs its path, its
// encoding or a record of its changes.
package mpt

import (
	"bytes"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethdb"
)

// Trie maps hashes to values. Its zero value is empty.
type Trie struct {
	root     node
	leaves   arena[leaf]
	branches arena[branch]
	parts    arena[part]
	values   values
	paths    map[node]string // of branches whose keys share more nibbles than their position implies
	load     Loader          // reads parts that are not in memory; nil without parts
	indexes  bool            // the keys are those of a List
}

// node is the number and kind of a leaf, branch or part; 0 for none.
type node uint32

const (
	none node = iota
	leafNode
	branchNode
	partNode

	kindBits = 2
)

func (n node) kind() node     { return n & (1<<kindBits - 1) }
func (n node) number() uint32 { return uint32(n >> kindBits) }

func nodeOf(kind node, number uint32) node { return node(number)<<kindBits | kind }

// reference is how a parent refers to a node: by its hash, or by its encoding if that is shorter.
type reference struct {
	bytes [common.HashLength]byte
	size  uint8 // 0 until the node is hashed
}

// leaf holds a key and its value. How much of the key its node encodes depends on its position.
type leaf struct {
	key common.Hash
	slot
	reference
}

// branch has two or more children.
type branch struct {
	children [16]node
	extended bool // whether Trie.paths has a path for it
	reference
}

// ref returns the reference of a node. It is valid until the next node is added.
func (t *Trie) ref(n node) *reference {
	switch n.kind() {
	case leafNode:
		return &t.leaves.at(n.number()).reference
	case branchNode:
		return &t.branches.at(n.number()).reference
	}
	return &t.parts.at(n.number()).reference
}

func (t *Trie) leaf(n node) *leaf     { return t.leaves.at(n.number()) }
func (t *Trie) branch(n node) *branch { return t.branches.at(n.number()) }

// path returns the nibbles that all keys below a branch share, beyond its position, one nibble per byte.
func (t *Trie) path(n node) string {
	if !t.branch(n).extended {
		return ""
	}
	return t.paths[n]
}

func (t *Trie) setPath(n node, path string) {
	t.branch(n).extended = path != ""
	if path == "" {
		delete(t.paths, n)
		return
	}
	if t.paths == nil {
		t.paths = map[node]string{}
	}
	t.paths[n] = path
}

func nibble(key *common.Hash, i int) byte {
	if i%2 == 0 {
		return key[i/2] >> 4
	}
	return key[i/2] & 15
}

// matching returns the number of nibbles that a key shares with a path.
func matching(path string, key *common.Hash, depth int) int {
	for i := range len(path) {
		if path[i] != nibble(key, depth+i) {
			return i
		}
	}
	return len(path)
}

func (t *Trie) newLeaf(key *common.Hash, value []byte) node {
	n := t.leaves.add()
	l := t.leaves.at(n)
	l.key, l.slot = *key, t.values.set(n, slot{}, value)
	return nodeOf(leafNode, n)
}

// Put sets the non-empty value of a key. It copies the value.
func (t *Trie) Put(key common.Hash, value []byte) error {
	root, err := t.put(t.root, 0, &key, value)
	if err == nil {
		t.root = root
	}
	return err
}

// put returns a node with a value added below it.
func (t *Trie) put(n node, depth int, key *common.Hash, value []byte) (node, error) {
	switch n.kind() {
	case partNode:
		below, err := t.resolve(n)
		if err != nil {
			return n, err
		}
		return t.put(below, depth, key, value)
	case leafNode:
		l := t.leaf(n)
		if l.key == *key {
			l.slot = t.values.set(n.number(), l.slot, value)
			l.reference.size = 0
			return n, nil
		}
		other := l.key
		same := depth
		for nibble(&other, same) == nibble(key, same) {
			same++
		}
		return t.fork(key, value, depth, same, n, nibble(&other, same)), nil
	case branchNode:
		path := t.path(n)
		same := depth + matching(path, key, depth)
		if rest := path[same-depth:]; rest != "" {
			t.setPath(n, rest[1:])
			return t.fork(key, value, depth, same, n, rest[0]), nil
		}
		depth = same
		at := nibble(key, depth)
		below, err := t.put(t.branch(n).children[at], depth+1, key, value)
		if err != nil {
			return n, err
		}
		b := t.branch(n)
		b.children[at], b.reference.size = below, 0
		return n, nil
	}
	return t.newLeaf(key, value), nil
}

// fork makes a branch where a node, which belongs at a nibble, and a new leaf diverge.
func (t *Trie) fork(key *common.Hash, value []byte, depth, same int, n node, at byte) node {
	path := make([]byte, same-depth)
	for i := range path {
		path[i] = nibble(key, depth+i)
	}
	t.ref(n).size = 0 // its node now encodes less of its keys
	leaf, b := t.newLeaf(key, value), nodeOf(branchNode, t.branches.add())
	children := &t.branch(b).children
	children[at], children[nibble(key, same)] = n, leaf
	t.setPath(b, string(path))
	return b
}

// Delete removes a key if it exists.
func (t *Trie) Delete(key common.Hash) error {
	root, _, err := t.remove(t.root, 0, &key)
	if err == nil {
		t.root = root
	}
	return err
}

// remove returns a node without a key, and whether the key existed.
func (t *Trie) remove(n node, depth int, key *common.Hash) (left node, found bool, err error) {
	switch n.kind() {
	case partNode:
		below, err := t.resolve(n)
		if err != nil {
			return n, false, err
		}
		return t.remove(below, depth, key)
	case leafNode:
		if t.leaf(n).key == *key {
			t.values.remove(n.number(), t.leaf(n).slot)
			t.leaves.remove(n.number())
			return none, true, nil
		}
	case branchNode:
		path := t.path(n)
		if matching(path, key, depth) < len(path) {
			return n, false, nil
		}
		depth += len(path)
		at := nibble(key, depth)
		below := t.branch(n).children[at]
		if below == none {
			return n, false, nil
		}
		other, last := t.branch(n).onlyOther(at)
		if last && below.kind() != branchNode && t.branch(n).children[other].kind() == partNode {
			// The remaining child may be alone, and its node would then encode more of its keys.
			resolved, err := t.resolve(t.branch(n).children[other])
			if err != nil {
				return n, false, err
			}
			t.branch(n).children[other] = resolved
		}
		below, found, err := t.remove(below, depth+1, key)
		if err != nil {
			return n, false, err
		}
		b := t.branch(n)
		if below != none || !found {
			b.children[at] = below
			if found {
				b.reference.size = 0
			}
			return n, found, nil
		}
		b.children[at], b.reference.size = none, 0
		if !last {
			return n, true, nil
		}
		rest := b.children[other] // replaces both
		t.setPath(n, "")
		t.branches.remove(n.number())
		return t.under(path+string([]byte{other}), rest), true, nil
	}
	return n, false, nil
}

// onlyOther returns the position of the other child of a branch with two.
func (b *branch) onlyOther(than byte) (other byte, only bool) {
	for i, child := range b.children {
		if child == none || byte(i) == than {
			continue
		}
		if only {
			return 0, false
		}
		other, only = byte(i), true
	}
	return other, only
}

// under returns a node moved below more nibbles than before.
func (t *Trie) under(path string, n node) node {
	t.ref(n).size = 0
	if n.kind() == branchNode {
		t.setPath(n, path+t.path(n))
	}
	return n
}

// Hash returns the root.
func (t *Trie) Hash() common.Hash {
	if t.root == none {
		return types.EmptyRootHash
	}
	h := newHasher(t)
	defer h.release()
	r := h.refer(t.root, 0)
	if r.size == common.HashLength {
		return r.bytes
	}
	return crypto.Keccak256Hash(r.bytes[:r.size])
}

// Prove writes the nodes from the root down to the position of a key, present or not.
func (t *Trie) Prove(hash []byte, to ethdb.KeyValueWriter) error {
	key := common.BytesToHash(hash)
	if err := t.reach(&key); err != nil {
		return err
	}
	h := newHasher(t)
	defer h.release()
	first := true
	write := func(encoding []byte) error {
		if len(encoding) < common.HashLength && !first { // its parent contains it
			return nil
		}
		first = false
		return to.Put(crypto.Keccak256(encoding), bytes.Clone(encoding))
	}
	depth := 0
	for n := t.root; n != none; {
		h.refer(n, depth)
		if n.kind() == leafNode {
			return write(h.leaf(n, depth))
		}
		if path := t.path(n); path != "" {
			to := reference{}
			h.set(&to, h.branch(n))
			if err := write(h.extension(&to, path)); err != nil || matching(path, &key, depth) < len(path) {
				return err
			}
			depth += len(path)
		}
		if err := write(h.branch(n)); err != nil {
			return err
		}
		n = t.branch(n).children[nibble(&key, depth)]
		depth++
	}
	return nil
}
