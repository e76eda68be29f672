package store

import (
	"context"
	"database/sql"
)

// PrimaryBlock is a block of a P- or X-chain.
type PrimaryBlock struct {
	ID          Position
	Hash        []byte
	Parent      []byte
	Time        int64
	Type        string // Genesis, Standard, Proposal, Commit or Abort
	Txs         int
	AllTxs      int64  // transactions of the chain up to and with this block
	Size        int    // of the bytes
	Head        []byte // the bytes before the first transaction
	OuterID     []byte // of the ProposerVM block around it, nil for a genesis
	OuterParent []byte
	Proposer    []byte // node id, nil for options and a genesis
	PHeight     uint64 // height of the P-chain that the proposer saw
	Epoch       uint64 // number of the P-chain epoch
	EpochHeight uint64 // P-chain height that holds for the epoch
	EpochStart  uint64
	Supply      Amount // the following are 0 on the X-chain
	Accrued     Amount
	L1Excess    uint64
	L1Active    uint64
	GasCapacity uint64
	GasExcess   uint64
	Digest      []byte // over the parent's digest and everything above
}

const primaryBlockColumns = `id, hash, parent, time, type, txs, all_txs, size, head, outer_id, outer_parent, proposer, p_height,
	epoch, epoch_height, epoch_start, supply, accrued, l1_excess, l1_active, gas_capacity, gas_excess, digest`

func (b *PrimaryBlock) fields() []any {
	return []any{&b.ID, &b.Hash, &b.Parent, &b.Time, &b.Type, &b.Txs, &b.AllTxs, &b.Size, &b.Head, &b.OuterID, &b.OuterParent,
		&b.Proposer, &b.PHeight, &b.Epoch, &b.EpochHeight, &b.EpochStart, &b.Supply, &b.Accrued, &b.L1Excess, &b.L1Active, &b.GasCapacity, &b.GasExcess, &b.Digest}
}

func scanPrimaryBlock(r *sql.Rows, b *PrimaryBlock) error { return r.Scan(b.fields()...) }

// PrimaryBlock reads the block of a primary chain at a height.
func (db *DB) PrimaryBlock(ctx context.Context, chain int, height uint64) (*PrimaryBlock, error) {
	if height > MaxNumber {
		return nil, ErrNotFound
	}
	var b PrimaryBlock
	err := db.one(ctx, `SELECT `+primaryBlockColumns+` FROM primary_block WHERE id = ?`, []any{At(chain, height, 0)}, b.fields()...)
	return &b, err
}

// PrimaryBlockByHash reads the block of a primary chain with this id.
func (db *DB) PrimaryBlockByHash(ctx context.Context, chain int, hash []byte) (*PrimaryBlock, error) {
	var b PrimaryBlock
	err := db.one(ctx, `SELECT `+primaryBlockColumns+` FROM primary_block WHERE hash = ? AND id BETWEEN ? AND ?`,
		[]any{hash, First(chain), Last(chain)}, b.fields()...)
	return &b, err
}

// PrimaryHead reads the newest block of a primary chain.
func (db *DB) PrimaryHead(ctx context.Context, chain int) (*PrimaryBlock, error) {
	var b PrimaryBlock
	err := db.one(ctx, `SELECT `+primaryBlockColumns+` FROM primary_block WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1`,
		[]any{First(chain), Last(chain)}, b.fields()...)
	return &b, err
}

// PrimaryBlocks reads the blocks of a primary chain with heights from first to last, ascending.
func (db *DB) PrimaryBlocks(ctx context.Context, chain int, first, last uint64) ([]PrimaryBlock, error) {
	return many(ctx, db, `SELECT `+primaryBlockColumns+` FROM primary_block WHERE id BETWEEN ? AND ? ORDER BY id`,
		[]any{At(chain, first, 0), At(chain, min(last, MaxNumber), 0)}, scanPrimaryBlock)
}

// versionBytes is the codec's version, which stands before a transaction on its own but not in a block.
const versionBytes = 2

// Bytes puts a block together from its head and its transactions. Those of a genesis are not in its bytes.
func (b *PrimaryBlock) Bytes(txs []PrimaryTx) []byte {
	raw := append(make([]byte, 0, b.Size), b.Head...)
	if b.ID.Number() == 0 {
		return raw
	}
	for i := range txs {
		raw = append(raw, txs[i].Bytes[min(versionBytes, len(txs[i].Bytes)):]...)
	}
	return raw
}

// SplitBlock is the head of a block with these bytes and transactions.
func SplitBlock(raw []byte, txs []PrimaryTx) []byte {
	length := len(raw)
	for i := range txs {
		length -= len(txs[i].Bytes) - versionBytes
	}
	return raw[:max(length, 0)]
}

func (b *Batch) addPrimaryBlock(r *PrimaryBlock) error {
	return b.exec(`INSERT INTO primary_block (`+primaryBlockColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.ID, r.Hash, r.Parent, r.Time, r.Type, r.Txs, r.AllTxs, r.Size, r.Head, r.OuterID, r.OuterParent, r.Proposer, r.PHeight,
		r.Epoch, r.EpochHeight, r.EpochStart, r.Supply, r.Accrued, r.L1Excess, r.L1Active, r.GasCapacity, r.GasExcess, r.Digest)
}
