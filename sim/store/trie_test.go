package store

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

// tries holds the contents of a chain's tries, by owner, prefix and key: an account's balance, or nothing for a slot.
type tries map[string]map[string]map[string][]byte

// part returns a part as the file stores it, with or without its keys.
func (of tries) part(owner, prefix string) *TriePart {
	p := &TriePart{Prefix: []byte(prefix), Hash: hash}
	for _, key := range slices.Sorted(maps.Keys(of[owner][prefix])) {
		p.Keys = append(p.Keys, key...)
		if balance := of[owner][prefix][key]; owner == "" {
			p.Balances = append(append(p.Balances, byte(len(balance))), balance...)
		}
	}
	return p
}

func (of tries) clone() tries {
	all := tries{}
	for owner, parts := range of {
		all[owner] = maps.Clone(parts) // change replaces a part's map
	}
	return all
}

// change draws a change to a part and applies it to the model, too.
func (of tries) change(r *rand.Rand, owner, prefix string, anew bool) TriePart {
	before, after := of[owner][prefix], map[string][]byte{}
	set, gone := tries{owner: {prefix: {}}}, TriePart{}
	if !anew {
		maps.Copy(after, before)
	}
	size := 20
	if owner != "" {
		size = 32
	}
	for n := range byte(12) {
		key := string(bytes.Repeat([]byte{prefix[0]<<4 | n}, size))
		switch r.IntN(4) {
		case 0:
			balance := bytes.Repeat([]byte{n + 1}, r.IntN(33))
			set[owner][prefix][key], after[key] = balance, balance
		case 1:
			if !anew {
				gone.Gone = append(gone.Gone, key...)
				delete(after, key)
			}
		}
	}
	p := *set.part(owner, prefix)
	p.Gone = gone.Gone
	if r.IntN(10) == 0 {
		p.Hash, after = nil, map[string][]byte{}
	}
	if len(after) == 0 {
		delete(of[owner], prefix)
	} else {
		of[owner][prefix] = after
	}
	return p
}

// TestPartsOfTriesFollowTheirChanges changes the tries of accounts and of two contracts at random and compares every way to read them with a model.
func TestPartsOfTriesFollowTheirChanges(t *testing.T) {
	owners := []string{"", string(address), string(hash[:20])}
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 5))
		db := made(t, Memory, func(b *Batch) error { return errors.Join(writeMeta(b), writeChain(fullDelta())(b)) })
		model := tries{"": {}, owners[1]: {}, owners[2]: {}}
		saved, s := tries(nil), Snapshot{}
		for range 30 {
			var changes []TrieChange
			for _, owner := range owners {
				c := TrieChange{Owner: []byte(owner), Anew: r.IntN(6) == 0}
				if c.Anew {
					model[owner] = map[string]map[string][]byte{}
				}
				for n := range byte(3) {
					if r.IntN(2) == 0 {
						c.Parts = append(c.Parts, model.change(r, owner, string([]byte{n, 15 - n}), c.Anew))
					}
				}
				changes = append(changes, c)
			}
			if r.IntN(3) == 0 { // a batch that fails leaves nothing behind
				other := tries{"": {}, owners[1]: {}, owners[2]: {}}
				c := TrieChange{Owner: []byte(owners[r.IntN(3)])}
				for n := range byte(3) {
					c.Parts = append(c.Parts, other.change(r, string(c.Owner), string([]byte{n, 15 - n}), false))
				}
				b, err := db.Begin()
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(b.AddTrieChanges(1, []TrieChange{c}), b.Rollback()); err != nil {
					t.Fatal(err)
				}
			}
			db.commit(t, func(b *Batch) error { return b.AddTrieChanges(1, changes) })
			model.compare(t, db, owners)
			switch n := r.IntN(4); {
			case n == 0:
				saved, s = model.clone(), Snapshot{Digest: hash, Memory: []byte("{}")}
				db.commit(t, func(b *Batch) error { return b.AddSnapshot(&s) })
			case n == 1 && saved != nil:
				model = saved.clone()
				db.commit(t, func(b *Batch) error { return b.Rewind(RewindOptions{To: s.Sequence}) })
				model.compare(t, db, owners)
			}
		}
	}
}

// TestPartsOfOneListStayApart cuts two parts of a trie from one list, as building it anew does, and adds a key to each.
func TestPartsOfOneListStayApart(t *testing.T) {
	db := made(t, Memory, func(b *Batch) error { return errors.Join(writeMeta(b), writeChain(fullDelta())(b)) })
	key := func(n byte) []byte { return bytes.Repeat([]byte{n}, common.HashLength) }
	list, owner := slices.Concat(key(1), key(3), key(7), key(9)), address
	half := len(list) / 2
	change := func(anew bool, parts ...TriePart) {
		db.commit(t, func(b *Batch) error {
			return b.AddTrieChanges(1, []TrieChange{{Owner: owner, Anew: anew, Parts: parts}})
		})
	}
	left, right := TriePart{Prefix: []byte{0}, Hash: hash}, TriePart{Prefix: []byte{1}, Hash: hash}
	left.Keys, right.Keys = list[:half], list[half:]
	change(true, left, right)
	left.Keys, right.Keys = key(2), key(8)
	change(false, left)
	change(false, right)
	for prefix, want := range map[byte][]byte{0: slices.Concat(key(1), key(2), key(3)), 1: slices.Concat(key(7), key(8), key(9))} {
		got, err := db.TriePartKeys(t.Context(), 1, owner, []byte{prefix})
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("part %d: %x, want %x; %v", prefix, got, want, err)
		}
	}
}

func (of tries) compare(t *testing.T, db *DB, owners []string) {
	t.Helper()
	ctx := t.Context()
	var have []string
	for _, owner := range owners {
		var want, withKeys, without []string
		prefixes := slices.Sorted(maps.Keys(of[owner]))
		for _, prefix := range prefixes {
			p := of.part(owner, prefix)
			want = append(want, fmt.Sprintf("%x %x %x %x", prefix, hash, p.Keys, p.Balances))
			one, err := db.NextTriePart(ctx, 1, []byte(owner), []byte(prefix))
			if err != nil || string(one.Prefix) != prefix || !bytes.Equal(one.Keys, p.Keys) || !bytes.Equal(one.Hash, hash) {
				t.Fatalf("next part of %x: %x, %v", prefix, one, err)
			}
			if keys, err := db.TriePartKeys(ctx, 1, []byte(owner), []byte(prefix[:1])); err != nil || !bytes.Equal(keys, p.Keys) {
				t.Fatalf("keys in %x: %x, %v; want %x", prefix[:1], keys, err, p.Keys)
			}
			without = append(without, fmt.Sprintf("%x %d", prefix, len(p.Keys)))
		}
		err := db.TriePartsWithKeys(ctx, 1, []byte(owner), func(p *TriePart) {
			withKeys = append(withKeys, fmt.Sprintf("%x %x %x %x", p.Prefix, p.Hash, p.Keys, p.Balances))
		})
		same(t, "parts with keys", withKeys, want, err)
		var sizes []string
		err = db.TrieParts(ctx, 1, []byte(owner), func(p *TriePart) { sizes = append(sizes, fmt.Sprintf("%x %d", p.Prefix, p.Size)) })
		same(t, "parts", sizes, without, err)
		depth, err := db.TrieDepth(ctx, 1, []byte(owner))
		same(t, "depth", depth, 2*min(1, len(prefixes)), err)
		if len(prefixes) > 0 {
			have = append(have, owner)
		}
	}
	slices.Sort(have)
	found, err := db.TrieOwners(ctx, 1)
	if err != nil || fmt.Sprintf("%x", found) != fmt.Sprintf("%x", have) {
		t.Errorf("owners are %x, %v; want %x", found, err, have)
	}
	balances, want := map[string]string{}, map[string]string{}
	for _, part := range of[""] {
		for address, balance := range part {
			want[address] = string(balance)
		}
	}
	err = db.EachNewestBalance(ctx, 1, func(address, balance []byte) { balances[string(address)] = string(balance) })
	same(t, "balances", balances, want, err)
}

// TestDamagedBalancesAreNoPanic: each address must have a complete balance, and each balance an address.
func TestDamagedBalancesAreNoPanic(t *testing.T) {
	for _, balances := range []string{"", "\x01", "\x02\x01", "\x01\x05\x00", "\x00\x00"} {
		p := &TriePart{Keys: address, Balances: []byte(balances)}
		if err := p.EachBalance(func(_, _ []byte) {}); err == nil || !strings.Contains(err.Error(), "malformed balances") {
			t.Errorf("%x: %v", balances, err)
		}
	}
	var got []byte
	p := &TriePart{Keys: slices.Concat(address, address), Balances: []byte("\x00\x02\x07\x08")}
	if err := p.EachBalance(func(_, balance []byte) { got = append(got, balance...) }); err != nil || string(got) != "\x07\x08" {
		t.Errorf("%x, %v", got, err)
	}
}
