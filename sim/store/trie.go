package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/ethereum/go-ethereum/common"
)

// TriePart is a subtree of a trie at the newest block, or a change to it.
type TriePart struct {
	Prefix []byte `db:"prefix"` // nibbles that the hashes of its keys begin with, one a byte
	Hash   []byte `db:"hash"`   // nil when nothing is left of it
	Keys   []byte // addresses or slots in it, one after another; in a change, those it set
	Gone   []byte // keys that a change removed
	Size   int    `db:"size"` // of the keys in bytes, where they are left out

	Balances []byte // of the addresses in Keys, without leading zeros, each after its length
}

// TrieChange holds the changes to the parts of the trie of a chain's accounts or of a contract's storage.
type TrieChange struct {
	Owner []byte // the contract, empty for the accounts
	Anew  bool   // the parts replace all earlier ones and list all of their keys
	Parts []TriePart
}

// TrieParts visits the hashes of a trie's parts, by prefix, without keys.
func (db *DB) TrieParts(ctx context.Context, chain int, owner []byte, visit func(*TriePart)) error {
	return each(ctx, db, visit, `SELECT prefix, hash, length(keys) AS size FROM trie_part WHERE chain = ? AND owner = ? ORDER BY prefix`, chain, owner)
}

// TriePartsWithKeys lists the parts with their keys.
func (db *DB) TriePartsWithKeys(ctx context.Context, chain int, owner []byte, visit func(*TriePart)) error {
	return each(ctx, db, visit, `SELECT prefix, hash, keys, balances FROM trie_part WHERE chain = ? AND owner = ? ORDER BY prefix`, chain, owner)
}

// EachNewestBalance visits the existing accounts of a chain in the order of their hashes, if the file has parts of their trie.
func (db *DB) EachNewestBalance(ctx context.Context, chain int, visit func(address, balance []byte)) error {
	var damage error
	err := each(ctx, db, func(p *TriePart) { damage = cmp.Or(damage, p.EachBalance(visit)) },
		`SELECT keys, balances FROM trie_part WHERE chain = ? AND owner = x'' ORDER BY prefix`, chain)
	return cmp.Or(err, damage)
}

var errBalances = errors.New("malformed balances of a trie part")

// EachBalance visits the addresses of a part with their balances, which have no leading zeros.
func (p *TriePart) EachBalance(visit func(address, balance []byte)) error {
	balances := p.Balances
	for address := range slices.Chunk(p.Keys, common.AddressLength) {
		if len(balances) == 0 || int(balances[0]) >= len(balances) {
			return Damaged(errBalances)
		}
		balance := balances[1 : 1+balances[0]]
		balances = balances[1+len(balance):]
		visit(address, balance)
	}
	if len(balances) > 0 {
		return Damaged(errBalances)
	}
	return nil
}

// NextTriePart returns a trie's first part at or after a prefix, with its keys.
func (db *DB) NextTriePart(ctx context.Context, chain int, owner, prefix []byte) (*TriePart, error) {
	return Get[TriePart](ctx, db, `SELECT prefix, hash, keys FROM trie_part WHERE chain = ? AND owner = ? AND prefix >= ? ORDER BY prefix LIMIT 1`,
		chain, owner, prefix)
}

// TrieDepth returns the number of nibbles in the prefixes of a trie's parts, 0 without parts.
func (db *DB) TrieDepth(ctx context.Context, chain int, owner []byte) (int, error) {
	return orNone(value[int](ctx, db, `SELECT length(prefix) FROM trie_part WHERE chain = ? AND owner = ? LIMIT 1`, chain, owner))
}

// TriePartKeys reads the concatenated keys of the parts of a trie whose prefixes begin with another.
func (db *DB) TriePartKeys(ctx context.Context, chain int, owner, prefix []byte) (keys []byte, err error) {
	end := slices.Clone(prefix)
	end[len(end)-1]++ // a nibble is below 16
	err = each(ctx, db, func(part *[]byte) { keys = append(keys, *part...) },
		`SELECT keys FROM trie_part WHERE chain = ? AND owner = ? AND prefix >= ? AND prefix < ? ORDER BY prefix`, chain, owner, prefix, end)
	return keys, err
}

// TrieOwners lists the owners of a chain's tries with parts: empty for the accounts, else a contract.
func (db *DB) TrieOwners(ctx context.Context, chain int) (owners [][]byte, err error) {
	err = each(ctx, db, func(owner *[]byte) { owners = append(owners, append([]byte{}, *owner...)) }, `
		WITH RECURSIVE found(owner) AS (
			SELECT min(owner) FROM trie_part WHERE chain = ?1
			UNION ALL
			SELECT (SELECT min(owner) FROM trie_part WHERE chain = ?1 AND owner > found.owner) FROM found WHERE found.owner IS NOT NULL
		)
		SELECT owner FROM found WHERE owner IS NOT NULL`, chain)
	return owners, err
}

// AddTrieChanges writes the changes to the parts of a chain's tries.
func (b *Batch) AddTrieChanges(chain int, changes []TrieChange) error {
	for i := range changes {
		c := &changes[i]
		if c.Anew {
			b.db.trieParts = nil
			if err := b.exec(`DELETE FROM trie_part WHERE chain = ? AND owner = ?`, chain, c.Owner); err != nil {
				return err
			}
		}
		for n := range c.Parts {
			if err := b.changeTriePart(chain, c, &c.Parts[n]); err != nil {
				return fmt.Errorf("part %x of the trie of %x: %w", c.Parts[n].Prefix, c.Owner, err)
			}
		}
	}
	return nil
}

// TrieKeySize returns the bytes of a key of the account trie, which has no owner, or of a contract's storage trie.
func TrieKeySize(owner []byte) int {
	if len(owner) == 0 {
		return common.AddressLength
	}
	return common.HashLength
}

type triePartKey struct {
	chain         int
	owner, prefix string
}

// keptTrieParts bounds the parts that stay in memory between batches.
const keptTrieParts = 1024

// triePart returns a part's keys and balances. Those that the last batches wrote are in memory.
func (b *Batch) triePart(k triePartKey) (*TriePart, error) {
	if p := b.db.trieParts[k]; p != nil {
		return p, nil
	}
	p := new(TriePart)
	err := b.scan(`SELECT keys, balances FROM trie_part WHERE chain = ? AND owner = ? AND prefix = ?`, []any{k.chain, []byte(k.owner), []byte(k.prefix)}, &p.Keys, &p.Balances)
	_, err = Found(err)
	return p, err
}

func (b *Batch) keepTriePart(k triePartKey, p *TriePart) {
	if len(b.db.trieParts) >= keptTrieParts || b.db.trieParts == nil {
		b.db.trieParts = map[triePartKey]*TriePart{}
	}
	b.db.trieParts[k] = p
}

func (b *Batch) changeTriePart(chain int, c *TrieChange, p *TriePart) error {
	keys, balances := p.Keys, p.Balances
	key := triePartKey{chain, string(c.Owner), string(p.Prefix)}
	if !c.Anew {
		before, err := b.triePart(key)
		if err != nil {
			return err
		}
		if len(c.Owner) == 0 {
			keys, balances, err = before.mergeAccounts(p)
		} else {
			keys, err = mergeKeys(before.Keys, p.Keys, p.Gone, TrieKeySize(c.Owner)), nil
		}
		if err != nil {
			return err
		}
	}
	if p.Hash == nil || len(keys) == 0 {
		delete(b.db.trieParts, key)
		return b.exec(`DELETE FROM trie_part WHERE chain = ? AND owner = ? AND prefix = ?`, chain, c.Owner, p.Prefix)
	}
	if balances == nil {
		balances = []byte{}
	}
	b.keepTriePart(key, &TriePart{Keys: keys, Balances: balances})
	return b.exec(`INSERT INTO trie_part (chain, owner, prefix, hash, keys, balances) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (chain, owner, prefix) DO UPDATE SET hash = excluded.hash, keys = excluded.keys, balances = excluded.balances`,
		chain, c.Owner, p.Prefix, p.Hash, keys, balances)
}

// mergeAccounts returns the accounts of a part after a change, with their balances.
func (p *TriePart) mergeAccounts(change *TriePart) (keys, balances []byte, err error) {
	const size = common.AddressLength
	keys, balances = make([]byte, 0, len(p.Keys)+len(change.Keys)), make([]byte, 0, len(p.Balances)+len(change.Balances))
	add := func(address, balance []byte) {
		keys = append(keys, address...)
		balances = append(append(balances, byte(len(balance))), balance...)
	}
	type account struct{ address, balance []byte }
	var changed []account
	if err := change.EachBalance(func(address, balance []byte) { changed = append(changed, account{address, balance}) }); err != nil {
		return nil, nil, err
	}
	gone := change.Gone
	err = p.EachBalance(func(address, balance []byte) {
		for len(changed) > 0 && bytes.Compare(changed[0].address, address) < 0 {
			add(changed[0].address, changed[0].balance)
			changed = changed[1:]
		}
		for len(gone) > 0 && bytes.Compare(gone[:size], address) < 0 {
			gone = gone[size:]
		}
		switch {
		case len(changed) > 0 && bytes.Equal(changed[0].address, address):
			add(address, changed[0].balance)
			changed = changed[1:]
		case len(gone) == 0 || !bytes.Equal(gone[:size], address):
			add(address, balance)
		}
	})
	for _, a := range changed {
		add(a.address, a.balance)
	}
	return keys, balances, err
}

// mergeKeys adds and removes keys in a sorted list of fixed-size keys.
func mergeKeys(before, there, gone []byte, size int) []byte {
	merged := slices.Clone(before) // which may be kept
	find := func(key []byte) (at int, found bool) {
		i, found := sort.Find(len(merged)/size, func(i int) int { return bytes.Compare(key, merged[i*size:(i+1)*size]) })
		return i * size, found
	}
	for key := range slices.Chunk(there, size) {
		if at, found := find(key); !found {
			merged = slices.Insert(merged, at, key...)
		}
	}
	for key := range slices.Chunk(gone, size) {
		if at, found := find(key); found {
			merged = slices.Delete(merged, at, at+size)
		}
	}
	return merged
}
