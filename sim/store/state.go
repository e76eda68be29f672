package store

import (
	"bytes"
	"context"
	"errors"

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

const (
	accountColumns = `chain, address, block, nonce, balance, code_hash, root, gone`
	slotColumns    = `chain, address, key, block, value`
)

// Account reads an account after a block.
func (db *DB) Account(ctx context.Context, chain int, address []byte, block uint64) (*Account, error) {
	return Get[Account](ctx, db, `SELECT `+accountColumns+` FROM account
		WHERE chain = ? AND address = ? AND block <= ? ORDER BY block DESC LIMIT 1`, chain, address, block)
}

// Slot reads the value of a storage slot after a block; it is empty if the slot was never set.
func (db *DB) Slot(ctx context.Context, chain int, address, key []byte, block uint64) ([]byte, error) {
	row, err := db.SlotRow(ctx, chain, address, key, block)
	return orNone(row.Value, err)
}

// SlotRow reads the row of a storage slot after a block.
func (db *DB) SlotRow(ctx context.Context, chain int, address, key []byte, block uint64) (*Slot, error) {
	return Get[Slot](ctx, db, `SELECT `+slotColumns+` FROM slot
		WHERE chain = ? AND address = ? AND key = ? AND block <= ? ORDER BY block DESC LIMIT 1`, chain, address, key, block)
}

// AccountsAt reads every account of a chain after a block, by address. With max(block), SQLite takes the other columns from the same row.
func (db *DB) AccountsAt(ctx context.Context, chain int, block uint64) ([]Account, error) {
	return List[Account](ctx, db, `SELECT chain, address, max(block) AS block, nonce, balance, code_hash, root, gone FROM account
		WHERE chain = ? AND block <= ? GROUP BY address ORDER BY address`, chain, block)
}

// AddressHalf is one half of all addresses. Statements read it from the middle outwards: if a range of addresses ended before the chain does, the
// engine would compare each row with the end, and take half as long again.
type AddressHalf struct {
	low, end    []byte // from low on, before end
	scan, order string // the range and the order as SQL, with the middle as ?2
}

var (
	middle = append([]byte{0x80}, make([]byte, common.AddressLength-1)...)
	halves = [...]AddressHalf{
		{[]byte{}, middle, "address < ?2", "DESC"},
		{middle, bytes.Repeat([]byte{0xff}, common.AddressLength+1), "address >= ?2", "ASC"},
	}
)

// InHalves reads something from all accounts, both halves concurrently, and returns the results in the order of the addresses.
func InHalves[T any](ctx context.Context, read func(context.Context, AddressHalf) (T, error)) ([]T, error) {
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

// ModifiedAccounts lists the accounts of one half that exist after a block and differ from their state after an earlier block. It reads all
// rows of these accounts.
func (db *DB) ModifiedAccounts(ctx context.Context, chain int, half AddressHalf, before, after uint64) ([][]byte, error) {
	return List[[]byte](ctx, db, `
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

// GoneAccounts returns the concatenated addresses of the chain's accounts that were ever deleted, including recreated ones.
func (db *DB) GoneAccounts(ctx context.Context, chain int) (all []byte, err error) {
	err = each(ctx, db, func(address *[]byte) { all = append(all, *address...) },
		`SELECT address FROM account WHERE chain = ? AND gone = 1 GROUP BY address ORDER BY address`, chain)
	return all, err
}

// AccountBalance is an account's balance of its chain's native token after a block.
type AccountBalance struct {
	Address []byte `db:"address"`
	Block   uint64 `db:"block"`
	Balance Word   `db:"balance"` // wei, 32 bytes
}

// EachBalance visits the account balances of a chain in the rows from a block to another, for one half, grouped by account. It reads all
// rows of these accounts.
func (db *DB) EachBalance(ctx context.Context, chain int, half AddressHalf, first, last uint64, visit func(*AccountBalance)) error {
	return each(ctx, db, visit, `SELECT address, block, balance FROM account
		WHERE chain = ?1 AND `+half.scan+` AND block BETWEEN ?3 AND ?4 ORDER BY address `+half.order+`, block `+half.order, chain, middle, first, last)
}

var errAccounts = errors.New("malformed list of accounts")

// EachBalanceBefore visits the account balances of one half before a block, in descending order of addresses. One seek finds the next
// account with its balance: reading all rows takes twice as long.
func (db *DB) EachBalanceBefore(ctx context.Context, chain int, half AddressHalf, block uint64, visit func(*AccountBalance)) error {
	const size = common.AddressLength
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var last []byte
	var damage error
	err := each(ctx, db, func(found *[]byte) {
		row, account := *found, AccountBalance{Block: block - 1}
		if len(row) < size || last != nil && bytes.Compare(row[:size], last) >= 0 || account.Balance.Scan(row[size:]) != nil {
			damage = errAccounts
			stop() // otherwise it might never end
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

// SlotsAt reads every slot of a contract after a block, by key.
func (db *DB) SlotsAt(ctx context.Context, chain int, address []byte, block uint64) ([]Slot, error) {
	return List[Slot](ctx, db, `SELECT chain, address, key, max(block) AS block, value FROM slot
		WHERE chain = ? AND address = ? AND block <= ? GROUP BY key ORDER BY key`, chain, address, block)
}

// SlotValue is a value that a contract's slot had from some block on.
type SlotValue struct {
	Key   []byte `db:"key"`
	Value []byte `db:"value"` // as in Slot
}

// SlotValues reads at most limit values of a contract's slots up to a block: by key, each slot's oldest first.
func (db *DB) SlotValues(ctx context.Context, chain int, address []byte, block uint64, limit int) ([]SlotValue, error) {
	return List[SlotValue](ctx, db, `SELECT key, value FROM slot
		WHERE chain = ? AND address = ? AND block <= ? ORDER BY key, block LIMIT ?`, chain, address, block, limit)
}

// Code reads code by its hash.
func (db *DB) Code(ctx context.Context, hash []byte) ([]byte, error) {
	return value[[]byte](ctx, db, `SELECT code FROM code WHERE hash = ?`, hash)
}

var (
	intoAccount = bulk.NewTable("account", accountColumns, true)
	intoSlot    = bulk.NewTable("slot", slotColumns, true)
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
	return List[Code](ctx, db, `SELECT hash, code FROM code ORDER BY hash`)
}

// The kinds of a StateChange, with the format of its value: an amount of wei in 32 bytes, a nonce in 8, raw code, or a slot's 32 bytes.
const (
	BalanceChange = "balance"
	NonceChange   = "nonce"
	CodeChange    = "code"
	StorageChange = "storage"
)

// StateChange is a change of an EVM chain's state that a client made without a transaction.
type StateChange struct {
	Chain    int    `db:"chain"`
	Block    uint64 `db:"block"`    // after which it was made
	Sequence int    `db:"sequence"` // numbers the changes after the block
	Kind     string `db:"kind"`
	Address  []byte `db:"address"`
	Key      []byte `db:"key"`    // the slot of a StorageChange, else nil
	Value    []byte `db:"value"`  // the new value
	Owner    []byte `db:"owner"`  // the account whose token balance is in the slot, nil if unknown
	Root     []byte `db:"root"`   // of the state afterwards
	Digest   []byte `db:"digest"` // over the chain's digest before it and the rest of the row
}

// StateDelta holds everything that a state change adds to the world. Its rows belong to the block after which it was made, and replace the
// block's own.
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

// StateChanges reads the chain's state changes after the blocks from first to last, in order.
func (db *DB) StateChanges(ctx context.Context, chain int, first, last uint64) ([]StateChange, error) {
	return List[StateChange](ctx, db, `SELECT `+stateChangeColumns+` FROM state_change
		WHERE chain = ? AND block BETWEEN ? AND ? ORDER BY chain, block, sequence`, chain, first, min(last, MaxNumber))
}

// LastStateChange reads a chain's last state change after a block and before the next, nil if there is none.
func (db *DB) LastStateChange(ctx context.Context, chain int, block uint64) (*StateChange, error) {
	return orNone(Get[StateChange](ctx, db, `SELECT `+stateChangeColumns+` FROM state_change
		WHERE chain = ? AND block = ? ORDER BY sequence DESC LIMIT 1`, chain, block))
}

// HeadDigest returns a chain's latest digest, given its newest block.
func (db *DB) HeadDigest(ctx context.Context, head *Block) ([]byte, error) {
	last, err := db.LastStateChange(ctx, head.ID.Chain(), head.ID.Number())
	if last == nil || err != nil {
		return head.Digest, err
	}
	return last.Digest, nil
}

// NoncesSet reports whether any nonce of a chain was changed without a transaction.
func (db *DB) NoncesSet(ctx context.Context, chain int) (bool, error) {
	_, err := value[int](ctx, db, `SELECT sequence FROM state_change WHERE chain = ? AND kind = '`+NonceChange+`' LIMIT 1`, chain)
	return Found(err)
}

// AddStateChange writes a change, and replaces the rows of its block that it changed.
func (b *Batch) AddStateChange(d *StateDelta) error {
	c := &d.Change
	err := b.exec(`INSERT INTO state_change (`+stateChangeColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.Chain, c.Block, c.Sequence, c.Kind, c.Address, c.Key, c.Value, c.Owner, c.Root, c.Digest)
	if err != nil {
		return err
	}
	return inTurn(
		adding(d.Accounts, func(a *Account) error {
			return errors.Join(b.exec(`DELETE FROM account WHERE chain = ? AND address = ? AND block = ?`, a.Chain, a.Address, a.Block), b.addAccount(a))
		}),
		adding(d.Slots, func(s *Slot) error {
			return errors.Join(b.exec(`DELETE FROM slot WHERE chain = ? AND address = ? AND key = ? AND block = ?`, s.Chain, s.Address, s.Key, s.Block), b.addSlot(s))
		}),
		adding(d.Codes, b.addCode),
		func() error { return b.AddTrieChanges(c.Chain, d.Tries) },
		adding(d.Tokens, func(t *Token) error {
			return errors.Join(b.exec(`DELETE FROM token WHERE id = ?`, t.ID), b.addToken(t))
		}),
		adding(d.TokenBalances, func(h *TokenBalance) error {
			return errors.Join(b.exec(`DELETE FROM holding WHERE owner = ? AND asset = ? AND block = ?`, h.Owner, []byte(h.Asset), h.Block), b.addTokenBalance(h))
		}),
		adding(d.NFTStates, func(i *NFTState) error {
			return errors.Join(b.exec(`DELETE FROM nft WHERE asset = ? AND block = ?`, []byte(i.Asset), i.Block), b.addNFTState(i))
		}),
	)
}
