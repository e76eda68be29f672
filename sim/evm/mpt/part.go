package mpt

import (
	"errors"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// ErrPart means that the loaded content of a part does not match its hash.
var ErrPart = errors.New("the part of a trie has another hash")

// Part is a subtree that is only a hash in memory until something in it is read or changed.
type Part struct {
	Prefix string // common nibbles of its keys, one per byte
	Hash   common.Hash
}

// Loader visits every key and value of a part.
type Loader func(prefix string, visit func(key common.Hash, value []byte)) error

// part is a placeholder for a subtree, right below the branch that its prefix leads to.
type part struct {
	prefix string
	reference
}

// NewTrie makes a trie of parts, which must not overlap and must be sorted by prefix.
func NewTrie(parts []Part, load Loader) (*Trie, error) {
	t := &Trie{load: load}
	var err error
	t.root, err = t.join(parts, 0)
	return t, err
}

// SetLoader changes how parts are loaded.
func (t *Trie) SetLoader(load Loader) { t.load = load }

// join makes the subtree of parts that share this many nibbles.
func (t *Trie) join(parts []Part, depth int) (node, error) {
	switch {
	case len(parts) == 0:
		return none, nil
	case len(parts) == 1:
		n := nodeOf(partNode, t.parts.add())
		*t.parts.at(n.number()) = part{prefix: parts[0].Prefix, reference: reference{bytes: parts[0].Hash, size: common.HashLength}}
		if len(parts[0].Prefix) == depth {
			return n, nil
		}
		below, err := t.resolve(n)
		if err != nil {
			return none, err
		}
		return t.under(parts[0].Prefix[depth:], below), nil
	}
	b := branch{}
	for len(parts) > 0 {
		if len(parts[0].Prefix) <= depth || parts[0].Prefix[depth] > 15 {
			return none, ErrPart
		}
		at := parts[0].Prefix[depth]
		end := slices.IndexFunc(parts, func(p Part) bool { return len(p.Prefix) <= depth || p.Prefix[depth] != at })
		if end < 0 {
			end = len(parts)
		}
		below, err := t.join(parts[:end], depth+1)
		if err != nil {
			return none, err
		}
		if end == len(parts) && b.children == [16]node{} { // all of them continue with the same nibble
			return t.under(string([]byte{at}), below), nil
		}
		b.children[at] = below
		parts = parts[end:]
	}
	n := nodeOf(branchNode, t.branches.add())
	*t.branch(n) = b
	return n, nil
}

// resolve loads a part and replaces it by its subtree.
func (t *Trie) resolve(n node) (node, error) {
	p := *t.parts.at(n.number())
	depth := len(p.prefix)
	loaded, matches := none, true
	err := t.load(p.prefix, func(key common.Hash, value []byte) {
		for i := range depth {
			matches = matches && nibble(&key, i) == p.prefix[i]
		}
		loaded, _ = t.put(loaded, depth, &key, value) // nothing in it needs loading
	})
	if err == nil && (loaded == none || !matches || t.referenceOf(loaded, depth) != p.reference) {
		err = ErrPart
	}
	if err != nil {
		t.drop(loaded)
		return none, err
	}
	t.parts.remove(n.number())
	return loaded, nil
}

func (t *Trie) referenceOf(n node, depth int) reference {
	h := newHasher(t)
	defer h.release()
	return *h.refer(n, depth)
}

// drop frees the places of a node and of everything below it.
func (t *Trie) drop(n node) {
	switch n.kind() {
	case leafNode:
		t.values.remove(n.number(), t.leaf(n).slot)
		t.leaves.remove(n.number())
	case branchNode:
		for _, child := range t.branch(n).children {
			t.drop(child)
		}
		t.setPath(n, "")
		t.branches.remove(n.number())
	}
}

// reach loads the part that a key belongs to, and any part inside it that the key leads to.
func (t *Trie) reach(key *common.Hash) (err error) {
	if t.root, err = t.loaded(t.root); err != nil {
		return err
	}
	n, depth := t.root, 0
	for n.kind() == branchNode {
		path := t.path(n)
		if matching(path, key, depth) < len(path) {
			return nil
		}
		depth += len(path)
		at := nibble(key, depth)
		below, err := t.loaded(t.branch(n).children[at])
		if err != nil {
			return err
		}
		t.branch(n).children[at] = below
		n = below
		depth++
	}
	return nil
}

// loaded returns a node, or the subtree of a part.
func (t *Trie) loaded(n node) (node, error) {
	if n.kind() != partNode {
		return n, nil
	}
	below, err := t.resolve(n)
	if err != nil {
		return n, err
	}
	return below, nil
}

// LoadAll loads every part.
func (t *Trie) LoadAll() (err error) {
	t.root, err = t.loadAll(t.root)
	return err
}

func (t *Trie) loadAll(n node) (node, error) {
	if n.kind() != branchNode {
		return t.loaded(n)
	}
	for i, child := range t.branch(n).children {
		below, err := t.loadAll(child)
		if err != nil {
			return n, err
		}
		t.branch(n).children[i] = below
	}
	return n, nil
}

// PartHash returns the hash of the subtree below a prefix, as if a branch were above it; false if there is none.
func (t *Trie) PartHash(prefix string) (common.Hash, bool) {
	h := newHasher(t)
	defer h.release()
	r := reference{}
	depth := 0
	for n := t.root; n != none; {
		switch n.kind() {
		case partNode:
			p := t.parts.at(n.number())
			return p.reference.bytes, p.prefix == prefix
		case leafNode:
			for ; depth < len(prefix); depth++ {
				if nibble(&t.leaf(n).key, depth) != prefix[depth] {
					return common.Hash{}, false
				}
			}
			h.set(&r, h.leaf(n, depth))
			return r.bytes, r.size == common.HashLength
		case branchNode:
			path, rest := t.path(n), prefix[depth:]
			if len(rest) <= len(path) {
				if !strings.HasPrefix(path, rest) {
					return common.Hash{}, false
				}
				if rest == "" {
					r = *h.refer(n, depth)
				} else {
					h.referChildren(n, depth+len(path))
					h.referBranch(&r, n, path[len(rest):])
				}
				return r.bytes, r.size == common.HashLength
			}
			if !strings.HasPrefix(rest, path) {
				return common.Hash{}, false
			}
			depth += len(path)
			n = t.branch(n).children[prefix[depth]]
			depth++
		}
	}
	return types.EmptyRootHash, false
}
