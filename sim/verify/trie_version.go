package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"snowglobe/sim/evm"
	"snowglobe/sim/store"
)

// versionedTrie holds the hashes of a trie's parts after a block, by the file's versions and by the builder.
type versionedTrie struct {
	first      uint64 // first block with versions in the file
	have, want evm.PartHashes
}

// compareVersions compares the versions of tries that a block made. Which blocks store the hashes of all parts depends on when the world
// was open, so it compares the resulting hashes.
func (v *chainVerifier) compareVersions(ctx context.Context, delta *store.Delta) error {
	chain, block := v.chain.Row.ID, delta.Block.ID.Number()
	versions := slices.DeleteFunc(slices.Clone(delta.Tries), func(c store.TrieChange) bool { return c.Version == nil })
	for _, c := range versions {
		t, err := v.versionedTrie(ctx, c.Owner, block)
		if err != nil {
			return err
		}
		t.want.Follow(c.Version)
	}
	for _, c := range versions {
		t := v.tries[string(c.Owner)]
		if block < t.first {
			continue
		}
		row, err := v.db.NextTrieVersion(ctx, chain, c.Owner, block)
		if err == nil && row.Block != block {
			err = store.ErrNotFound
		}
		if err == nil {
			switch t.have.Follow(row); {
			case t.have != t.want:
				err = errors.New("parts have other hashes")
			case block == t.first && !row.Whole:
				err = errors.New("the first one has not all parts")
			}
		}
		if err != nil {
			return fmt.Errorf("versions of the trie of 0x%x: %w", c.Owner, err)
		}
	}
	return nil
}

// versionedTrie returns the trie of an owner. A file without versions of it is correct too: proofs work without them.
func (v *chainVerifier) versionedTrie(ctx context.Context, owner []byte, block uint64) (*versionedTrie, error) {
	t := v.tries[string(owner)]
	if t != nil {
		return t, nil
	}
	t = &versionedTrie{}
	v.tries[string(owner)] = t
	first, err := v.db.NextTrieVersion(ctx, v.chain.Row.ID, owner, 0)
	if errors.Is(err, store.ErrNotFound) {
		t.first = store.MaxNumber + 1
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	t.first = first.Block
	hashes, err := evm.NewFlatState(ctx, v.db, v.chain.Row.ID, block).VersionHashes(owner)
	if hashes != nil {
		t.have = *hashes
	}
	return t, err
}
