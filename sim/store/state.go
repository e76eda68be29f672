package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/ethereum/go-ethereum/common"
	"golang.org/x/sync/errgroup"

	"snowglobe/sim/store/bulk"
)

// Account is the state of an account from one block on, until a later row.
type Account struct {
	Chain    int    `db:"chain"`
	Address  []byte `db:"address"`
	Block    uint64 `db:"block"`
	Nonce    uint64 `db:"nonce"`
	Balance  Word   `db:"balance"`   // wei, 32 bytes
	CodeHash []byte `db:"code_hash"` // nil without code
	Root     []byte `db:"root"`      // storage root, nil without storage
	Gone     bool   `db:"gone"`      // the account ceased to exist
}

// Slot is the value of a storage slot from one block on, until a later row.
type Slot struct {
	Chain   int    `db:"chain"`
	Address []byte `db:"address"`
	Key     []byte `db:"key"`
	Block   uint64 `db:"block"`
	Value   []byte `db:"value"` // without leading zeros, empty when cleared
}

// Code is the code of one or more contracts.
type Code struct {
	Hash []byte
	Code []byte
}

// TriePart is a subtree of a trie at the newest block, or what becomes of it.
type TriePart struct {
	Prefix []byte `db:"prefix"` // nibbles that the hashes of its keys begin with, one a byte
	Hash   []byte `db:"hash"`   // nil when nothing is left of it
	Keys   []byte // addresses or slots that are in it, one after the other: in a change, those that the change set
	Gone   []byte // those that a change took away
	Size   int    `db:"size"` // of the keys in bytes, where they are left out
}

// TrieChange is what becomes of the parts of the trie of a chain's accounts or of a contract's storage.
type TrieChange struct {
	Owner   []byte // the contract, empty for the accounts
	Anew    bool   // whether the parts are all that there are, with all of their keys
	Parts   []TriePart
	Version *TrieVersion // nil for a trie of which the file has none
	Past    []PastKeys
}

// VersionDepth is how many nibbles the prefixes have of the parts of which there are versions.
const VersionDepth = 2

// TrieVersion is what a block changed in the hashes of the parts of a trie.
type TrieVersion struct {
	Block  uint64 `db:"block"`
	Whole  bool   `db:"whole"`  // whether they are all that there are
	Hashes []byte `db:"hashes"` // each after a byte with the two nibbles of its prefix; of zeros when nothing is left of the part
}

// Each visits the hashes, by the byte with their prefix.
func (v *TrieVersion) Each(visit func(prefix byte, hash common.Hash)) {
	for entry := range slices.Chunk(v.Hashes, 1+common.HashLength) {
		visit(entry[0], common.BytesToHash(entry[1:]))
	}
}

// PastKeys are keys that a part of a trie had once, or, without a prefix, that the trie had by the block of its first version.
type PastKeys struct {
	Prefix []byte
	Keys   []byte // one after the other
}

const (
	accountColumns = `chain, address, block, nonce, balance, code_hash, root, gone`
	slotColumns    = `chain, address, key, block, value`
)

// Account reads an account as it was after a block.
func (db *DB) Account(ctx context.Context, chain int, address []byte, block uint64) (*Account, error) {
	return get[Account](ctx, db, `SELECT `+accountColumns+` FROM account
		WHERE chain = ? AND address = ? AND block <= ? ORDER BY block DESC LIMIT 1`, chain, address, block)
}

// Slot reads the value of a storage slot as it was after a block; it is empty when the slot was never set.
func (db *DB) Slot(ctx context.Context, chain int, address, key []byte, block uint64) ([]byte, error) {
	row, err := db.SlotRow(ctx, chain, address, key, block)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return row.Value, err
}

// SlotRow reads the row of a storage slot as it was after a block.
func (db *DB) SlotRow(ctx context.Context, chain int, address, key []byte, block uint64) (*Slot, error) {
	return get[Slot](ctx, db, `SELECT `+slotColumns+` FROM slot
		WHERE chain = ? AND address = ? AND key = ? AND block <= ? ORDER BY block DESC LIMIT 1`, chain, address, key, block)
}

// AccountsAt reads every account of a chain as it was after a block, by address. With max(block), the other columns are those of that row.
func (db *DB) AccountsAt(ctx context.Context, chain int, block uint64) ([]Account, error) {
	return list[Account](ctx, db, `SELECT chain, address, max(block) AS block, nonce, balance, code_hash, root, gone FROM account
		WHERE chain = ? AND block <= ? GROUP BY address ORDER BY address`, chain, block)
}

// AccountsAmong reads those of at most MostAmong addresses that there were by a block, as they were after it.
func (db *DB) AccountsAmong(ctx context.Context, chain int, addresses [][]byte, block uint64) ([]Account, error) {
	in, size := inList(len(addresses))
	return list[Account](ctx, db, `SELECT chain, address, max(block) AS block, nonce, balance, code_hash, root, gone FROM account
		WHERE chain = ? AND block <= ? AND address IN `+in+` GROUP BY address ORDER BY address`, append([]any{chain, block}, listArgs(addresses, size)...)...)
}

// SlotsAmong reads those of at most MostAmong slots of a contract that were set by a block, as they were after it.
func (db *DB) SlotsAmong(ctx context.Context, chain int, address []byte, keys [][]byte, block uint64) ([]Slot, error) {
	in, size := inList(len(keys))
	return list[Slot](ctx, db, `SELECT chain, address, key, max(block) AS block, value FROM slot
		WHERE chain = ? AND address = ? AND block <= ? AND key IN `+in+` GROUP BY key ORDER BY key`, append([]any{chain, address, block}, listArgs(keys, size)...)...)
}

// Half is one of the halves of all addresses. Its rows are read from the middle on: where addresses end otherwise than with their chain the engine
// compares each row with the end, and takes half as long again.
type Half struct {
	low, end    []byte // from one on and before the other
	scan, order string // how a statement says so, given the middle as ?2, and in which order it is to read
}

var (
	middle = append([]byte{0x80}, make([]byte, common.AddressLength-1)...)
	halves = [...]Half{
		{[]byte{}, middle, "address < ?2", "DESC"},
		{middle, bytes.Repeat([]byte{0xff}, common.AddressLength+1), "address >= ?2", "ASC"},
	}
)

// InHalves reads something of all accounts, of each half beside the other. The answers are in the order of the addresses.
func InHalves[T any](ctx context.Context, read func(context.Context, Half) (T, error)) ([]T, error) {
	parts := make([]T, len(halves))
	group, ctx := errgroup.WithContext(ctx)
	for i, half := range halves {
		group.Go(func() (err error) {
			parts[i], err = read(ctx, half)
			return err
		})
	}
	return parts, group.Wait()
}

// ModifiedAccounts lists the addresses of the accounts of a chain that are there after a block and were not so after one before it, of a half. It
// looks at all rows of these accounts.
func (db *DB) ModifiedAccounts(ctx context.Context, chain int, half Half, before, after uint64) ([][]byte, error) {
	return list[[]byte](ctx, db, `
		WITH found(address) AS (
			SELECT address FROM account WHERE chain = ?1 AND `+half.scan+` AND block > ?3 AND block <= ?4
			GROUP BY address ORDER BY address `+half.order+` LIMIT -1
		)
		SELECT n.address FROM found CROSS JOIN account n ON n.chain = ?1 AND n.address = found.address
			AND n.block = (SELECT max(block) FROM account WHERE chain = ?1 AND address = found.address AND block <= ?4)
		WHERE n.gone = 0 AND NOT EXISTS (
			SELECT 1 FROM account o WHERE o.chain = ?1 AND o.address = found.address
				AND o.block = (SELECT max(block) FROM account WHERE chain = ?1 AND address = found.address AND block <= ?3)
				AND o.gone = 0 AND o.nonce = n.nonce AND o.balance = n.balance AND o.code_hash IS n.code_hash AND o.root IS n.root
		)`, chain, middle, before, after)
}

// GoneAccounts are the addresses, one after the other, of the accounts of a chain that ceased to exist, also of those that were made anew
// since.
func (db *DB) GoneAccounts(ctx context.Context, chain int) (all []byte, err error) {
	err = each(ctx, db, func(address *[]byte) { all = append(all, *address...) },
		`SELECT address FROM account WHERE chain = ? AND gone = 1 GROUP BY address ORDER BY address`, chain)
	return all, err
}

// AccountBalance is what an account has of its chain's own token after a block.
type AccountBalance struct {
	Address []byte `db:"address"`
	Block   uint64 `db:"block"`
	Balance Word   `db:"balance"` // wei, 32 bytes
}

// EachBalance visits the balances of the accounts of a chain in the rows from a block to another, of a half, those of an account after each
// other. It looks at all rows of these accounts.
func (db *DB) EachBalance(ctx context.Context, chain int, half Half, first, last uint64, visit func(*AccountBalance)) error {
	return each(ctx, db, visit, `SELECT address, block, balance FROM account
		WHERE chain = ?1 AND `+half.scan+` AND block BETWEEN ?3 AND ?4 ORDER BY address `+half.order+`, block `+half.order, chain, middle, first, last)
}

var errAccounts = errors.New("accounts are not as they were written")

// EachBalanceBefore visits the balances of the accounts of a half as they were before a block, by address, the last first. One seek finds the next
// account with its balance: looking at all rows takes twice as long.
func (db *DB) EachBalanceBefore(ctx context.Context, chain int, half Half, block uint64, visit func(*AccountBalance)) error {
	const size = common.AddressLength
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var last []byte
	var damage error
	err := each(ctx, db, func(found *[]byte) {
		row, account := *found, AccountBalance{Block: block - 1}
		if len(row) < size || last != nil && bytes.Compare(row[:size], last) >= 0 || account.Balance.Scan(row[size:]) != nil {
			damage = errAccounts
			stop() // it might never end
			return
		}
		account.Address, last = row[:size], row[:size]
		visit(&account)
	}, `
		WITH RECURSIVE found(entry) AS (
			SELECT (SELECT CAST(address || balance AS BLOB) FROM account
				WHERE chain = ?1 AND address >= ?2 AND address < ?3 AND block < ?4 ORDER BY address DESC, block DESC LIMIT 1)
			UNION ALL
			SELECT (SELECT CAST(address || balance AS BLOB) FROM account
				WHERE chain = ?1 AND address >= ?2 AND address < substr(found.entry, 1, 20) AND block < ?4 ORDER BY address DESC, block DESC LIMIT 1)
			FROM found WHERE found.entry IS NOT NULL
		)
		SELECT entry FROM found WHERE entry IS NOT NULL`, chain, half.low, half.end, block)
	if damage != nil {
		return Damaged(damage)
	}
	return err
}

// SlotsAt reads every slot of a contract as it was after a block, by key.
func (db *DB) SlotsAt(ctx context.Context, chain int, address []byte, block uint64) ([]Slot, error) {
	return list[Slot](ctx, db, `SELECT chain, address, key, max(block) AS block, value FROM slot
		WHERE chain = ? AND address = ? AND block <= ? GROUP BY key ORDER BY key`, chain, address, block)
}

// TrieParts visits the hashes of the parts of a trie, by prefix. Keys are left out.
func (db *DB) TrieParts(ctx context.Context, chain int, owner []byte, visit func(*TriePart)) error {
	return each(ctx, db, visit, `SELECT prefix, hash, length(keys) AS size FROM trie_part WHERE chain = ? AND owner = ? ORDER BY prefix`, chain, owner)
}

// TriePartsWithKeys lists them with the keys that each has.
func (db *DB) TriePartsWithKeys(ctx context.Context, chain int, owner []byte, visit func(*TriePart)) error {
	return each(ctx, db, visit, `SELECT prefix, hash, keys FROM trie_part WHERE chain = ? AND owner = ? ORDER BY prefix`, chain, owner)
}

// NextTriePart is the first part of a trie, with its keys, whose prefix is not before another.
func (db *DB) NextTriePart(ctx context.Context, chain int, owner, prefix []byte) (*TriePart, error) {
	return get[TriePart](ctx, db, `SELECT prefix, hash, keys FROM trie_part WHERE chain = ? AND owner = ? AND prefix >= ? ORDER BY prefix LIMIT 1`,
		chain, owner, prefix)
}

// TrieDepth is how many nibbles the prefixes of a trie's parts have, 0 if there are none.
func (db *DB) TrieDepth(ctx context.Context, chain int, owner []byte) (int, error) {
	depth, err := value[int](ctx, db, `SELECT length(prefix) FROM trie_part WHERE chain = ? AND owner = ? LIMIT 1`, chain, owner)
	if errors.Is(err, ErrNotFound) {
		return 0, nil
	}
	return depth, err
}

// TriePartKeys reads the keys, one after the other, of the parts of a trie whose prefixes begin with another.
func (db *DB) TriePartKeys(ctx context.Context, chain int, owner, prefix []byte) (keys []byte, err error) {
	end := slices.Clone(prefix)
	end[len(end)-1]++ // a nibble is less than 16
	err = each(ctx, db, func(part *[]byte) { keys = append(keys, *part...) },
		`SELECT keys FROM trie_part WHERE chain = ? AND owner = ? AND prefix >= ? AND prefix < ? ORDER BY prefix`, chain, owner, prefix, end)
	return keys, err
}

// TrieVersions visits the versions of a trie from the last whole one on that there was at a block.
func (db *DB) TrieVersions(ctx context.Context, chain int, owner []byte, block uint64, visit func(*TrieVersion)) error {
	return each(ctx, db, visit, `SELECT block, whole, hashes FROM trie_version WHERE chain = ?1 AND owner = ?2 AND block <= ?3 AND block >= (
			SELECT block FROM trie_version WHERE chain = ?1 AND owner = ?2 AND block <= ?3 AND whole = 1 ORDER BY block DESC LIMIT 1
		) ORDER BY block`, chain, owner, block)
}

// NextTrieVersion reads the first version of a trie at a block or later.
func (db *DB) NextTrieVersion(ctx context.Context, chain int, owner []byte, block uint64) (*TrieVersion, error) {
	return get[TrieVersion](ctx, db, `SELECT block, whole, hashes FROM trie_version WHERE chain = ? AND owner = ? AND block >= ? ORDER BY block LIMIT 1`,
		chain, owner, block)
}

// PastKeys reads the keys that a part of a trie had once, one after the other.
func (db *DB) PastKeys(ctx context.Context, chain int, owner, prefix []byte) ([]byte, error) {
	keys, err := value[[]byte](ctx, db, `SELECT keys FROM past_key WHERE chain = ? AND owner = ? AND prefix = ?`, chain, owner, prefix)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return keys, err
}

// TrieOwners lists whose tries a chain has parts of: the empty owner for the accounts, and contracts.
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

// AddTrieChanges writes what became of the parts of a chain's tries.
func (b *Batch) AddTrieChanges(chain int, changes []TrieChange) error {
	for i := range changes {
		c := &changes[i]
		if c.Anew {
			if err := b.exec(`DELETE FROM trie_part WHERE chain = ? AND owner = ?`, chain, c.Owner); err != nil {
				return err
			}
		}
		for n := range c.Parts {
			if err := b.changeTriePart(chain, c, &c.Parts[n]); err != nil {
				return fmt.Errorf("part %x of the trie of %x: %w", c.Parts[n].Prefix, c.Owner, err)
			}
		}
		if err := errors.Join(b.addTrieVersion(chain, c.Owner, c.Version), b.addPastKeys(chain, c)); err != nil {
			return fmt.Errorf("version of the trie of %x: %w", c.Owner, err)
		}
	}
	return nil
}

func (b *Batch) addTrieVersion(chain int, owner []byte, v *TrieVersion) error {
	if v == nil {
		return nil
	}
	return b.insert(intoTrieVersion, chain, owner, v.Block, v.Whole, v.Hashes)
}

// takeTrieVersions takes away the versions of blocks after which the state changed once more, and has what they had in those of the change.
func (b *Batch) takeTrieVersions(chain int, changes []TrieChange) error {
	if err := b.written(intoTrieVersion); err != nil {
		return err
	}
	for i := range changes {
		owner, v := changes[i].Owner, changes[i].Version
		if v == nil {
			continue
		}
		before := TrieVersion{}
		err := b.scan(`SELECT whole, hashes FROM trie_version WHERE chain = ? AND owner = ? AND block = ?`,
			[]any{chain, owner, v.Block}, &before.Whole, &before.Hashes)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err == nil {
			changes[i].Version = before.followedBy(v)
			err = b.exec(`DELETE FROM trie_version WHERE chain = ? AND owner = ? AND block = ?`, chain, owner, v.Block)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// followedBy is a version with another of the same block after it.
func (v *TrieVersion) followedBy(next *TrieVersion) *TrieVersion {
	if next.Whole {
		return next
	}
	both, changed := &TrieVersion{Block: next.Block, Whole: v.Whole, Hashes: []byte{}}, map[byte]bool{}
	next.Each(func(prefix byte, _ common.Hash) { changed[prefix] = true })
	v.Each(func(prefix byte, hash common.Hash) {
		if !changed[prefix] {
			both.Hashes = append(append(both.Hashes, prefix), hash[:]...)
		}
	})
	both.Hashes = append(both.Hashes, next.Hashes...)
	return both
}

func (b *Batch) addPastKeys(chain int, c *TrieChange) error {
	for _, p := range c.Past {
		var before []byte
		err := b.scan(`SELECT keys FROM past_key WHERE chain = ? AND owner = ? AND prefix = ?`, []any{chain, c.Owner, p.Prefix}, &before)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		keys := mergeKeys(bytes.Clone(before), p.Keys, nil, keySize(c.Owner))
		if bytes.Equal(before, keys) {
			continue
		}
		err = b.exec(`INSERT INTO past_key (chain, owner, prefix, keys) VALUES (?, ?, ?, ?)
			ON CONFLICT (chain, owner, prefix) DO UPDATE SET keys = excluded.keys`, chain, c.Owner, p.Prefix, keys)
		if err != nil {
			return err
		}
	}
	return nil
}

func keySize(owner []byte) int {
	if len(owner) == 0 {
		return common.AddressLength
	}
	return common.HashLength
}

func (b *Batch) changeTriePart(chain int, c *TrieChange, p *TriePart) error {
	keys := p.Keys
	if !c.Anew {
		var before []byte
		err := b.scan(`SELECT keys FROM trie_part WHERE chain = ? AND owner = ? AND prefix = ?`, []any{chain, c.Owner, p.Prefix}, &before)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		keys = mergeKeys(before, p.Keys, p.Gone, keySize(c.Owner))
	}
	if p.Hash == nil || len(keys) == 0 {
		return b.exec(`DELETE FROM trie_part WHERE chain = ? AND owner = ? AND prefix = ?`, chain, c.Owner, p.Prefix)
	}
	return b.exec(`INSERT INTO trie_part (chain, owner, prefix, hash, keys) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (chain, owner, prefix) DO UPDATE SET hash = excluded.hash, keys = excluded.keys`, chain, c.Owner, p.Prefix, p.Hash, keys)
}

// mergeKeys are keys of a size, which are in order, with some that are there and without some that are gone.
func mergeKeys(before, there, gone []byte, size int) []byte {
	merged := before
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

// Code reads code by its hash.
func (db *DB) Code(ctx context.Context, hash []byte) ([]byte, error) {
	return value[[]byte](ctx, db, `SELECT code FROM code WHERE hash = ?`, hash)
}

var (
	intoAccount = bulk.NewTable("account", accountColumns, true)
	intoSlot    = bulk.NewTable("slot", slotColumns, true)

	intoTrieVersion = bulk.NewTable("trie_version", `chain, owner, block, whole, hashes`, false)
)

func (b *Batch) addAccount(a *Account) error {
	return b.insert(intoAccount, a.Chain, a.Address, a.Block, a.Nonce, a.Balance, a.CodeHash, a.Root, a.Gone)
}

func (b *Batch) addSlot(s *Slot) error {
	return b.insert(intoSlot, s.Chain, s.Address, s.Key, s.Block, s.Value)
}

func (b *Batch) addCode(c *Code) error {
	return b.exec(`INSERT OR IGNORE INTO code (hash, code) VALUES (?, ?)`, c.Hash, c.Code)
}

// Codes reads all code, by hash. It reads the whole table: only an inspection calls it.
func (db *DB) Codes(ctx context.Context) ([]Code, error) {
	return list[Code](ctx, db, `SELECT hash, code FROM code ORDER BY hash`)
}

// The kinds of a StateChange, with what its value is: an amount of wei in 32 bytes, a nonce in 8, code as it is, or a slot's 32
// bytes.
const (
	BalanceChange = "balance"
	NonceChange   = "nonce"
	CodeChange    = "code"
	StorageChange = "storage"
)

// StateChange is a change of the state of an EVM chain that no transaction made, because a client asked for it.
type StateChange struct {
	Chain    int    `db:"chain"`
	Block    uint64 `db:"block"`    // after which it was made
	Sequence int    `db:"sequence"` // counts those after the block
	Kind     string `db:"kind"`
	Address  []byte `db:"address"`
	Key      []byte `db:"key"`    // the slot of a StorageChange, else nil
	Value    []byte `db:"value"`  // what it is from now on
	Owner    []byte `db:"owner"`  // whose balance of a token is in the slot, nil when nobody said so
	Root     []byte `db:"root"`   // of the state afterwards
	Digest   []byte `db:"digest"` // over the chain's digest before it and the rest of the row
}

// StateDelta is everything that a change of the state adds to the world. Its rows are those of the block after which it was made,
// and take the place of the block's own.
type StateDelta struct {
	Change        StateChange
	Accounts      []Account
	Slots         []Slot
	Codes         []Code
	Tries         []TrieChange
	Tokens        []Token
	TokenBalances []TokenBalance
	NFTStates     []NFTState
}

const stateChangeColumns = `chain, block, sequence, kind, address, key, value, owner, root, digest`

// StateChanges reads those of a chain after the blocks from first to last, in order.
func (db *DB) StateChanges(ctx context.Context, chain int, first, last uint64) ([]StateChange, error) {
	return list[StateChange](ctx, db, `SELECT `+stateChangeColumns+` FROM state_change
		WHERE chain = ? AND block BETWEEN ? AND ? ORDER BY chain, block, sequence`, chain, first, min(last, MaxNumber))
}

// LastStateChange reads the last one of a chain after a block and before the next, nil when there is none.
func (db *DB) LastStateChange(ctx context.Context, chain int, block uint64) (*StateChange, error) {
	c, err := get[StateChange](ctx, db, `SELECT `+stateChangeColumns+` FROM state_change
		WHERE chain = ? AND block = ? ORDER BY sequence DESC LIMIT 1`, chain, block)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return c, err
}

// HeadDigest is the last digest of a chain, given its newest block.
func (db *DB) HeadDigest(ctx context.Context, head *Block) ([]byte, error) {
	last, err := db.LastStateChange(ctx, head.ID.Chain(), head.ID.Number())
	if last == nil || err != nil {
		return head.Digest, err
	}
	return last.Digest, nil
}

// NoncesSet says whether any nonce of a chain was changed without a transaction.
func (db *DB) NoncesSet(ctx context.Context, chain int) (bool, error) {
	_, err := value[int](ctx, db, `SELECT sequence FROM state_change WHERE chain = ? AND kind = '`+NonceChange+`' LIMIT 1`, chain)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// AddStateChange writes a change, and puts the rows that it changed in the place of those of its block.
func (b *Batch) AddStateChange(d *StateDelta) error {
	c := &d.Change
	err := b.exec(`INSERT INTO state_change (`+stateChangeColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.Chain, c.Block, c.Sequence, c.Kind, c.Address, c.Key, c.Value, c.Owner, c.Root, c.Digest)
	if err != nil {
		return err
	}
	for _, write := range []func() error{
		func() error {
			return addAll(d.Accounts, func(a *Account) error {
				return errors.Join(b.exec(`DELETE FROM account WHERE chain = ? AND address = ? AND block = ?`, a.Chain, a.Address, a.Block), b.addAccount(a))
			})
		},
		func() error {
			return addAll(d.Slots, func(s *Slot) error {
				return errors.Join(b.exec(`DELETE FROM slot WHERE chain = ? AND address = ? AND key = ? AND block = ?`, s.Chain, s.Address, s.Key, s.Block), b.addSlot(s))
			})
		},
		func() error { return addAll(d.Codes, b.addCode) },
		func() error { return b.takeTrieVersions(c.Chain, d.Tries) },
		func() error { return b.AddTrieChanges(c.Chain, d.Tries) },
		func() error {
			return addAll(d.Tokens, func(t *Token) error {
				return errors.Join(b.exec(`DELETE FROM token WHERE id = ?`, t.ID), b.addToken(t))
			})
		},
		func() error {
			return addAll(d.TokenBalances, func(h *TokenBalance) error {
				return errors.Join(b.exec(`DELETE FROM holding WHERE owner = ? AND asset = ? AND block = ?`, h.Owner, []byte(h.Asset), h.Block), b.addTokenBalance(h))
			})
		},
		func() error {
			return addAll(d.NFTStates, func(i *NFTState) error {
				return errors.Join(b.exec(`DELETE FROM nft WHERE asset = ? AND block = ?`, []byte(i.Asset), i.Block), b.addNFTState(i))
			})
		},
	} {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

// TokenBalances reads at most limit balances of a token as they were after a block, of everyone who is known to have held it. It
// walks over all owners of the world.
func (db *DB) TokenBalances(ctx context.Context, token TokenID, block uint64, limit int) ([]TokenBalance, error) {
	first, end := token.assets()
	return list[TokenBalance](ctx, db, `
		WITH RECURSIVE holder(owner) AS (
			SELECT min(owner) FROM holding
			UNION ALL
			SELECT (SELECT min(owner) FROM holding WHERE owner > holder.owner) FROM holder WHERE holder.owner IS NOT NULL
		)
		SELECT h.owner, h.asset, h.block, h.amount FROM holder CROSS JOIN holding h
		WHERE h.owner = holder.owner AND h.asset >= ?1 AND h.asset < ?2
			AND h.block = (SELECT max(block) FROM holding WHERE owner = h.owner AND asset = h.asset AND block <= ?3)
		LIMIT 0 + ?4`, []byte(first), []byte(end), block, limit)
}

// NFTStates reads at most limit items of a token as they were after a block, by number.
func (db *DB) NFTStates(ctx context.Context, token TokenID, block Position, limit int) ([]NFTState, error) {
	first, end := token.assets()
	return list[NFTState](ctx, db, `
		SELECT asset, block, owner, `+uriColumn+` FROM nft n WHERE asset >= ?1 AND asset < ?2
			AND block = (SELECT max(block) FROM nft WHERE asset = n.asset AND block <= ?3)
		ORDER BY asset LIMIT 0 + ?4`, []byte(first), []byte(end), block, limit)
}

// assets are where the assets of a token begin and end.
func (id TokenID) assets() (first, end AssetKey) {
	return id.Asset(nil)[:assetToken], (id + 1).Asset(nil)[:assetToken]
}
