package mpt

import (
	"errors"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// ErrPart says that what was loaded of a part does not hash to what the part is known by.
var ErrPart = errors.New("the part of a trie has another hash")

// Part is a subtree of which only the hash is in memory until something in it is asked for or changed.
type Part struct {
	Prefix string // the nibbles with which its keys begin, one a byte
	Hash   common.Hash
}

// Loader visits every key of a part, with its value.
type Loader func(prefix string, visit func(key common.Hash, value []byte)) error

// part stands where its subtree will be, right below the branch that its prefix leads to.
type part struct {
	prefix string
	reference
}

// NewTrie is a trie of parts, of which none lies in another. They are given in the order of their prefixes.
func NewTrie(parts []Part, load Loader) (*Trie, error) {
	t := &Trie{load: load}
	var err error
	t.root, err = t.join(parts, 0)
	return t, err
}

// SetLoader has parts that are not in memory be loaded otherwise.
func (t *Trie) SetLoader(load Loader) { t.load = load }

// join is the subtree of parts that have so many nibbles in common.
func (t *Trie) join(parts []Part, depth int) (node, error) {
	switch {
	case len(parts) == 0:
		return nil, nil
	case len(parts) == 1:
		p := &part{prefix: parts[0].Prefix, reference: reference{bytes: parts[0].Hash, size: common.HashLength}}
		if len(p.prefix) == depth {
			return p, nil
		}
		below, err := t.resolve(p)
		if err != nil {
			return nil, err
		}
		return under(p.prefix[depth:], below), nil
	}
	b := &branch{}
	for len(parts) > 0 {
		if len(parts[0].Prefix) <= depth || parts[0].Prefix[depth] > 15 {
			return nil, ErrPart
		}
		at := parts[0].Prefix[depth]
		end := slices.IndexFunc(parts, func(p Part) bool { return len(p.Prefix) <= depth || p.Prefix[depth] != at })
		if end < 0 {
			end = len(parts)
		}
		below, err := t.join(parts[:end], depth+1)
		if err != nil {
			return nil, err
		}
		if end == len(parts) && b.present == 0 {
			return under(string([]byte{at}), below), nil
		}
		b.put(at, below)
		parts = parts[end:]
	}
	return b, nil
}

// resolve loads a part.
func (t *Trie) resolve(p *part) (node, error) {
	loaded := Trie{}
	depth := len(p.prefix)
	matches := true
	err := t.load(p.prefix, func(key common.Hash, value []byte) {
		for i := range depth {
			matches = matches && nibble(&key, i) == p.prefix[i]
		}
		loaded.root, _ = loaded.put(loaded.root, depth, &leaf{key: key, value: value}) // nothing in it is to be loaded
	})
	if err != nil {
		return nil, err
	}
	if loaded.root == nil || !matches {
		return nil, ErrPart
	}
	h := hasher{state: crypto.NewKeccakState()}
	if *h.refer(loaded.root, depth) != p.reference {
		return nil, ErrPart
	}
	return loaded.root, nil
}

// reach loads the part in which a key is or would be, and each that a prefix of it leads to.
func (t *Trie) reach(key common.Hash) error {
	at := &t.root
	for depth := 0; ; depth++ {
		if p, ok := (*at).(*part); ok {
			below, err := t.resolve(p)
			if err != nil {
				return err
			}
			*at = below
		}
		b, ok := (*at).(*branch)
		if !ok || b.matching(&key, depth) < len(b.path) {
			return nil
		}
		depth += len(b.path)
		index, present := b.child(nibble(&key, depth))
		if !present {
			return nil
		}
		at = &b.children[index]
	}
}

// LoadAll loads every part.
func (t *Trie) LoadAll() (err error) {
	t.root, err = t.loadAll(t.root)
	return err
}

func (t *Trie) loadAll(n node) (node, error) {
	switch n := n.(type) {
	case *part:
		return t.resolve(n)
	case *branch:
		for i := range n.children {
			below, err := t.loadAll(n.children[i])
			if err != nil {
				return n, err
			}
			n.children[i] = below
		}
	}
	return n, nil
}

// PartHash is the hash of what lies below a prefix, as it would be with a branch above it; false when that is nothing.
func (t *Trie) PartHash(prefix string) (common.Hash, bool) {
	h := hasher{state: crypto.NewKeccakState()}
	r := reference{}
	depth := 0
	for n := t.root; n != nil; {
		switch b := n.(type) {
		case *part:
			return b.bytes, b.prefix == prefix
		case *leaf:
			for ; depth < len(prefix); depth++ {
				if nibble(&b.key, depth) != prefix[depth] {
					return common.Hash{}, false
				}
			}
			h.set(&r, h.leaf(b, depth))
			return r.bytes, r.size == common.HashLength
		case *branch:
			rest := prefix[depth:]
			if len(rest) <= len(b.path) {
				if !strings.HasPrefix(b.path, rest) {
					return common.Hash{}, false
				}
				h.refer(b, depth)
				cut := &branch{children: b.children, path: b.path[len(rest):], present: b.present}
				r = *h.refer(cut, len(prefix))
				return r.bytes, r.size == common.HashLength
			}
			if !strings.HasPrefix(rest, b.path) {
				return common.Hash{}, false
			}
			depth += len(b.path)
			index, present := b.child(prefix[depth])
			if !present {
				return common.Hash{}, false
			}
			n = b.children[index]
			depth++
		}
	}
	return types.EmptyRootHash, false
}
