package store

import (
	"context"
	"errors"
)

// BlockOverride is what a block of an EVM chain has otherwise than the network's rules make it, because a client asked for it.
type BlockOverride struct {
	ID       Position `db:"id"`        // of the block
	Early    bool     `db:"early"`     // it may follow its parent sooner than the network allows
	BaseFee  []byte   `db:"base_fee"`  // wei, 32 bytes; nil for that of the rules
	GasLimit *Amount  `db:"gas_limit"` // nil for that of the rules
	Coinbase []byte   `db:"coinbase"`  // nil for that of the rules
}

const blockOverrideColumns = `id, early, base_fee, gas_limit, coinbase`

// BlockOverride reads that of a block, nil when there is none.
func (db *DB) BlockOverride(ctx context.Context, block Position) (*BlockOverride, error) {
	o, err := get[BlockOverride](ctx, db, `SELECT `+blockOverrideColumns+` FROM block_override WHERE id = ?`, block)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return o, err
}

// BlockOverridesBetween reads those of the blocks from one position to another, in order.
func (db *DB) BlockOverridesBetween(ctx context.Context, low, high Position) ([]BlockOverride, error) {
	return list[BlockOverride](ctx, db, `SELECT `+blockOverrideColumns+` FROM block_override WHERE id BETWEEN ? AND ? ORDER BY id`, low, high)
}

func (b *Batch) addBlockOverride(o *BlockOverride) error {
	if o == nil {
		return nil
	}
	return b.exec(`INSERT INTO block_override (`+blockOverrideColumns+`) VALUES (?, ?, ?, ?, ?)`, o.ID, o.Early, o.BaseFee, o.GasLimit, o.Coinbase)
}
