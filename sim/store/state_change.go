package store

import (
	"context"
	"errors"
)

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
		SELECT asset, block, owner, uri FROM nft n WHERE asset >= ?1 AND asset < ?2
			AND block = (SELECT max(block) FROM nft WHERE asset = n.asset AND block <= ?3)
		ORDER BY asset LIMIT 0 + ?4`, []byte(first), []byte(end), block, limit)
}

// assets are where the assets of a token begin and end.
func (id TokenID) assets() (first, end AssetKey) {
	return id.Asset(nil)[:assetToken], (id + 1).Asset(nil)[:assetToken]
}
