package store

import (
	"cmp"
	"context"
	"sort"

	"snowglobe/sim/store/bulk"
)

// Block is a block of an EVM chain.
type Block struct {
	ID      Position `db:"id"`
	Hash    []byte   `db:"hash"` // Keccak-256 of Header
	Time    int64    `db:"time"` // Unix seconds
	Txs     int      `db:"txs"`
	AllTxs  int64    `db:"all_txs"` // transactions of the chain up to and with this block
	GasUsed uint64   `db:"gas_used"`
	Fees    Word     `db:"fees"`     // wei, 32 bytes
	Header  Packed   `db:"header"`   // RLP
	ExtData []byte   `db:"ext_data"` // C-Chain atomic transactions, nil when there are none

	// The results of a C-Chain's execution since Helicon, whose header has those of earlier blocks; nil otherwise. RLP.
	Execution []byte `db:"execution"`

	Digest []byte `db:"digest"` // over the parent's digest and everything the block added
}

const blockColumns = `id, hash, time, txs, all_txs, gas_used, fees, header, ext_data, execution, digest`

// Block reads one block.
func (db *DB) Block(ctx context.Context, chain int, number uint64) (*Block, error) {
	if number > MaxNumber {
		return nil, ErrNotFound
	}
	return Get[Block](ctx, db, `SELECT `+blockColumns+` FROM block WHERE id = ?`, At(chain, number, 0))
}

// BlockByHash reads the block of a chain with this hash.
func (db *DB) BlockByHash(ctx context.Context, chain int, hash []byte) (*Block, error) {
	return Get[Block](ctx, db, `SELECT `+blockColumns+` FROM block WHERE substr(hash, 1, 6) = substr(?1, 1, 6) AND hash = ?1 AND id BETWEEN ?2 AND ?3`, hash, First(chain), Last(chain))
}

// Head reads a chain's newest block.
func (db *DB) Head(ctx context.Context, chain int) (*Block, error) {
	return Get[Block](ctx, db, `SELECT `+blockColumns+` FROM block WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1`,
		First(chain), Last(chain))
}

// Blocks reads the blocks with numbers from first to last, ascending.
func (db *DB) Blocks(ctx context.Context, chain int, first, last uint64) ([]Block, error) {
	return List[Block](ctx, db, `SELECT `+blockColumns+` FROM block WHERE id BETWEEN ? AND ? ORDER BY id`,
		At(chain, first, 0), At(chain, min(last, MaxNumber), 0))
}

// FirstSince returns the number of a chain's first block at or after a time, in Unix seconds; head + 1 if there is none.
func (db *DB) FirstSince(ctx context.Context, chain int, time int64) (uint64, error) {
	head, err := db.Head(ctx, chain)
	if err != nil {
		return 0, err
	}
	return FirstSince(head.ID.Number(), time, func(n uint64) (int64, error) { return db.BlockTime(ctx, At(chain, n, 0)) })
}

// FirstSince returns the height of the first block at or after a time, in Unix seconds, of those up to a head; head + 1 if there is none.
// Block times never decrease.
func FirstSince(head uint64, time int64, timeOf func(height uint64) (int64, error)) (uint64, error) {
	return Search(0, head+1, func(height uint64) (bool, error) {
		at, err := timeOf(height)
		return at >= time, err
	})
}

// Search is sort.Search from one number on, and up to another, for a condition that may fail.
func Search(first, end uint64, holds func(uint64) (bool, error)) (uint64, error) {
	var failed error
	n := sort.Search(int(end-first), func(i int) bool {
		found, err := holds(first + uint64(i))
		failed = cmp.Or(failed, err)
		return found || failed != nil
	})
	return first + uint64(n), failed
}

var intoBlock = bulk.NewTable("block", blockColumns, false)

func (b *Batch) addBlock(r *Block) error {
	return b.insert(intoBlock, r.ID, r.Hash, r.Time, r.Txs, r.AllTxs, r.GasUsed, r.Fees, r.Header, r.ExtData, r.Execution, r.Digest)
}

// BlocksDown reads at most limit blocks from one position down to another.
func (db *DB) BlocksDown(ctx context.Context, high, low Position, limit int) ([]Block, error) {
	return List[Block](ctx, db, `SELECT `+blockColumns+` FROM block WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 0 + ?`,
		low, high, limit)
}

// BlockIDs finds what BlocksDown reads.
func (db *DB) BlockIDs(ctx context.Context, high, low Position, limit int) ([]Position, error) {
	return db.ids(ctx, `SELECT id FROM block WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 0 + ?`, low, high, limit)
}

// BlockTime returns the time of the EVM block at a position.
func (db *DB) BlockTime(ctx context.Context, at Position) (time int64, err error) {
	return value[int64](ctx, db, `SELECT time FROM block WHERE id = ?`, at)
}

// AtomicBlocks reads the blocks of an EVM chain that hold atomic transactions, ascending.
func (db *DB) AtomicBlocks(ctx context.Context, chain int) ([]Block, error) {
	return List[Block](ctx, db, `SELECT `+blockColumns+` FROM block WHERE ext_data IS NOT NULL AND id BETWEEN ? AND ? ORDER BY id`,
		First(chain), Last(chain))
}

// BlockOverride records where an EVM block departs from the network's rules because a client asked for it.
type BlockOverride struct {
	ID       Position `db:"id"`        // of the block
	Early    bool     `db:"early"`     // it may follow its parent sooner than the network allows
	BaseFee  []byte   `db:"base_fee"`  // wei, 32 bytes; nil for that of the rules
	GasLimit *Amount  `db:"gas_limit"` // nil for that of the rules
	Coinbase []byte   `db:"coinbase"`  // nil for that of the rules

	SettlesAfter *int64 `db:"settles_after"` // milliseconds from the execution of a block until this one may settle it; nil for those of the rules
}

const blockOverrideColumns = `id, early, base_fee, gas_limit, coinbase, settles_after`

// BlockOverride reads the override of a block, nil if there is none.
func (db *DB) BlockOverride(ctx context.Context, block Position) (*BlockOverride, error) {
	return orNone(Get[BlockOverride](ctx, db, `SELECT `+blockOverrideColumns+` FROM block_override WHERE id = ?`, block))
}

// BlockOverridesBetween reads the overrides of the blocks from one position to another, in order.
func (db *DB) BlockOverridesBetween(ctx context.Context, low, high Position) ([]BlockOverride, error) {
	return List[BlockOverride](ctx, db, `SELECT `+blockOverrideColumns+` FROM block_override WHERE id BETWEEN ? AND ? ORDER BY id`, low, high)
}

func (b *Batch) addBlockOverride(o *BlockOverride) error {
	if o == nil {
		return nil
	}
	return b.exec(`INSERT INTO block_override (`+blockOverrideColumns+`) VALUES (?, ?, ?, ?, ?, ?)`, o.ID, o.Early, o.BaseFee, o.GasLimit, o.Coinbase, o.SettlesAfter)
}

// Position orders everything on EVM chains: by chain, then block number, then index in the block. It is the primary key
// of blocks (index 0), transactions, logs and calls, and so the cursor of a page.
type Position int64

const (
	indexBits  = 16
	numberBits = 36
	// MaxIndex is the largest index of a transaction, log or call in one block.
	MaxIndex = 1<<indexBits - 1
	// MaxNumber is the largest block number.
	MaxNumber = 1<<numberBits - 1
)

// At returns the position of an index in a block of a chain.
func At(chain int, number uint64, index int) Position {
	return Position(int64(chain)<<(numberBits+indexBits) | int64(number)<<indexBits | int64(index))
}

// Chain returns the row id of the chain.
func (p Position) Chain() int { return int(p >> (numberBits + indexBits)) }

// Number returns the block number.
func (p Position) Number() uint64 { return uint64(p>>indexBits) & MaxNumber }

// Index returns the index in the block.
func (p Position) Index() int { return int(p & MaxIndex) }

// Block returns the position of the block that contains p.
func (p Position) Block() Position { return p &^ MaxIndex }

// End returns the last position in the block that contains p.
func (p Position) End() Position { return p | MaxIndex }

// First returns the lowest position on a chain.
func First(chain int) Position { return At(chain, 0, 0) }

// Last returns the highest position on a chain.
func Last(chain int) Position { return At(chain, MaxNumber, MaxIndex) }
